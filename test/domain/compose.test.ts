import { describe, expect, test } from 'vitest';
import { beginComposition, composeChain } from '../../src/domain/compose.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { ethereum } from './strategy-world.ts';
import { completeFacts, DAY, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

describe('composeChain', () => {
  test('behavior: composing by market equals composing at once', () => {
    const facts = completeFacts(ethereum, 7);
    const composing = beginComposition(ethereum, facts, PARAMS);
    for (const market of ethereum.markets) composing.add(market);
    const made = composing.finish();
    expect(made).toEqual(composeChain(ethereum, facts, PARAMS));
    expect(made).toMatchObject({ chainId: 1, version: 7, asOfMs: facts.publishedMs, excluded: [] });
  });

  test('behavior: the previous composition does not change the result and saves unchanged averages', () => {
    const before = composeChain(ethereum, completeFacts(ethereum), PARAMS);
    const market = marketOf(ethereum, 'sDOLA', 'frxUSD');
    const points = Array.from({ length: 95 }, (_, i) => ({ atMs: NOW_MS - (95 - i) * DAY, ratePct: new Decimal(i) }));
    const facts = withItem(completeFacts(ethereum), 'borrowHistory', market.id, { value: { points } });
    // Everything else is measured as before, by the same facts.
    const same = { ...facts, groups: { ...facts.groups } };
    const first = composeChain(ethereum, same, { ...PARAMS, previous: before });
    const again = composeChain(ethereum, same, { ...PARAMS, previous: first });
    for (const made of [first, again]) expect(made).toEqual(composeChain(ethereum, same, PARAMS));
    const quarterly = (chain: typeof first) =>
      chain.lookup.markets.get(market.id)?.history.quarterlyBorrowApyPct?.toFixed();
    expect(quarterly(again)).not.toBe(quarterly(before));
    again.markets.forEach((one, i) => {
      expect(one.averaged).toBe(first.markets[i]?.averaged);
    });
    const changed = composeChain(ethereum, withItem(same, 'borrowHistory', market.id, { value: { points: [] } }), {
      ...PARAMS,
      previous: again,
    });
    expect(
      changed.markets.filter((one, i) => one.averaged !== again.markets[i]?.averaged).map((one) => one.market.id),
    ).toEqual([market.id]);
  });

  test('behavior: returns the time at which the result changes by itself', () => {
    const facts = completeFacts(ethereum);
    const maturity = Math.min(...ethereum.tokens.flatMap((token) => token.maturity ?? [])) * 1_000;
    expect(composeChain(ethereum, facts, PARAMS).recomposeAtMs).toBe(maturity - 7 * DAY);
    const market = marketOf(ethereum, 'sDOLA', 'frxUSD');
    const ending = { id: '1', symbol: 'M', aprPct: new Decimal(1), startsAtMs: 0, endsAtMs: NOW_MS + 5_000 };
    const paid = withItem(facts, 'incentives', market.id, { value: { borrow: [ending], collateral: [] } });
    expect(composeChain(ethereum, paid, PARAMS).recomposeAtMs).toBe(NOW_MS + 5_000);
  });

  test('behavior: without facts it composes nothing and names every market', () => {
    const facts = { ...completeFacts(ethereum) };
    const empty = {
      ...facts,
      groups: { ...facts.groups, lendingState: { ...facts.groups.lendingState, items: new Map() } },
    };
    const chain = composeChain(ethereum, empty, PARAMS);
    expect(chain.strategies).toEqual([]);
    expect(chain.excluded).toHaveLength(ethereum.markets.length);
    expect(chain.excluded[0]?.waitingFor).toEqual([{ group: 'lendingState', reason: 'not_measured' }]);
  });
});
