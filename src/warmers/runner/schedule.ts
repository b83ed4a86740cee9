import { UpstreamUnavailableError } from '../../shared/errors.ts';
import type { RunReport } from '../types.ts';

export type RunOutcome =
  | { readonly report: RunReport; readonly error?: undefined }
  | { readonly report?: undefined; readonly error: unknown };

/** Part of a cadence by which a run may come early, never late, so that a freshness budget of one cadence holds. */
const JITTER = 0.1;
const BACKOFF_BASE_MS = 5_000;
/** Maximum backoff for a provider that is down, even when its cadence is longer. */
const BACKOFF_MAX_MS = 15 * 60_000;
/** Maximum `Retry-After` that is honoured, unless the cadence is longer. */
const RETRY_AFTER_MAX_MS = 60 * 60_000;
/** Least interval between readings of an unconfirmed value that its source dates: a later date is a further observation. */
const SUSPECT_MS = 15_000;

/**
 * Compute the delay until a warmer's next run, in ms. After a success: its cadence, up to a tenth earlier. After the nth
 * failure in a row: 5 s doubled each time, with half of it jittered, at most the cadence and at least the `Retry-After`. An
 * unconfirmed value that its source dates is read again after 15 s, then at growing intervals; an undated one after the whole
 * cadence, because it is no further observation before. A run that failed in part backs off up to its whole cadence, a run without any
 * result up to 15 minutes. A run that the budget of a provider has ended goes on when that permits it.
 */
export function delayAfter(everySec: number, failedInRow: number, outcome: RunOutcome, random: () => number): number {
  const cadenceMs = everySec * 1_000;
  const { resumeSec } = outcome.report ?? {};
  if (resumeSec !== undefined) return Math.min(cadenceMs, resumeSec * 1_000 * (1 + random()));
  if (failedInRow === 0) return outcome.report?.awaiting ? cadenceMs : cadenceMs * (1 - JITTER * random());
  const limitMs = outcome.report ? cadenceMs : Math.min(cadenceMs, BACKOFF_MAX_MS);
  const backoffMs = Math.min(BACKOFF_BASE_MS * 2 ** (failedInRow - 1), limitMs) * (1 - random() / 2);
  const { error, report } = outcome;
  if (report?.suspects) return Math.min(Math.max(backoffMs, SUSPECT_MS * (1 - random() / 2)), cadenceMs);
  const requestedWaitMs = error instanceof UpstreamUnavailableError ? (error.requestedWaitSec ?? 0) * 1_000 : 0;
  return Math.max(backoffMs, Math.min(requestedWaitMs, Math.max(cadenceMs, RETRY_AFTER_MAX_MS)));
}
