import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';

/**
 * Wait for one step of a stop, at most for its time limit, so that a step that hangs does not prevent the others. Never
 * throws.
 */
export async function bounded(
  step: string,
  work: Promise<unknown>,
  limitMs: number,
  { timers, logger }: { readonly timers: Timers; readonly logger: Logger },
): Promise<void> {
  let handle: unknown;
  const late = new Promise<'late'>((resolve) => {
    handle = timers.setTimeout(() => resolve('late'), limitMs);
  });
  try {
    if ((await Promise.race([work, late])) === 'late') logger.warn({ step, limitMs }, 'stop goes on without waiting');
  } catch (error) {
    logger.warn({ step, err: error }, 'stop step failed');
  } finally {
    timers.clearTimeout(handle);
  }
}
