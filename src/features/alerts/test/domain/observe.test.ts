import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../../../shared/decimal.ts';
import type { StrategyId } from '../../../../shared/ids.ts';
import { createAlertIndex, evaluateSubject } from '../../domain/index-by-subject.ts';
import { MAX_ATTEMPTS, pauseAfterAttempt } from '../../domain/retry.ts';
import { CONDITIONS_OF, defaultRearmAt, subjectKey } from '../../domain/rules.ts';
import { stepAlert } from '../../domain/step.ts';
import type {
  AlertRule,
  AlertState,
  AlertSubject,
  EvaluatedAlert,
  LeastValue,
  SubjectObservation,
} from '../../domain/types.ts';
import { ALERT_CONDITIONS } from '../../domain/types.ts';

const NOW_MS = Date.UTC(2026, 5, 10, 12);
const UNKNOWN: LeastValue = { least: null, complete: false };
const known = (value: number | string): LeastValue => ({ least: new Decimal(value), complete: true });
const SEEN: SubjectObservation = {
  observedMs: NOW_MS,
  headroomPct: UNKNOWN,
  apyPct: UNKNOWN,
  liquidityUsd: UNKNOWN,
  staleGroups: [],
  isPaused: false,
  exists: true,
  liquidations: undefined,
};
const NEW: AlertState = { status: 'unknown', value: null, observedMs: null, reported: null };
const strategy = (n: number): AlertSubject => ({
  kind: 'strategy',
  chainId: 1,
  strategyId: `0x${String(n).padStart(64, '0')}` as StrategyId,
});
const rule = (condition: AlertRule['condition'], threshold?: string, rearmAt = threshold): AlertRule => ({
  subject: strategy(1),
  condition,
  threshold: threshold === undefined ? null : new Decimal(threshold),
  rearmAt: rearmAt === undefined ? null : new Decimal(rearmAt),
});
/** Evaluate one after the other; returns the events and the last state. */
const follow = (one: AlertRule, observations: readonly Partial<SubjectObservation>[]) => {
  let state = NEW;
  const events = observations.map((part, i) => {
    const transition = stepAlert(one, state, { ...SEEN, observedMs: NOW_MS + i, ...part }, NOW_MS);
    state = transition?.state ?? state;
    return transition?.events[0]?.type ?? null;
  });
  return { events, state };
};

describe('stepAlert', () => {
  test('default: fires once below the threshold, and is over from rearmAt on', () => {
    const values = ['3', '2.5', '2.49', '1', '2.5', '2.99', '3', '2.4'];
    const { events, state } = follow(
      rule('headroom_below', '2.5', '3'),
      values.map((value) => ({ headroomPct: known(value) })),
    );
    expect(events).toEqual([null, null, 'fired', null, null, null, 'cleared', 'fired']);
    expect(state).toMatchObject({ status: 'firing', value: new Decimal('2.4') });
  });

  test('a condition that holds at the first evaluation fires', () => {
    expect(follow(rule('apy_below', '5'), [{ apyPct: known(-3) }]).events).toEqual(['fired']);
  });

  test('an unknown value neither fires nor clears', () => {
    const { events, state } = follow(rule('liquidity_below', '100'), [
      {},
      { liquidityUsd: known(50) },
      {},
      { liquidityUsd: { least: new Decimal(500), complete: false } },
    ]);
    expect(events).toEqual([null, 'fired', null, null]);
    expect(state.status).toBe('firing');
  });

  test('a known part below the threshold fires, although others are unknown', () => {
    const least = { least: new Decimal(1), complete: false };
    expect(follow(rule('headroom_below', '2'), [{ headroomPct: least }]).events).toEqual(['fired']);
  });

  test('without an open position a condition ends, is not cleared, and stays active', () => {
    const none = { least: null, complete: true };
    const measures = [1, null, null, 3, null, 1].map((n) => ({ headroomPct: n === null ? none : known(n) }));
    const { events, state } = follow(rule('headroom_below', '2', '2.5'), measures);
    expect(events).toEqual(['fired', 'ended', null, null, null, 'fired']);
    expect(state.status).toBe('firing');
    expect(follow(rule('headroom_below', '2'), [{ headroomPct: none }]).state).toMatchObject({
      status: 'not_applicable',
      value: null,
    });
  });

  test.each(ALERT_CONDITIONS)('%s of a position that does not exist is not applicable', (condition) => {
    const of = condition.endsWith('_below') ? rule(condition, '1') : rule(condition);
    const { events, state } = follow(of, [{ exists: false, staleGroups: ['price'], isPaused: true }]);
    expect([events, state.status]).toEqual([[null], 'not_applicable']);
  });

  test.each(['stale', 'paused'] as const)('%s follows its state', (condition) => {
    const of = (value: boolean) =>
      condition === 'stale' ? { staleGroups: value ? (['price'] as const) : [] } : { isPaused: value };
    const { events } = follow(rule(condition), [of(false), of(true), of(true), of(false), of(true)]);
    expect(events).toEqual([null, 'fired', null, 'cleared', 'fired']);
  });

  test('an unknown pause changes nothing', () => {
    expect(follow(rule('paused'), [{ isPaused: true }, { isPaused: undefined }]).events).toEqual(['fired', null]);
  });

  test('values that are older than those of the last change are not judged', () => {
    const state: AlertState = { status: 'firing', value: new Decimal(1), observedMs: NOW_MS, reported: null };
    const seen = { ...SEEN, apyPct: known(50) };
    const at = (observedMs: number, last = state) =>
      stepAlert(rule('apy_below', '5'), last, { ...seen, observedMs }, NOW_MS)?.events[0]?.type;
    expect(at(NOW_MS - 1)).toBeUndefined();
    expect(at(NOW_MS)).toBe('cleared');
    // A time from the future was written by a process with a wrong clock.
    expect(at(NOW_MS - 1, { ...state, observedMs: NOW_MS + 3_600_000 })).toBe('cleared');
  });

  test('property: an alert clears or ends before it fires again, and no event comes from unknown values', () => {
    const measure = fc.oneof(
      fc.constant(UNKNOWN),
      fc.constant<LeastValue>({ least: null, complete: true }),
      fc.integer({ min: -20, max: 20 }).map(known),
    );
    fc.assert(
      fc.property(fc.array(measure, { maxLength: 30 }), fc.integer({ min: 0, max: 5 }), (measures, distance) => {
        const { events } = follow(
          rule('apy_below', '0', String(distance)),
          measures.map((apyPct) => ({ apyPct })),
        );
        const sent = events.filter((event) => event !== null);
        for (const [i, event] of sent.entries()) expect(event === 'fired').toBe(i % 2 === 0);
        for (const [i, event] of events.entries()) {
          const { least, complete } = measures[i] ?? UNKNOWN;
          if (event === 'fired') expect(least?.lt(0)).toBe(true);
          if (event === 'cleared') expect(complete && least?.gte(distance)).toBe(true);
          if (event === 'ended') expect([least, complete]).toEqual([null, true]);
        }
      }),
    );
  });
});

describe('the index by subject', () => {
  const alertOf = (id: string, of: AlertRule, state = NEW): EvaluatedAlert => ({ id, rule: of, state });
  const subjects: readonly AlertSubject[] = [
    strategy(1),
    strategy(2),
    { kind: 'wallet', chainId: 1, wallet: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
    { kind: 'position', chainId: 1, wallet: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', positionIndex: 0 },
    { kind: 'wallet', chainId: 4663, wallet: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
  ];
  const anyAlert = fc.record({
    id: fc.integer({ min: 0, max: 15 }).map(String),
    subject: fc.constantFrom(...subjects),
    condition: fc.constantFrom(...ALERT_CONDITIONS),
    threshold: fc.integer({ min: 0, max: 10 }),
    status: fc.constantFrom('unknown', 'armed', 'firing'),
  });
  const anySeen = fc.record({ apy: fc.integer({ min: 0, max: 12 }), isStale: fc.boolean(), isPaused: fc.boolean() });

  test('property: gives the changes of evaluating each alert by itself, after any additions and removals', () => {
    const steps = fc.array(fc.record({ alert: anyAlert, remove: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, fc.array(anySeen, { minLength: subjects.length, maxLength: subjects.length }), (all, seen) => {
        const index = createAlertIndex<EvaluatedAlert>();
        const alerts = new Map<string, EvaluatedAlert>();
        for (const { alert, remove } of all) {
          const { id, subject, condition, threshold, status } = alert;
          const number = condition.endsWith('_below') ? new Decimal(threshold) : null;
          const of = { subject, condition, threshold: number, rearmAt: number };
          const state = { status, value: null, observedMs: null, reported: null } as AlertState;
          if (remove) {
            index.remove(id);
            alerts.delete(id);
          } else {
            index.put(alertOf(id, of, state));
            alerts.set(id, alertOf(id, of, state));
          }
        }
        const observe = (subject: AlertSubject): SubjectObservation => {
          const { apy, isStale, isPaused } = seen[
            subjects.findIndex((one) => subjectKey(one) === subjectKey(subject))
          ] ?? {
            apy: 0,
            isStale: false,
            isPaused: false,
          };
          const value = known(apy);
          const measures = { headroomPct: value, apyPct: value, liquidityUsd: value };
          const liquidations = {
            blockNumber: 1n,
            atMs: NOW_MS,
            events: [],
            history: 'whole' as const,
            emptied: Array.from({ length: apy }, (_, i) => i),
          };
          const staleGroups = isStale ? (['price'] as const) : [];
          return { ...SEEN, ...measures, staleGroups, isPaused, liquidations };
        };
        const naive = [...alerts.values()].flatMap((alert) => {
          const transition = stepAlert(alert.rule, alert.state, observe(alert.rule.subject), NOW_MS);
          return transition === null ? [] : [{ ...transition, alert }];
        });
        const indexed = [1, 4663].flatMap((chainId) =>
          [...index.subjects(chainId)].flatMap((entry) => evaluateSubject(entry, observe(entry.subject), NOW_MS)),
        );
        const byId = (a: { alert: EvaluatedAlert }, b: { alert: EvaluatedAlert }) => (a.alert.id < b.alert.id ? -1 : 1);
        expect(indexed.sort(byId)).toEqual(naive.sort(byId));
        expect(index.size).toBe(alerts.size);
      }),
    );
  });
});

describe('rules', () => {
  test('a strategy has no headroom and is not liquidated', () => {
    expect(CONDITIONS_OF.strategy).not.toContain('headroom_below');
    expect(CONDITIONS_OF.strategy).not.toContain('liquidated');
    expect(CONDITIONS_OF.wallet).toEqual(ALERT_CONDITIONS);
  });

  test('the distance to re-arm is half a point, or 5 % of a liquidity', () => {
    expect(defaultRearmAt('headroom_below', new Decimal(2)).toFixed()).toBe('2.5');
    expect(defaultRearmAt('apy_below', new Decimal(-1)).toFixed()).toBe('-0.5');
    expect(defaultRearmAt('liquidity_below', new Decimal(1_000)).toFixed()).toBe('1050');
  });
});

describe('pauseAfterAttempt', () => {
  test('default: doubles from ten seconds to an hour, for twelve attempts', () => {
    const pauses = Array.from({ length: MAX_ATTEMPTS }, (_, i) => pauseAfterAttempt(i + 1, 0.5));
    expect(pauses.map((ms) => ms && ms / 1_000)).toEqual([
      10,
      20,
      40,
      80,
      160,
      320,
      640,
      1_280,
      2_560,
      3_600,
      3_600,
      null,
    ]);
  });

  test('jitter is a tenth to either side', () => {
    expect(pauseAfterAttempt(1, 0)).toBe(9_000);
    expect(pauseAfterAttempt(1, 0.999_999_9)).toBe(11_000);
  });

  test.each([
    [60, 60_000],
    [5, 10_000],
    [999_999, 3_600_000],
  ])('a receiver that asks for %s s waits %s ms', (requestedSec, pauseMs) => {
    expect(pauseAfterAttempt(1, 0.5, requestedSec)).toBe(pauseMs);
  });
});
