import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChainFacts, emptyChainFacts, type UsdPrice } from '../../src/domain/facts.ts';
import { mergePublications, retain, uniteGroups } from '../../src/snapshot/merge.ts';
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

  test('behavior: a failure keeps the value and its age, a running failure its beginning, and success clears it', () => {
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

  test('behavior: an item that no source is configured for does not make an attempt fail', () => {
    const facts = refreshed([publication(10, { a: price('2', 10) }, { b: 'not_configured' })]);
    expect(facts.groups.price.lastSuccessMs).toBe(10);
  });

  test('behavior: never loses an item, and no measurement becomes older', () => {
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

  test('behavior: keys and groups that the refresh does not name are the same objects', () => {
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

  test('behavior: the facts merged into are left as they were', () => {
    fc.assert(
      fc.property(history, anyPublication, (past, next) => {
        const before = refreshed(past);
        mergePublications(before, { price: next }, 5_000);
        expect(before).toEqual(refreshed(past));
      }),
    );
  });
});

describe('uniteGroups', () => {
  test('behavior: holds every item of both at its newest measurement, whichever side comes first', () => {
    fc.assert(
      fc.property(history, history, (left, right) => {
        const a = refreshed(left).groups.price;
        const b = refreshed(right).groups.price;
        const united = uniteGroups(a, b);
        for (const k of ['a', 'b', 'c', 'd', 'e']) {
          const newest = Math.max(a.items.get(k)?.asOfMs ?? 0, b.items.get(k)?.asOfMs ?? 0);
          expect(united.items.get(k)?.asOfMs ?? 0).toBe(newest);
          expect(uniteGroups(b, a).items.get(k)?.asOfMs ?? 0).toBe(newest);
        }
      }),
    );
  });

  test('behavior: a failure that the other side has cured since is gone', () => {
    const failing = refreshed([publication(10, { a: price('1', 10) }), publication(20, {}, { a: 'timeout' })]).groups
      .price;
    const cured = refreshed([publication(30, { a: price('1', 30) })]).groups.price;
    expect(uniteGroups(failing, cured).failures.size).toBe(0);
    expect(uniteGroups(cured, failing).failures.size).toBe(0);
  });

  test('behavior: a failure told by one side stays while nobody measured since, with its first beginning', () => {
    const failing = refreshed([publication(20, {}, { a: 'timeout' })]).groups.price;
    const later = refreshed([publication(30, {}, { a: 'malformed' })]).groups.price;
    expect(uniteGroups(failing, later).failures.get('a')).toEqual({
      reason: 'malformed',
      source: 'coingecko',
      sinceMs: 20,
    });
  });
});

describe('retain', () => {
  test('default', () => {
    const facts = refreshed([publication(10, { a: price('1', 10), b: price('2', 10) }, { c: 'timeout' })]);
    const kept = retain(facts, (group, k) => group === 'price' && k === 'a');
    expect([[...kept.groups.price.items.keys()], [...kept.groups.price.failures.keys()]]).toEqual([['a'], []]);
  });

  test('behavior: with nothing to drop, it is the same object', () => {
    const facts = refreshed([publication(10, { a: price('1', 10) })]);
    expect(retain(facts, () => true)).toBe(facts);
  });
});
