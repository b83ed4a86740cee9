import type { FailureReason } from './facts.ts';

/**
 * The meaning of an answer from outside, for providers and nodes alike. `answer`: a fact. `no_such_thing`: a fact as well, and only by
 * the codes that the source documents for it. `not_now`: the same request may pass later. `our_mistake`: key, parameters, path or
 * catalog are wrong; no caller of ours can correct that. `unreadable`: an answer that cannot be used.
 */
export type OutsideMeaning = 'answer' | 'no_such_thing' | 'not_now' | 'our_mistake' | 'unreadable';

const MEANINGS: Readonly<Record<FailureReason, Exclude<OutsideMeaning, 'answer'>>> = {
  unreachable: 'not_now',
  timeout: 'not_now',
  rate_limited: 'not_now',
  throttled: 'not_now',
  overloaded: 'not_now',
  price_moved: 'not_now',
  server_error: 'not_now',
  rejected: 'our_mistake',
  not_configured: 'our_mistake',
  malformed: 'unreadable',
  implausible: 'unreadable',
  missing: 'no_such_thing',
  reverted: 'no_such_thing',
};

/** Return what a failure means. */
export function meaningOf(reason: FailureReason): Exclude<OutsideMeaning, 'answer'> {
  return MEANINGS[reason];
}

/** Statuses that concern the sender or the moment: an answer with one of them says nothing about what was asked for. */
const NEVER_FACTS: readonly number[] = [401, 402, 403, 405, 407, 408, 429];

/** Whether an answer with this status can be a fact, by a code or words that its source documents. */
export function canBeFact(status: number): boolean {
  return status < 500 && !NEVER_FACTS.includes(status);
}

/**
 * Return the reason of a request that ended with an error status. Unless the source documents another meaning of it, a status
 * below 500 is our mistake, and never a fact about what was asked for.
 */
export function reasonOfStatus(status: number): FailureReason {
  if (status === 429) return 'rate_limited';
  if (status === 408) return 'timeout';
  return status >= 500 ? 'server_error' : 'rejected';
}
