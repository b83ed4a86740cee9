import {
  FAILURE_REASONS,
  type Fact,
  type FactGroup,
  type FactGroups,
  type Failure,
  type FailureReason,
} from '../domain/facts.ts';
import { ofNow } from '../domain/freshness/future.ts';
import { CONFIRMING_READINGS, nextReading } from '../domain/plausibility/suspect.ts';
import type { Clock } from '../shared/clock.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { ChainId } from '../shared/ids.ts';
import { observedAt } from '../shared/observed.ts';
import { inTurns } from '../shared/turns.ts';
import type { Publication, SnapshotReader, SnapshotWriter } from '../snapshot/types.ts';
import type { RunReport } from './types.ts';

export type Snapshot = Pick<SnapshotReader, 'facts'> & SnapshotWriter;

/** Answer of a source. Each requested key is in one of the two maps; a key in neither counts as missing. */
export interface RefreshAnswer<T> {
  readonly values: ReadonlyMap<string, T>;
  readonly failures: ReadonlyMap<string, FailureReason>;
  /** Measurement time of the values, ms, if it is not the time of the request (e.g. a block's time). */
  readonly asOfMs?: number | undefined;
  /** Measurement times of single values, ms, by the source; absent for a key: `asOfMs`. */
  readonly measuredMs?: ReadonlyMap<string, number> | undefined;
  /** Source of single values, if it is not the primary source. */
  readonly sourceOf?: ((key: string) => string) | undefined;
  /** Values that are not published before they are confirmed, each as one number. */
  readonly doubted?: ReadonlyMap<string, Decimal> | undefined;
}

/**
 * When to reject an answer in which every value is empty, because a provider that lost its data looks the same. It is accepted
 * once no last-good value should still hold.
 */
export interface EmptinessRule<T> {
  isEmpty(value: T): boolean;
  /** Whether there should still be a value by the last-good one. */
  isStillValid(lastGood: T, nowMs: number): boolean;
}

export interface RefreshPlan<G extends FactGroup> {
  readonly chainId: ChainId;
  readonly group: G;
  readonly keys: readonly string[];
  readonly source: string;
  readonly ask: () => Promise<RefreshAnswer<FactGroups[G]>>;
  readonly signal: AbortSignal;
  readonly emptiness?: EmptinessRule<FactGroups[G]> | undefined;
  /** Cadence of the refreshes, s: an undated value that is read again earlier is no further observation. */
  readonly everySec: number;
  /** Return the received value as one number if it must not be published before it is confirmed. */
  readonly doubt?:
    | ((fresh: FactGroups[G], lastGood: FactGroups[G] | undefined, key: string) => Decimal | undefined)
    | undefined;
  /** Combine a fresh value with the last-good one; absent: the fresh one replaces it. */
  readonly combine?:
    | ((fresh: FactGroups[G], lastGood: FactGroups[G] | undefined, key: string) => FactGroups[G])
    | undefined;
}

/** Result of a measurement: the publication, and either its report or the error of the source. */
export interface Measured<G extends FactGroup> {
  readonly publication: Publication<FactGroups[G]>;
  readonly outcome: { readonly report: RunReport } | { readonly error: unknown };
}

/**
 * Read some items of a group from a source and publish the result: values, and a failure for every key without one. When the
 * whole source fails, a failure is published for every key and the error is rethrown. An aborted run publishes nothing,
 * because an abort is not a failure of the source.
 */
export async function refreshGroup<G extends FactGroup>(
  deps: { readonly snapshot: Snapshot; readonly clock: Clock },
  plan: RefreshPlan<G>,
): Promise<RunReport> {
  const { publication, outcome } = await measureGroup(deps, plan);
  await deps.snapshot.publish(plan.chainId, plan.group, publication);
  return reportOrThrow(outcome);
}

/**
 * Return the report of a measurement.
 * @throws the error of the source
 */
export function reportOrThrow(outcome: Measured<FactGroup>['outcome']): RunReport {
  if ('error' in outcome) throw outcome.error;
  return outcome.report;
}

/**
 * The reading half of `refreshGroup`, for warmers that publish several groups at once.
 * @throws the signal's reason
 */
export async function measureGroup<G extends FactGroup>(
  deps: { readonly snapshot: Pick<SnapshotReader, 'facts'>; readonly clock: Clock },
  plan: RefreshPlan<G>,
): Promise<Measured<G>> {
  const { snapshot, clock } = deps;
  const { chainId, group, keys, source, signal } = plan;
  const attemptedAtMs = clock.now();
  const items = new Map<string, Fact<FactGroups[G]>>();
  const failures = new Map<string, Omit<Failure, 'sinceMs'>>();
  let answer: RefreshAnswer<FactGroups[G]>;
  try {
    answer = await plan.ask();
  } catch (error) {
    signal.throwIfAborted();
    const reason = reasonOf(error);
    for (const key of keys) failures.set(key, { reason, source });
    return { publication: { attemptedAtMs, items, failures, failed: true }, outcome: { error } };
  }
  signal.throwIfAborted();
  const state = snapshot.facts(chainId).groups[group];
  const lastGood = state.items as ReadonlyMap<string, Fact<FactGroups[G]>>;
  const distrusted = isDistrusted(plan, answer, lastGood, attemptedAtMs);
  const take = (key: string): void => {
    const value = answer.values.get(key);
    const itsSource = answer.sourceOf?.(key) ?? source;
    const asOfMs = observedAt(answer.measuredMs?.get(key) ?? answer.asOfMs ?? attemptedAtMs, clock.now());
    if (value === undefined || distrusted) {
      failures.set(key, { reason: answer.failures.get(key) ?? 'missing', source: itsSource });
    } else if (asOfMs === null) {
      failures.set(key, { reason: 'implausible', source: itsSource });
    } else {
      const known = lastGood.get(key);
      const before = known && ofNow(group, known, clock.now());
      const unconfirmed = answer.doubted?.get(key) ?? plan.doubt?.(value, before?.value, key);
      const measuredMs = answer.measuredMs?.get(key);
      const reading = unconfirmed && { value: unconfirmed, atMs: attemptedAtMs, measuredMs };
      const suspect = reading && nextReading(reading, state.failures.get(key)?.suspect, plan.everySec * 1_000);
      if (suspect && suspect.readings < CONFIRMING_READINGS) {
        failures.set(key, { reason: 'implausible', source: itsSource, suspect });
        return;
      }
      const combined = plan.combine?.(value, before?.value, key) ?? value;
      items.set(key, { value: combined, asOfMs, source: itsSource });
    }
  };
  for await (const key of inTurns(keys)) take(key);
  signal.throwIfAborted();
  return {
    publication: { attemptedAtMs, items, failures },
    outcome: { report: reportOf(items.size, [...failures.values()]) },
  };
}

export function reportOf(items: number, failures: readonly Pick<Failure, 'reason' | 'suspect'>[]): RunReport {
  // A value that has been confirmed often enough and is still not published is read at the usual cadence again.
  const isWaiting = ({ suspect }: (typeof failures)[number]) => suspect && suspect.readings < CONFIRMING_READINGS;
  // An undated value is a further observation only after a whole cadence: reading it earlier is of no use.
  const awaiting = failures.filter((failure) => isWaiting(failure) && failure.suspect?.measuredMs === undefined).length;
  const suspects = failures.filter(isWaiting).length - awaiting;
  const retryable = failures.filter((failure) => failure.reason !== 'not_configured').length - awaiting;
  return {
    items,
    failures: failures.length,
    retryable,
    suspects: suspects || undefined,
    awaiting: awaiting || undefined,
  };
}

export function sumReports(reports: readonly RunReport[]): RunReport {
  return reports.reduce(
    (sum, report) => ({
      items: sum.items + report.items,
      failures: sum.failures + report.failures,
      retryable: sum.retryable + report.retryable,
      suspects: (sum.suspects ?? 0) + (report.suspects ?? 0) || undefined,
      awaiting: (sum.awaiting ?? 0) + (report.awaiting ?? 0) || undefined,
    }),
    { items: 0, failures: 0, retryable: 0 } as RunReport,
  );
}

/** Return the reason of an adapter's error. Any other error is a fault of ours in reading the answer. */
export function reasonOf(error: unknown): FailureReason {
  const reason = typeof error === 'object' && error !== null && 'reason' in error ? error.reason : undefined;
  return FAILURE_REASONS.find((known) => known === reason) ?? 'malformed';
}

function isDistrusted<G extends FactGroup>(
  plan: RefreshPlan<G>,
  answer: RefreshAnswer<FactGroups[G]>,
  lastGood: ReadonlyMap<string, Fact<FactGroups[G]>>,
  nowMs: number,
): boolean {
  const { emptiness, keys } = plan;
  if (!emptiness || ![...answer.values.values()].every((value) => emptiness.isEmpty(value))) return false;
  return keys.some((key) => {
    const known = lastGood.get(key);
    return known !== undefined && emptiness.isStillValid(known.value, nowMs);
  });
}
