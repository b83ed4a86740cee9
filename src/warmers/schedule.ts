import { UpstreamUnavailableError } from '../shared/errors.ts';
import type { RunReport } from './types.ts';

export type RunOutcome =
  | { readonly report: RunReport; readonly error?: undefined }
  | { readonly report?: undefined; readonly error: unknown };

/** Part of a cadence by which a run may come early, never late: a budget as long as its cadence must hold. */
const JITTER = 0.1;
const BACKOFF_BASE_MS = 5_000;
/** A provider that is down is asked at least this often, however slow its cadence. */
const BACKOFF_MAX_MS = 15 * 60_000;
/** What a provider may ask us to wait at most, when the cadence is shorter. */
const RETRY_AFTER_MAX_MS = 60 * 60_000;
/** A value that waits to be confirmed by three readings is asked for this often, so that it is told within a minute. */
const SUSPECT_MS = 15_000;

/**
 * Decide when a warmer runs next, in ms. After a success: its cadence, up to a tenth earlier. After the nth failure in a
 * row: 5 s doubled each time and half of that jittered away, no later than the cadence, no sooner than the provider asked for.
 * A value that waits to be confirmed is asked for again within 15 s. A run that failed in part backs off up to its whole cadence, one that got nothing up to 15 minutes.
 */
export function delayAfter(everySec: number, failedInRow: number, outcome: RunOutcome, random: () => number): number {
  const cadenceMs = everySec * 1_000;
  if (failedInRow === 0) return cadenceMs * (1 - JITTER * random());
  const limitMs = outcome.report ? cadenceMs : Math.min(cadenceMs, BACKOFF_MAX_MS);
  const backoffMs = Math.min(BACKOFF_BASE_MS * 2 ** (failedInRow - 1), limitMs) * (1 - random() / 2);
  const { error, report } = outcome;
  if (report?.suspects) return Math.min(backoffMs, SUSPECT_MS * (1 - random() / 2), cadenceMs);
  const askedMs = error instanceof UpstreamUnavailableError ? (error.askedSec ?? 0) * 1_000 : 0;
  return Math.max(backoffMs, Math.min(askedMs, Math.max(cadenceMs, RETRY_AFTER_MAX_MS)));
}
