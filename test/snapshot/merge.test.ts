import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChainFacts, emptyChainFacts, type GroupState, type UsdPrice } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { withoutUndefined } from '../../src/shared/without-undefined.ts';
import { followGroup, groupsOf, mergePublications, retain, uniteGroups } from '../../src/snapshot/merge.ts';
import type { Publication } from '../../src/snapshot/types.ts';
import { price, publication } from './facts.ts';

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const reason = fc.constantFrom('timeout' as const, 'malformed' as const, 'not_configured' as const);
const time = fc.integer({ min: 1, max: 1_000 });
const anyPublication: fc.Arbitrary<Publication<UsdPrice>> = fc
  .record({ at: time, items: fc.dictionary(key, time), failures: fc.dictionary(key, reason) })
  .map(({ at, items, failures }) =>
    publication(at, Object.fromEntries(Object.entries(items).map(([k, asOf]) => [k, price('1', asOf)])), failures),
  );
const history = fc.array(anyPublication, { maxLength: 12 });
const refreshed = (publications: readonly Publication<UsdPrice>[]): ChainFacts =>
  publications.reduce((facts, next) => mergePublications(facts, { price: next }, 5_000), emptyChainFacts(1));

describe('mergePublications', () => {
  test('default', () => {
    const first = mergePublications(emptyChainFacts(1), { price: publication(10, { a: price('2', 10) }) }, 11);
    const { items, failures, lastAttemptMs, lastSuccessMs } = first.groups.price;
    expect({ version: first.version, publishedMs: first.publishedMs, lastAttemptMs, lastSuccessMs }).toEqual({
      version: 1,
      publishedMs: 11,
      lastAttemptMs: 10,
      lastSuccessMs: 10,
    });
    expect([items.get('a'), failures.size]).toEqual([price('2', 10), 0]);
  });

  test('behavior: a failure keeps the value and its age, a continuing failure keeps its start, and success clears it', () => {
    const good = refreshed([publication(10, { a: price('2', 10), b: price('3', 10) })]);
    const failed = [20, 30].reduce(
      (facts, at) => mergePublications(facts, { price: publication(at, {}, { a: 'timeout' }) }, at),
      good,
    );
    expect(failed.groups.price.items).toEqual(good.groups.price.items);
    expect(failed.groups.price.failures).toEqual(
      new Map([['a', { reason: 'timeout', source: 'coingecko', sinceMs: 20 }]]),
    );
    expect([failed.groups.price.lastAttemptMs, failed.groups.price.lastSuccessMs]).toEqual([30, 10]);
    const recovered = mergePublications(failed, { price: publication(40, { a: price('4', 40) }) }, 40);
    expect(recovered.groups.price.failures.size).toBe(0);
    expect(recovered.groups.price.items.get('a')).toEqual(price('4', 40));
  });

  test('behavior: an unconfigured item does not fail the attempt', () => {
    const facts = refreshed([publication(10, { a: price('2', 10) }, { b: 'not_configured' })]);
    expect(facts.groups.price.lastSuccessMs).toBe(10);
  });

  test('behavior: of two measurements of one time the later publication counts, and an older one changes nothing', () => {
    const known = refreshed([publication(10, { a: price('2', 10) }), publication(20, {}, { a: 'timeout' })]);
    const again = mergePublications(known, { price: publication(30, { a: price('3', 10) }) }, 5_000).groups.price;
    expect([again.items.get('a'), again.failures.size]).toEqual([price('3', 10), 0]);
    const older = mergePublications(known, { price: publication(30, { a: price('3', 9) }) }, 5_000).groups.price;
    expect([older.items.get('a'), older.failures]).toEqual([price('2', 10), known.groups.price.failures]);
    expect([older.lastAttemptMs, older.lastSuccessMs]).toEqual([30, 30]);
  });

  test('behavior: a key that was read and failed in one refresh was read', () => {
    const { price: merged } = refreshed([publication(10, { a: price('2', 10) }, { a: 'not_configured' })]).groups;
    expect([merged.items.size, merged.failures.size, merged.lastSuccessMs]).toEqual([1, 0, 10]);
  });

  test('behavior: one failing item, or a source that failed as a whole, is no success', () => {
    const both = refreshed([publication(10, {}, { a: 'not_configured', b: 'timeout' })]).groups.price;
    expect([both.lastAttemptMs, both.lastSuccessMs]).toEqual([10, null]);
    const whole = refreshed([publication(10, { a: price('1', 10) }), { ...publication(20), failed: true }]).groups
      .price;
    expect([whole.lastAttemptMs, whole.lastSuccessMs]).toEqual([20, 10]);
  });

  test('behavior: attempts that end in another order keep the latest time', () => {
    const { price: merged } = refreshed([publication(20), publication(10)]).groups;
    expect([merged.lastAttemptMs, merged.lastSuccessMs]).toEqual([20, 20]);
  });

  test('behavior: an unconfirmed value stays until another one is received, or a value is published', () => {
    const unconfirmed = (usd: number) => ({ value: new Decimal(usd), readings: 1 });
    const failing = (at: number, usd?: number): Publication<UsdPrice> => ({
      ...publication(at),
      failures: new Map([
        [
          'a',
          {
            reason: 'implausible',
            source: 'x',
            ...withoutUndefined({ suspect: usd === undefined ? undefined : unconfirmed(usd) }),
          },
        ],
      ]),
    });
    const shown = (history: readonly Publication<UsdPrice>[]) => refreshed(history).groups.price.failures.get('a');
    expect(shown([failing(10, 5), failing(20)])).toMatchObject({ sinceMs: 10, suspect: unconfirmed(5) });
    expect(shown([failing(10, 5), failing(20, 6)])).toMatchObject({ sinceMs: 10, suspect: unconfirmed(6) });
    expect(shown([failing(10, 5), publication(20, { a: price('1', 20) }), failing(30)])?.suspect).toBeUndefined();
  });

  test('behavior: never loses an item or a newer measurement', () => {
    fc.assert(
      fc.property(history, anyPublication, (past, next) => {
        const before = refreshed(past).groups.price;
        const merged = mergePublications(refreshed(past), { price: next }, 5_000).groups.price;
        for (const [k, fact] of before.items) {
          expect(merged.items.get(k)?.asOfMs).toBeGreaterThanOrEqual(fact.asOfMs);
        }
      }),
    );
  });

  test('behavior: unnamed keys and groups stay the same objects', () => {
    fc.assert(
      fc.property(history, anyPublication, (past, next) => {
        const before = refreshed(past);
        const merged = mergePublications(before, { price: next }, 5_000);
        for (const [k, fact] of before.groups.price.items) {
          if (!next.items.has(k)) expect(merged.groups.price.items.get(k)).toBe(fact);
        }
        for (const [k, failure] of before.groups.price.failures) {
          if (!next.items.has(k) && !next.failures.has(k)) expect(merged.groups.price.failures.get(k)).toBe(failure);
        }
        expect(merged.groups.lendingState).toBe(before.groups.lendingState);
        expect(merged.version).toBe(before.version + 1);
      }),
    );
  });

  test('behavior: does not change its input', () => {
    fc.assert(
      fc.property(history, anyPublication, (past, next) => {
        const before = refreshed(past);
        mergePublications(before, { price: next }, 5_000);
        expect(before).toEqual(refreshed(past));
      }),
    );
  });
});

type Prices = GroupState<UsdPrice>;
const unite = (a: Prices, b: Prices, nowMs = 5_000): Prices => uniteGroups('price', a, b, nowMs);
const follow = (ours: Prices, theirs: Prices, nowMs = 5_000): Prices => followGroup('price', ours, theirs, nowMs);

describe('facts from the future', () => {
  /** A clock that is an hour ahead measured `a`; ours is at 10 s. */
  const AHEAD_MS = 3_600_000;
  const NOW_MS = 10_000;
  const ofTomorrow = mergePublications(
    emptyChainFacts(1),
    { price: publication(AHEAD_MS, { a: price('9', AHEAD_MS) }, { b: 'timeout' }) },
    AHEAD_MS,
  ).groups.price;
  const ofNow = refreshed([publication(NOW_MS, { a: price('2', NOW_MS) })]).groups.price;

  test('behavior: a present measurement replaces a future one', () => {
    const facts = { ...emptyChainFacts(1), groups: { ...emptyChainFacts(1).groups, price: ofTomorrow } };
    const merged = mergePublications(facts, { price: publication(NOW_MS, { a: price('2', NOW_MS) }) }, NOW_MS);
    expect(merged.groups.price).toEqual(ofNow);
  });

  test('behavior: a future one fails as implausible, and the last good stays', () => {
    const facts = { ...emptyChainFacts(1), groups: { ...emptyChainFacts(1).groups, price: ofNow } };
    const { price: merged } = mergePublications(
      facts,
      { price: publication(NOW_MS, { a: price('9', AHEAD_MS) }) },
      NOW_MS,
    ).groups;
    expect(merged.items).toEqual(ofNow.items);
    expect(merged.failures.get('a')).toEqual({ reason: 'implausible', source: 'coingecko', sinceMs: NOW_MS });
    expect(merged.lastSuccessMs).toBe(ofNow.lastSuccessMs);
    const still = mergePublications(
      { ...facts, groups: { ...facts.groups, price: merged } },
      { price: publication(NOW_MS + 1, { a: price('9', AHEAD_MS + 1) }) },
      NOW_MS + 1,
    );
    expect(still.groups.price.failures.get('a')?.sinceMs).toBe(NOW_MS);
  });

  test('behavior: two minutes ahead count as now, more do not', () => {
    const at = (ms: number) =>
      mergePublications(emptyChainFacts(1), { price: publication(0, { a: price('1', ms) }) }, 0).groups.price.items
        .size;
    expect([at(120_000), at(120_001)]).toEqual([1, 0]);
  });

  test('behavior: a process with a clock ahead removes nothing, and its attempts do not count', () => {
    for (const united of [unite(ofTomorrow, ofNow, NOW_MS), unite(ofNow, ofTomorrow, NOW_MS)]) {
      expect(united).toEqual(ofNow);
    }
    expect(follow(ofNow, ofTomorrow, NOW_MS)).toEqual(ofNow);
  });

  test('behavior: drops future points of a history and keeps the rest', () => {
    const points = [
      { atMs: 1_000, ratePct: new Decimal(1) },
      { atMs: 2_000, ratePct: new Decimal(2) },
      { atMs: 9_999_000, ratePct: new Decimal(3) },
    ];
    const fact = { value: { apyPct: new Decimal(2), history: points }, asOfMs: 2_000, source: 'x' };
    const { items } = mergePublications(emptyChainFacts(1), { collateralApy: publication(2_000, { a: fact }) }, NOW_MS)
      .groups.collateralApy;
    expect(items.get('a')?.value.history).toEqual(points.slice(0, 2));
  });
});

describe('followGroup', () => {
  test('behavior: an older remote state does not set items back', () => {
    const newer = refreshed([publication(10, { a: price('1', 10) }), publication(30, { a: price('3', 30) })]).groups
      .price;
    const older = refreshed([publication(10, { a: price('1', 10) }, { b: 'timeout' })]).groups.price;
    expect(follow(newer, older).items.get('a')).toEqual(price('3', 30));
    expect(follow(newer, older).lastAttemptMs).toBe(30);
  });

  test('behavior: a failure that the remote no longer has is cleared, also with a value of the same time', () => {
    const failing = refreshed([publication(10, { a: price('1', 10) }), publication(20, {}, { a: 'timeout' })]).groups
      .price;
    const cured = refreshed([publication(30, { a: price('1', 10) })]).groups.price;
    expect(follow(failing, cured).failures.size).toBe(0);
  });
});

describe('groups that two processes attempted at one time', () => {
  const [one, other] = (['timeout', 'malformed'] as const).map(
    (reason) => refreshed([publication(20, { b: price('1', 10) }, { a: reason })]).groups.price,
  ) as [Prices, Prices];
  const cured = refreshed([publication(20, { a: price('1', 10), b: price('2', 10) })]).groups.price;

  test('behavior: the other one counts', () => {
    expect(unite(one, other).failures.get('a')?.reason).toBe('malformed');
    expect(unite(one, cured).items.get('b')).toBe(cured.items.get('b'));
    expect(follow(one, cured).failures.size).toBe(0);
    expect(follow(one, other).failures).toEqual(other.failures);
  });

  test('behavior: one that was never attempted is the older one', () => {
    const none = refreshed([]).groups.price;
    expect([unite(none, one), unite(one, none)]).toEqual([one, one]);
    expect(follow(one, none)).toEqual(one);
    expect(follow(none, one)).toEqual(one);
  });
});

describe('uniteGroups', () => {
  test('behavior: a failure stays when both have the item of one time, and goes with a newer measurement', () => {
    const failing = refreshed([publication(10, { a: price('1', 10) }), publication(20, {}, { a: 'timeout' })]).groups
      .price;
    const at = (asOfMs: number) => refreshed([publication(30, { a: price('1', asOfMs) })]).groups.price;
    expect([unite(failing, at(10)).failures.size, unite(failing, at(11)).failures.size]).toEqual([1, 0]);
    expect([unite(at(10), failing).failures.size, unite(at(11), failing).failures.size]).toEqual([1, 0]);
  });

  test('behavior: a failure of both has the start of the earlier series and the latest reason', () => {
    const since = (first: number, latest: number) =>
      refreshed([publication(first, {}, { a: 'timeout' }), publication(latest, {}, { a: 'malformed' })]).groups.price;
    for (const [a, b] of [
      [since(10, 40), since(20, 30)],
      [since(20, 40), since(10, 30)],
      [since(10, 30), since(10, 40)],
    ] as const) {
      expect(unite(a, b).failures.get('a')).toMatchObject({ reason: 'malformed', sinceMs: 10 });
    }
  });

  test('behavior: has the latest attempt and success of both, in either order', () => {
    const tried = refreshed([publication(10), publication(40, {}, { a: 'timeout' })]).groups.price;
    const worked = refreshed([publication(30)]).groups.price;
    const none = refreshed([]).groups.price;
    const timesOf = ({ lastAttemptMs, lastSuccessMs }: Prices) => [lastAttemptMs, lastSuccessMs];
    for (const united of [unite(tried, worked), unite(worked, tried)]) expect(timesOf(united)).toEqual([40, 30]);
    for (const united of [unite(none, worked), unite(worked, none)]) expect(timesOf(united)).toEqual([30, 30]);
    expect(timesOf(unite(none, none))).toEqual([null, null]);
  });

  test('behavior: has every item of both at its newest measurement, in either order', () => {
    fc.assert(
      fc.property(history, history, (left, right) => {
        const a = refreshed(left).groups.price;
        const b = refreshed(right).groups.price;
        const united = unite(a, b);
        for (const k of ['a', 'b', 'c', 'd', 'e']) {
          const newest = Math.max(a.items.get(k)?.asOfMs ?? 0, b.items.get(k)?.asOfMs ?? 0);
          expect(united.items.get(k)?.asOfMs ?? 0).toBe(newest);
          expect(unite(b, a).items.get(k)?.asOfMs ?? 0).toBe(newest);
        }
      }),
    );
  });

  test('behavior: clears a failure that the other side has resolved', () => {
    const failing = refreshed([publication(10, { a: price('1', 10) }), publication(20, {}, { a: 'timeout' })]).groups
      .price;
    const cured = refreshed([publication(30, { a: price('1', 30) })]).groups.price;
    expect(unite(failing, cured).failures.size).toBe(0);
    expect(unite(cured, failing).failures.size).toBe(0);
  });

  test('behavior: keeps a failure of one side without a newer measurement, with its earliest start', () => {
    const failing = refreshed([publication(20, {}, { a: 'timeout' })]).groups.price;
    const later = refreshed([publication(30, {}, { a: 'malformed' })]).groups.price;
    expect(unite(failing, later).failures.get('a')).toEqual({
      reason: 'malformed',
      source: 'coingecko',
      sinceMs: 20,
    });
  });
});

describe('retain', () => {
  test('default', () => {
    const facts = refreshed([publication(10, { a: price('1', 10), b: price('2', 10) }, { c: 'timeout' })]);
    const remaining = retain(facts, (group, k) => group === 'price' && k === 'a');
    expect([[...remaining.groups.price.items.keys()], [...remaining.groups.price.failures.keys()]]).toEqual([
      ['a'],
      [],
    ]);
  });

  test('behavior: returns the same object if nothing is dropped', () => {
    const facts = refreshed([publication(10, { a: price('1', 10) })]);
    expect(retain(facts, () => true)).toBe(facts);
  });

  test('behavior: drops a failure alone, and looks at the given groups only', () => {
    const facts = refreshed([publication(10, { a: price('1', 10) }, { c: 'timeout' })]);
    const remaining = retain(facts, (_group, k) => k !== 'c');
    expect([remaining.groups.price.items.size, remaining.groups.price.failures.size]).toEqual([1, 0]);
    expect([remaining.version, remaining.publishedMs, remaining.groups.oracle]).toEqual([
      1,
      5_000,
      facts.groups.oracle,
    ]);
    expect(retain(facts, () => false, ['oracle', 'tvl'])).toBe(facts);
    expect(retain(facts, () => false, ['oracle', 'price']).groups.price.items.size).toBe(0);
  });
});

test('groupsOf: in the order of all groups, those that are there', () => {
  expect(groupsOf({ price: 1, oracle: 1, tvl: undefined })).toEqual(['oracle', 'price']);
});
