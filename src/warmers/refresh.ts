import {
  FAILURE_REASONS,
  type Fact,
  type FactGroup,
  type FactGroups,
  type Failure,
  type FailureReason,
} from '../domain/facts.ts';
import { ofNow } from '../domain/freshness/future.ts';
import { CONFIRMING_READINGS, nextReading } from '../domain/plausibility/judge.ts';
import type { Clock } from '../shared/clock.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { ChainId } from '../shared/ids.ts';
import { observedAt } from '../shared/observed.ts';
import { inPages } from '../shared/pages.ts';
import type { Publication, SnapshotReader, SnapshotWriter } from '../snapshot/types.ts';
import type { RunReport } from './types.ts';

export type Snapshot = Pick<SnapshotReader, 'facts'> & SnapshotWriter;

/** What a source answered: each asked key in one of the two; one in neither counts as missing. */
export interface RefreshAnswer<T> {
  readonly values: ReadonlyMap<string, T>;
  readonly failures: ReadonlyMap<string, FailureReason>;
  /** When the values were measured, when that is not the time of asking (a block's time), ms. */
  readonly asOfMs?: number;
  /** When single values were measured, as their source tells, ms; absent for a key: as the others. */
  readonly measuredMs?: ReadonlyMap<string, number>;
  /** The source of single values, where it is not the one asked first. */
  readonly sourceOf?: (key: string) => string;
  /** Values that are not published before they are confirmed: what was told of each, in one number. */
  readonly doubted?: ReadonlyMap<string, Decimal>;
}

/**
 * When to distrust an answer in which every value is empty: a provider that lost its data looks exactly so. It is believed
 * once nothing of last-good should still hold.
 */
export interface EmptinessRule<T> {
  isEmpty(value: T): boolean;
  /** Whether a last-good value says that there should still be something. */
  stillHolds(lastGood: T, nowMs: number): boolean;
}

export interface RefreshPlan<G extends FactGroup> {
  readonly chainId: ChainId;
  readonly group: G;
  readonly keys: readonly string[];
  /** Public name of the source. */
  readonly source: string;
  readonly ask: () => Promise<RefreshAnswer<FactGroups[G]>>;
  readonly signal: AbortSignal;
  readonly emptiness?: EmptinessRule<FactGroups[G]>;
  /** Say what was told, in one number, of a value that is not published before it is confirmed. */
  readonly doubt?: (fresh: FactGroups[G], lastGood: FactGroups[G] | undefined, key: string) => Decimal | undefined;
  /** Combine a fresh value with the last-good one; absent: the fresh one replaces it. */
  readonly combine?: (fresh: FactGroups[G], lastGood: FactGroups[G] | undefined, key: string) => FactGroups[G];
}

/** What asking came to: the publication to make, and either its count or what the source threw. */
export interface Measured<G extends FactGroup> {
  readonly publication: Publication<FactGroups[G]>;
  readonly outcome: { readonly report: RunReport } | { readonly error: unknown };
}

/**
 * Ask a source for some items of a group and publish what came: values, and a failure for every asked key without one.
 * When the source as a whole fails, that is published for every key and the error thrown on. A run that was aborted
 * publishes nothing: being stopped is nobody's failure.
 */
export async function refreshGroup<G extends FactGroup>(
  deps: { readonly snapshot: Snapshot; readonly clock: Clock },
  plan: RefreshPlan<G>,
): Promise<RunReport> {
  const { publication, outcome } = await measureGroup(deps, plan);
  await deps.snapshot.publish(plan.chainId, plan.group, publication);
  return reportOrThrow(outcome);
}

/** Give the count of what was measured. @throws what the source threw */
export function reportOrThrow(outcome: Measured<FactGroup>['outcome']): RunReport {
  if ('error' in outcome) throw outcome.error;
  return outcome.report;
}

/** Judged in some milliseconds. */
const ITEMS_PER_PAGE = 200;

/** The asking half of `refreshGroup`, for whoever publishes several groups at once. @throws the signal's reason */
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
      const told = answer.doubted?.get(key) ?? plan.doubt?.(value, before?.value, key);
      const suspect = told && nextReading(told, state.failures.get(key)?.suspect);
      if (suspect && suspect.readings < CONFIRMING_READINGS) {
        failures.set(key, { reason: 'implausible', source: itsSource, suspect });
        return;
      }
      const combined = plan.combine?.(value, before?.value, key) ?? value;
      items.set(key, { value: combined, asOfMs, source: itsSource });
    }
  };
  for await (const page of inPages(keys, ITEMS_PER_PAGE)) page.forEach(take);
  signal.throwIfAborted();
  return {
    publication: { attemptedAtMs, items, failures },
    outcome: { report: reportOf(items.size, [...failures.values()]) },
  };
}

/** Count a run's outcome. */
export function reportOf(items: number, failures: readonly Pick<Failure, 'reason' | 'suspect'>[]): RunReport {
  const retryable = failures.filter((failure) => failure.reason !== 'not_configured').length;
  // One that was told often enough and is still not published waits for the usual round.
  const suspects = failures.filter(({ suspect }) => suspect && suspect.readings < CONFIRMING_READINGS).length;
  return { items, failures: failures.length, retryable, ...(suspects > 0 ? { suspects } : {}) };
}

/** Add up the reports of a run's parts. */
export function sumReports(reports: readonly RunReport[]): RunReport {
  return reports.reduce(
    (sum, report) => ({
      items: sum.items + report.items,
      failures: sum.failures + report.failures,
      retryable: sum.retryable + report.retryable,
      ...(sum.suspects || report.suspects ? { suspects: (sum.suspects ?? 0) + (report.suspects ?? 0) } : {}),
    }),
    { items: 0, failures: 0, retryable: 0 } as RunReport,
  );
}

/** Read the reason word of an adapter's error. Anything else is our own fault in reading the answer. */
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
    return known !== undefined && emptiness.stillHolds(known.value, nowMs);
  });
}
