import type { Decimal } from '../../../shared/decimal.ts';
import { isFromFuture } from '../../../shared/observed.ts';
import { stepLiquidated } from './liquidations.ts';
import { measureOf } from './rules.ts';
import type {
  AlertRule,
  AlertState,
  AlertStatus,
  AlertTransition,
  SubjectObservation,
  TransitionEvent,
} from './types.ts';

/**
 * Evaluate one condition. Events come with changes only: `fired` when it begins to hold, `cleared` when the value has reached
 * `rearmAt` again, `ended` when a condition that was held has nothing left to hold on. An unknown value changes nothing. A
 * condition that holds at its first evaluation fires.
 * @returns `null` = nothing changes
 */
export function stepAlert(
  { condition, threshold, rearmAt }: AlertRule,
  state: AlertState,
  seen: SubjectObservation,
  nowMs: number,
): AlertTransition | null {
  const { observedMs } = seen;
  // Another process has judged newer values.
  if (state.observedMs !== null && state.observedMs > observedMs && !isFromFuture(state.observedMs, nowMs)) return null;
  const to = (status: AlertStatus, value: Decimal | null): AlertTransition | null => {
    if (status === state.status) return null;
    return {
      state: { ...state, status, value, observedMs, staleGroups: undefined },
      events: eventsBetween(state.status, status, value),
    };
  };
  if (!seen.exists) return to('not_applicable', null);
  if (condition === 'liquidated') return stepLiquidated(state, seen);
  if (condition === 'stale') return stepStale(state, seen);
  if (condition === 'paused') {
    return seen.isPaused === undefined ? null : to(seen.isPaused ? 'firing' : 'armed', null);
  }
  const measure = measureOf(condition)?.(seen);
  if (measure === undefined || threshold === null) return null;
  const { least, complete } = measure;
  // One known part below the threshold suffices, also when other parts are unknown.
  if (least?.lt(threshold)) return to('firing', least);
  if (!complete) return null;
  // A position that was closed or liquidated has not recovered.
  if (least === null) return to('not_applicable', null);
  // Between the threshold and `rearmAt` a fired condition stays as it is.
  if (state.status === 'firing' && least.lt(rearmAt ?? threshold)) return null;
  return to('armed', least);
}

/** Evaluate the condition `stale`: it fires once, and its groups are followed without further events. */
function stepStale(state: AlertState, { staleGroups: now, observedMs }: SubjectObservation): AlertTransition | null {
  const { staleGroups: before = [] } = state;
  const status = now.length > 0 ? 'firing' : 'armed';
  if (status === state.status && now.join() === before.join()) return null;
  const staleGroups = now.length > 0 ? now : undefined;
  if (status === state.status) return { state: { ...state, staleGroups }, events: [] };
  const events = eventsBetween(state.status, status, null);
  return { state: { ...state, status, value: null, observedMs, staleGroups }, events };
}

function eventsBetween(before: AlertStatus, status: AlertStatus, value: Decimal | null): readonly TransitionEvent[] {
  if (status === 'firing') return [{ type: 'fired', value }];
  if (before !== 'firing') return [];
  return [{ type: status === 'not_applicable' ? 'ended' : 'cleared', value }];
}
