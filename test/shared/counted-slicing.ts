import type { Slicing } from '../../src/shared/slices.ts';

/** A slicing in which every step uses up its slice: what can pause does, and it is counted how often. */
export function countedSlicing(): Slicing & { readonly pauses: () => number } {
  let nowMs = 0;
  let pauses = 0;
  return {
    now: () => {
      nowMs += 1;
      return nowMs;
    },
    sliceMs: 1,
    pause: async () => {
      pauses += 1;
    },
    pauses: () => pauses,
  };
}
