import type { FailureReason, GroupState } from '../facts.ts';
import type { Gap, GapReason } from './types.ts';

/** Make a gap; `sinceMs` only when an attempt was made. */
export function gap(field: string, reason: GapReason, message: string, sinceMs?: number | null): Gap {
  return sinceMs === undefined || sinceMs === null ? { field, reason, message } : { field, reason, message, sinceMs };
}

/** Map the reason of a failed refresh without a last-good value to the reason of a gap. */
function gapReasonOf(reason: FailureReason): GapReason {
  if (reason === 'implausible') return 'IMPLAUSIBLE';
  return reason === 'not_configured' ? 'NOT_MEASURED' : 'SOURCE_FAILED';
}

const MESSAGES = {
  IMPLAUSIBLE: 'The value of its source was implausible and was rejected.',
  SOURCE_FAILED: 'Its source gave no usable answer, and there is no earlier value.',
  NOT_MEASURED: 'It was not measured yet.',
} as const;

/** Explain why a group has no item under `key`: by its recorded failure, otherwise as not measured. */
export function gapOfGroup(field: string, group: GroupState<unknown>, key: string): Gap {
  const failure = group.failures.get(key);
  if (!failure) return gap(field, 'NOT_MEASURED', MESSAGES.NOT_MEASURED, group.lastAttemptMs);
  if (failure.reason === 'not_configured') {
    return gap(field, 'NOT_MEASURED', 'No source is configured for it.', failure.sinceMs);
  }
  const reason = gapReasonOf(failure.reason);
  return gap(field, reason, reason === 'IMPLAUSIBLE' ? MESSAGES.IMPLAUSIBLE : MESSAGES.SOURCE_FAILED, failure.sinceMs);
}
