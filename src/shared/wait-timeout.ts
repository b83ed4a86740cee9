import type { Timers } from './timers.ts';

/** Tell whether work ends within a time, however it ends. The work goes on; whoever gives up on it has to catch its failure. */
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
