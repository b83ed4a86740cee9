import { UpstreamUnavailableError } from '../errors.ts';
import type { Timers } from '../timers.ts';

/** How long a reader waits for one reading of a chain or a provider: a wallet, a step of a build, a chart. */
export const READER_WAIT_MS = 5_000;
/** When a reader should try again after that. */
export const RETRY_AFTER_SEC = 5;

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

/**
 * Wait for a provider as long as a reader waits. The work goes on after that.
 * @throws UpstreamUnavailableError `timeout`, and any error of the work
 */
export async function answeredInTime<T>(provider: string, work: Promise<T>, timers: Timers): Promise<T> {
  if (await settlesWithin(work, READER_WAIT_MS, timers)) return work;
  throw new UpstreamUnavailableError(provider, 'timeout', { retryAfterSec: RETRY_AFTER_SEC });
}
