import type { Timers } from './timers.ts';

/** Return whether work settles within a time. The work goes on after a timeout, so the caller has to handle its failure. */
export async function settlesWithin(work: Promise<unknown>, ms: number, timers: Timers): Promise<boolean> {
  let handle: unknown;
  const late = new Promise<false>((resolve) => {
    handle = timers.setTimeout(() => resolve(false), ms);
  });
  const settled = work.then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([settled, late]);
  timers.clearTimeout(handle);
  return inTime;
}
