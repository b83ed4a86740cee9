import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  affordableSec,
  type BudgetRules,
  type BudgetState,
  forecasts,
  learn,
  spend,
  spentInDay,
  type Traffic,
  UNUSED,
  WINDOW_MS,
  WINDOW_NAMES,
} from '../../src/upstreams/budget.ts';
import { manyRuns } from '../support/property-runs.ts';

const DAY_MS = 86_400_000;
const NOW_MS = 1_795_176_000_000;

interface Sent {
  readonly atMs: number;
  readonly cost: number;
  readonly traffic: Traffic;
}

const traffics = fc.constantFrom<Traffic>('background', 'waiting', 'unlisted');
const rulesOf = fc.record({
  limits: fc.record(
    Object.fromEntries(WINDOW_NAMES.map((name) => [name, fc.integer({ min: 2, max: 400 })])) as Record<
      (typeof WINDOW_NAMES)[number],
      fc.Arbitrary<number>
    >,
    { requiredKeys: [] },
  ),
  shares: fc.record(
    {
      background: fc.double({ min: 0.05, max: 1, noNaN: true }),
      waiting: fc.double({ min: 0.05, max: 1, noNaN: true }),
      unlisted: fc.double({ min: 0.05, max: 1, noNaN: true }),
    },
    { requiredKeys: [] },
  ),
});
/** Requests with pauses from nothing to days. */
const requests = fc.array(
  fc.record({
    pauseMs: fc.oneof(fc.constant(0), fc.integer({ max: 20_000, min: 0 }), fc.integer({ max: 2 * DAY_MS, min: 0 })),
    cost: fc.constant(1),
    traffic: traffics,
  }),
  { minLength: 1, maxLength: 250 },
);

/** Send what is permitted. */
function run(rules: BudgetRules, wanted: readonly (Omit<Sent, 'atMs'> & { readonly pauseMs: number })[]) {
  const sent: Sent[] = [];
  let state: BudgetState = UNUSED;
  let nowMs = NOW_MS;
  for (const { pauseMs, ...spending } of wanted) {
    nowMs += pauseMs;
    const spent = spend(rules, state, spending, nowMs);
    if ('waitMs' in spent) continue;
    state = spent.state;
    sent.push({ ...spending, atMs: nowMs });
  }
  return { sent, state, nowMs };
}

function unitsIn(sent: readonly Sent[], endMs: number, windowMs: number): number {
  return sent.filter(({ atMs }) => atMs > endMs - windowMs && atMs <= endMs).reduce((sum, { cost }) => sum + cost, 0);
}

describe('spend', () => {
  it('behavior: no window ever contains more than its limit, and no kind more than its share', () => {
    fc.assert(
      fc.property(rulesOf, requests, (rules, wanted) => {
        const { sent } = run(rules, wanted);
        for (const name of WINDOW_NAMES) {
          const limit = rules.limits[name];
          if (limit === undefined) continue;
          for (const { atMs } of sent) {
            expect(unitsIn(sent, atMs, WINDOW_MS[name])).toBeLessThanOrEqual(limit);
            const background = sent.filter(({ traffic }) => traffic === 'background');
            const most = Math.max(2, limit * (rules.shares.background ?? 1));
            expect(unitsIn(background, atMs, WINDOW_MS[name])).toBeLessThanOrEqual(Math.ceil(most));
          }
        }
      }),
      { numRuns: manyRuns().numRuns / 10 },
    );
  });

  it('behavior: waiting as long as it says is enough, and no shorter wait is', () => {
    fc.assert(
      fc.property(rulesOf, requests, traffics, fc.integer({ min: 1, max: 6 }), (rules, wanted, traffic, cost) => {
        const { state, nowMs } = run(rules, wanted);
        const refused = spend(rules, state, { cost, traffic }, nowMs);
        if (!('waitMs' in refused)) return;
        expect('state' in spend(rules, state, { cost, traffic }, nowMs + refused.waitMs)).toBe(true);
        expect('state' in spend(rules, state, { cost, traffic }, nowMs + refused.waitMs - 2)).toBe(false);
      }),
      manyRuns(),
    );
  });

  it('behavior: refreshes never take what is reserved for readers, and readers not that of refreshes', () => {
    const rules: BudgetRules = { limits: { '10s': 30 }, shares: { background: 0.3, waiting: 0.8 } };
    const flood = (traffic: Traffic, count: number) =>
      Array.from({ length: count }, () => ({ pauseMs: 10, cost: 1, traffic }));
    const reader = { cost: 1, traffic: 'waiting' } as const;
    const refresh = { cost: 1, traffic: 'background' } as const;
    const swept = run(rules, flood('background', 3_000));
    expect('state' in spend(rules, swept.state, reader, swept.nowMs)).toBe(true);
    const asked = run(rules, flood('waiting', 3_000));
    expect('state' in spend(rules, asked.state, refresh, asked.nowMs)).toBe(true);
    expect(spend(rules, asked.state, reader, asked.nowMs)).toMatchObject({ waitMs: expect.any(Number) });
  });

  it('behavior: an hour cannot use up a month, also after a restart that forgets', () => {
    const rules: BudgetRules = { limits: { month: 10_000 } };
    const hour = Array.from({ length: 3_600 }, () => ({ pauseMs: 1_000, cost: 1, traffic: 'waiting' as const }));
    expect(run(rules, hour).sent.length).toBeLessThan(400);
  });

  it('behavior: a request that costs more than a full allowance takes all of it', () => {
    const rules: BudgetRules = { limits: { minute: 4 } };
    const spent = spend(rules, UNUSED, { cost: 20, traffic: 'waiting' }, NOW_MS);
    if (!('state' in spent)) throw new Error('It was refused.');
    expect(spend(rules, spent.state, { cost: 1, traffic: 'waiting' }, NOW_MS)).toEqual({ waitMs: 30_000 });
  });

  it('behavior: a clock that was set back does not end the requests', () => {
    const rules: BudgetRules = { limits: { minute: 30 } };
    const { state, nowMs } = run(rules, [{ pauseMs: 0, cost: 1, traffic: 'waiting' }]);
    const refused = spend(rules, { ...state, heldUntilMs: nowMs + DAY_MS }, { cost: 1, traffic: 'waiting' }, nowMs);
    expect(refused).toEqual({ waitMs: 300_000 });
    const before = spend(rules, state, { cost: 1, traffic: 'waiting' }, nowMs - 10 * DAY_MS);
    expect('waitMs' in before ? before.waitMs : 0).toBeLessThanOrEqual(120_000);
  });
});

describe('learn', () => {
  const rules: BudgetRules = { limits: { minute: 100, week: 200_000 }, shares: { background: 0.1 } };
  const quote = { cost: 6, traffic: 'waiting' } as const;
  const permitted = (state: BudgetState, cost: number) => 'state' in spend(rules, state, { ...quote, cost }, NOW_MS);

  it('behavior: takes what a request has really cost', () => {
    const spent = spend(rules, UNUSED, quote, NOW_MS);
    if (!('state' in spent)) throw new Error('It was refused.');
    const known = learn(rules, spent.state, quote, { spent: 22, windows: [] }, NOW_MS);
    expect(spentInDay(known, NOW_MS)).toBe(22);
    expect([permitted(known, 28), permitted(known, 29)]).toEqual([true, false]);
    const cheap = learn(rules, spent.state, quote, { spent: 1, windows: [] }, NOW_MS);
    expect([permitted(cheap, 49), permitted(cheap, 50)]).toEqual([true, false]);
  });

  it.each([
    ['a limit of another tier', { window: 'minute', limit: 20 } as const, 10, undefined],
    ['what is left of a window that others use as well', { window: 'minute', remaining: 3 } as const, 3, 4],
    ['what is left of the week', { window: 'week', remaining: 2 } as const, 2, 3],
    ['an absurd limit', { window: 'minute', limit: 1e12 } as const, 50, undefined],
    ['a limit of a window that begins anew in an hour', { limit: 5_000, resetMs: 3_600_000 }, 50, undefined],
  ])('behavior: %s', (_name, statement, most, refused) => {
    const once = learn(rules, UNUSED, quote, { windows: [statement] }, NOW_MS);
    expect(once.stated).toEqual({});
    const state = learn(rules, once, quote, { windows: [statement] }, NOW_MS);
    expect(permitted(state, most)).toBe(true);
    if (refused !== undefined) expect(permitted(state, refused)).toBe(false);
    expect(state.stated).toEqual('limit' in statement && statement.limit === 20 ? { minute: 20 } : {});
  });

  it('behavior: sends nothing until a used-up window begins anew, and not for longer than 300 s', () => {
    for (const [resetMs, waitMs] of [
      [3_000, 3_000],
      [86_400_000, 300_000],
    ] as const) {
      const state = learn(rules, UNUSED, quote, { windows: [{ remaining: 0, resetMs }] }, NOW_MS);
      expect(spend(rules, state, { ...quote, cost: 1 }, NOW_MS)).toEqual({ waitMs });
    }
  });
});

describe('an answer that lies', () => {
  const rules: BudgetRules = { limits: { minute: 100, week: 200_000, month: 10_000 }, shares: { background: 0.1 } };
  const lies = fc.record(
    {
      spent: fc.oneof(fc.integer({ min: 0, max: 2 ** 40 }), fc.double({ min: 0, max: 1e13, noNaN: true })),
      windows: fc.array(
        fc.record(
          {
            window: fc.constantFrom(...WINDOW_NAMES),
            limit: fc.double({ min: 0, max: 1e13, noNaN: true }),
            remaining: fc.double({ min: 0, max: 1e13, noNaN: true }),
            resetMs: fc.integer({ min: 0, max: 2 ** 40 }),
          },
          { requiredKeys: [] },
        ),
        { maxLength: 3 },
      ),
      refusedForMs: fc.integer({ min: 0, max: 2 ** 40 }),
    },
    { requiredKeys: ['windows'] },
  );
  const honest = {
    windows: [
      { window: 'minute', limit: 100, remaining: 90 },
      { window: 'week', limit: 200_000, remaining: 190_000 },
    ],
  } as const;
  const request = { cost: 6, traffic: 'waiting' } as const;

  it('behavior: one alone holds requests for an hour at most, and the next honest one ends what it said', () => {
    fc.assert(
      fc.property(lies, (lie) => {
        const believed = learn(rules, learn(rules, UNUSED, request, honest, NOW_MS), request, honest, NOW_MS);
        const fooled = learn(rules, believed, request, lie, NOW_MS);
        expect(fooled.stated).toEqual(believed.stated);
        const refused = spend(rules, fooled, request, NOW_MS);
        const waitMs = 'waitMs' in refused ? refused.waitMs : 0;
        expect(waitMs).toBeLessThan(3_600_000);
        const nowMs = NOW_MS + waitMs;
        const sent = spend(rules, fooled, request, nowMs);
        if (!('state' in sent)) throw new Error('It was refused again.');
        const ended = learn(rules, sent.state, request, honest, nowMs + 1);
        const next = spend(rules, ended, request, nowMs + 60_000);
        expect('waitMs' in next ? next.waitMs : 0).toBeLessThan(3_600_000);
      }),
      manyRuns(),
    );
  });

  it('behavior: a statement that every answer repeats is believed', () => {
    const used = { windows: [{ window: 'week', limit: 100_000, remaining: 0, resetMs: 3 * DAY_MS }] } as const;
    let [state, nowMs, sent] = [UNUSED, NOW_MS, 0];
    while (nowMs < NOW_MS + DAY_MS / 2) {
      const spent = spend(rules, state, request, nowMs);
      if ('state' in spent) {
        sent += 1;
        state = learn(rules, spent.state, request, used, nowMs);
      } else nowMs += spent.waitMs;
    }
    expect(state.stated.week).toBe(100_000);
    expect(sent).toBeLessThan(2 + DAY_MS / 2 / 300_000);
  });

  it('behavior: a limit that the operator has set is lowered by statements, and not raised', () => {
    const set: BudgetRules = { limits: { minute: 50 }, isSet: true };
    const stated = (limit: number) => {
      const told = { windows: [{ window: 'minute', limit }] } as const;
      const state = learn(set, learn(set, UNUSED, request, told, NOW_MS), request, told, NOW_MS);
      return forecasts(set, state, NOW_MS)[0]?.limit;
    };
    expect([stated(20), stated(500)]).toEqual([20, 50]);
  });
});

describe('forecasts', () => {
  it('behavior: the rate of the last day, and never more than the limit', () => {
    const rules: BudgetRules = { limits: { minute: 100, month: 10_000 } };
    const everyHour = run(
      rules,
      Array.from({ length: 48 }, () => ({ pauseMs: 3_600_000, cost: 1, traffic: 'background' as const })),
    );
    const [minute, month] = forecasts(rules, everyHour.state, everyHour.nowMs);
    expect(minute).toEqual({ window: 'minute', limit: 100, isStated: false, forecast: undefined });
    expect(month?.forecast).toBeGreaterThanOrEqual(720);
    expect(month?.forecast).toBeLessThanOrEqual(760);
    const once = run(rules, [{ pauseMs: 0, cost: 300, traffic: 'background' }]);
    expect(forecasts(rules, once.state, once.nowMs)[1]?.forecast).toBe(10_000);
    expect(forecasts(rules, once.state, once.nowMs + 30 * 3_600_000)[1]?.forecast).toBe(0);
  });
});

describe('affordableSec', () => {
  /** Refreshes that are sent at the cadence, of 300. */
  function sentAtCadence(rules: BudgetRules): number {
    const spending = { cost: 1, traffic: 'background' } as const;
    const everyMs = affordableSec(rules, spending) * 1_000;
    return run(
      rules,
      Array.from({ length: 300 }, () => ({ ...spending, pauseMs: everyMs })),
    ).sent.length;
  }

  it('behavior: a refresh at this cadence is never refused', () => {
    fc.assert(
      fc.property(rulesOf, (rules) => {
        expect(sentAtCadence(rules)).toBe(300);
      }),
      { numRuns: manyRuns().numRuns / 10 },
    );
  });

  it('behavior: a share of nearly everything lasts no longer than the whole', () => {
    expect(sentAtCadence({ limits: { week: 42 }, shares: { background: 0.99 } })).toBe(300);
  });
});
