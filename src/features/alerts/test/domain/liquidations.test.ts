import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stepAlert } from '../../domain/step.ts';
import type { AlertState, LiquidationEvent, SeenLiquidations } from '../../domain/types.ts';

const NOW_MS = Date.UTC(2026, 5, 10, 12);
const NEW: AlertState = { status: 'unknown', value: null, observedMs: null, reported: null };
const UNKNOWN = { least: null, complete: false };
const RULE = {
  subject: { kind: 'wallet', chainId: 1, wallet: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
  condition: 'liquidated',
  threshold: null,
  rearmAt: null,
} as const;

/** The transaction `tx` liquidates a position. */
const event = (positionIndex: number, block: number, tx = `${positionIndex}${block}`): LiquidationEvent => ({
  id: `${tx}-${positionIndex}`,
  positionIndex,
  strategyId: null,
  blockNumber: BigInt(block),
  atMs: NOW_MS,
  txHash: `0x${tx}`,
});
const seen = (block: number, part: Partial<SeenLiquidations> = {}): SeenLiquidations => ({
  blockNumber: BigInt(block),
  atMs: NOW_MS,
  events: [],
  history: 'whole',
  emptied: [],
  ...part,
});

/** Evaluate one observation after the other; returns the events of each as `position@block`, and the last state. */
function follow(observations: readonly (SeenLiquidations | undefined)[], from = NEW) {
  let state = from;
  const events = observations.map((liquidations) => {
    const observation = {
      observedMs: NOW_MS,
      exists: true,
      staleGroups: [],
      isPaused: false,
      liquidations,
      headroomPct: UNKNOWN,
      apyPct: UNKNOWN,
      liquidityUsd: UNKNOWN,
    };
    const transition = stepAlert(RULE, state, observation, NOW_MS);
    state = transition?.state ?? state;
    return (transition?.events ?? []).map(({ type, liquidation: one }) => {
      expect(type).toBe('fired');
      return `${one?.positionIndex}@${one?.blockNumber}${one?.txHash === null ? ' state' : ''}`;
    });
  });
  return { events, state };
}

describe('the condition liquidated', () => {
  test('default: a liquidation of a part fires, each further one by itself, and none twice', () => {
    const first = event(3, 110);
    const both = [first, event(3, 121), event(2, 122)];
    const { events, state } = follow([
      ...[seen(100), seen(110, { events: [first] }), seen(111, { events: [first] })],
      ...[undefined, seen(130, { events: both }), seen(131, { events: both })],
    ]);
    expect(events).toEqual([[], ['3@110'], [], [], ['3@121', '2@122'], []]);
    expect([state.status, state.value?.toNumber()]).toEqual(['firing', 3]);
  });

  test('events from before the first evaluation are not reported, also those that are read later', () => {
    const { events, state } = follow([seen(100, { events: [event(1, 90)] }), seen(101, { events: [event(1, 20)] })]);
    expect(events).toEqual([[], []]);
    expect([state.status, state.value?.toNumber()]).toEqual(['armed', 0]);
  });

  test('a position without collateral at the first evaluation fires once', () => {
    const late = { events: [event(1, 95)], emptied: [1] };
    const { events } = follow([seen(100, { emptied: [1] }), seen(100, { emptied: [1] }), seen(110, late)]);
    expect(events).toEqual([['1@100 state'], [], []]);
  });

  test('a reorganization: the same transaction in another block is not reported again, another one is', () => {
    const { events } = follow([
      seen(100),
      seen(120, { events: [event(3, 118, 'aa')] }),
      seen(117),
      seen(121, { events: [event(3, 119, 'aa')] }),
      seen(117),
      seen(122, { events: [event(2, 112, 'bb')] }),
      seen(123, { events: [event(2, 112, 'bb'), event(3, 118, 'cc')] }),
    ]);
    expect(events).toEqual([[], ['3@118'], [], [], [], ['2@112'], ['3@118']]);
  });

  test('a chain that begins anew: its liquidations fire', () => {
    const { events } = follow([seen(600), seen(40), seen(60, { events: [event(1, 50)] })]);
    expect(events).toEqual([[], [], ['1@50']]);
  });

  test('a position that was liquidated as a whole is closed or refilled, and another one is liquidated', () => {
    const first = event(3, 110);
    const { events } = follow([
      ...[seen(100), seen(110, { events: [first], emptied: [3] }), seen(120, { events: [first] })],
      seen(130, { events: [first, event(2, 125)], emptied: [2] }),
    ]);
    expect(events).toEqual([[], ['3@110'], [], ['2@125']]);
  });

  test.each(['behind', 'soon'] as const)('without events (%s) the loss of the whole collateral', (history) => {
    const events = [event(3, 105), event(3, 109)];
    const found = follow([
      ...[seen(100), seen(110, { history, emptied: [3] }), seen(111, { history, emptied: [3] })],
      ...[seen(112, { events, emptied: [3] }), seen(113, { events, emptied: [3] })],
    ]);
    // The liquidation reported from the state is the last of the events; the others are news.
    const expected = history === 'behind' ? [['3@110 state'], [], ['3@105'], []] : [[], [], ['3@105', '3@109'], []];
    expect(found.events).toEqual([[], ...expected]);
    expect(found.state.value?.toNumber()).toBe(2);
  });

  test('without events: refilled and emptied again before its event is known', () => {
    const one = { history: 'behind', emptied: [3] } as const;
    const { events } = follow([
      ...[seen(100), seen(110, one), seen(120, { history: 'behind' }), seen(130, { events: [event(3, 109)] })],
      seen(140, one),
    ]);
    expect(events).toEqual([[], ['3@110 state'], [], [], ['3@140 state']]);
  });

  test('an alert from before liquidations were remembered does not report again those that it counted', () => {
    const before: AlertState = { status: 'firing', value: null, observedMs: NOW_MS, reported: null };
    const { events } = follow([seen(100, { emptied: [1] }), seen(110, { events: [event(1, 105)] })], before);
    expect(events).toEqual([[], ['1@105']]);
  });

  test('property: every event is reported once, in any pieces, and a bounded number is remembered', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 150 }), { maxLength: 8 });
    fc.assert(
      fc.property(sizes, (pieces) => {
        const all: LiquidationEvent[] = [];
        const observations = [seen(0)];
        for (const size of pieces) {
          for (let n = 0; n < size; n += 1) all.push(event(n % 3, all.length + 1));
          observations.push(seen(all.length + 1, { events: [...all] }));
        }
        const { events, state } = follow(observations);
        expect(events.flat()).toEqual(all.map(({ positionIndex, blockNumber }) => `${positionIndex}@${blockNumber}`));
        expect(state.reported?.events.length).toBeLessThanOrEqual(200);
      }),
      { numRuns: 8 },
    );
  });
});
