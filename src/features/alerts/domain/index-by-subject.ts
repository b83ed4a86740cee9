import type { ChainId } from '../../../shared/ids.ts';
import { subjectKey } from './rules.ts';
import { stepAlert } from './step.ts';
import type { AlertState, AlertSubject, AlertTransition, EvaluatedAlert, SubjectObservation } from './types.ts';

/** All alerts on one subject. */
export interface SubjectAlerts<A extends EvaluatedAlert> {
  readonly subject: AlertSubject;
  readonly alerts: ReadonlyMap<string, A>;
}

/** Alerts by their subject, so that each subject is observed once per evaluation, however many conditions it has. */
export interface AlertIndex<A extends EvaluatedAlert> {
  readonly size: number;
  /** Add an alert, or replace the one with its id. */
  put(alert: A): void;
  remove(id: string): void;
  /** Subjects on a chain that have alerts. */
  subjects(chainId: ChainId): Iterable<SubjectAlerts<A>>;
}

interface Entry<A extends EvaluatedAlert> extends SubjectAlerts<A> {
  readonly alerts: Map<string, A>;
}

/** Create an empty index. */
export function createAlertIndex<A extends EvaluatedAlert>(): AlertIndex<A> {
  const chains = new Map<ChainId, Map<string, Entry<A>>>();
  const places = new Map<string, Entry<A>>();
  const remove = (id: string): void => {
    const entry = places.get(id);
    if (entry === undefined) return;
    places.delete(id);
    entry.alerts.delete(id);
    if (entry.alerts.size === 0) chains.get(entry.subject.chainId)?.delete(subjectKey(entry.subject));
  };
  return {
    get size() {
      return places.size;
    },
    put(alert) {
      remove(alert.id);
      const { subject } = alert.rule;
      const entries = chains.get(subject.chainId) ?? new Map<string, Entry<A>>();
      chains.set(subject.chainId, entries);
      const key = subjectKey(subject);
      const entry = entries.get(key) ?? { subject, alerts: new Map<string, A>() };
      entries.set(key, entry);
      entry.alerts.set(alert.id, alert);
      places.set(alert.id, entry);
    },
    remove,
    subjects: (chainId) => chains.get(chainId)?.values() ?? [],
  };
}

/** A change of one alert. */
export interface AlertChange<A extends EvaluatedAlert> extends AlertTransition {
  readonly alert: A;
}

/** The positions that have counted as loops of a vault, of all alerts on it. */
export function loopsBefore({ alerts }: SubjectAlerts<EvaluatedAlert>): ReadonlySet<number> {
  return new Set([...alerts.values()].flatMap(({ state }) => state.loops ?? []));
}

/** Evaluate every alert of a subject on one observation of it. */
export function evaluateSubject<A extends EvaluatedAlert>(
  { alerts }: SubjectAlerts<A>,
  seen: SubjectObservation,
  nowMs: number,
): AlertChange<A>[] {
  const changes: AlertChange<A>[] = [];
  for (const alert of alerts.values()) {
    const transition = withLoops(alert.state, stepAlert(alert.rule, alert.state, seen, nowMs), seen);
    if (transition !== null) changes.push({ state: transition.state, events: transition.events, alert });
  }
  return changes;
}

/** Remember the loops of a vault, which is no event. */
function withLoops(
  before: AlertState,
  transition: AlertTransition | null,
  { loops }: SubjectObservation,
): AlertTransition | null {
  if (loops === undefined || loops.join() === (before.loops ?? []).join()) return transition;
  const { state, events } = transition ?? { state: before, events: [] };
  return { state: { ...state, loops }, events };
}
