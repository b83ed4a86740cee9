import type { Timers } from '../../src/shared/timers.ts';
import { type Check, type Line, linesOf } from './types.ts';

/**
 * Run checks concurrently, each with its own time limit. A check that throws or exceeds its limit becomes a line; the others
 * go on.
 * @returns the lines in the order of the checks
 */
export async function runChecks(checks: readonly Check[], timers: Timers): Promise<readonly Line[]> {
  const results = await Promise.all(checks.map((check) => runOne(check, timers)));
  return results.flat();
}

async function runOne({ area, subject, limitMs, run }: Check, timers: Timers): Promise<readonly Line[]> {
  const make = linesOf(area, subject);
  const controller = new AbortController();
  let timer: unknown;
  const late = new Promise<readonly Line[]>((resolve) => {
    timer = timers.setTimeout(() => {
      controller.abort(new DOMException('The check took too long.', 'TimeoutError'));
      resolve([
        make.failure(
          'time_limit',
          `no result within ${limitMs / 1_000} s`,
          'The checked part hangs, or is far slower than the timeouts of the service. Check it directly.',
        ),
      ]);
    }, limitMs);
  });
  const work = run(controller.signal).catch((error: unknown) => [
    make.failure('completed', `the check itself failed: ${nameOf(error)}`, 'Report this defect of the check.'),
  ]);
  try {
    return await Promise.race([work, late]);
  } finally {
    timers.clearTimeout(timer as never);
    controller.abort();
  }
}

/** Kind and text of an error, without its stack. */
function nameOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
