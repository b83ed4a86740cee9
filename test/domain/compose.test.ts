import { describe, expect, test } from 'vitest';
import { composeChain, composeChainSteps } from '../../src/domain/compose.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { ethereum } from './strategy-world.ts';
import { completeFacts, DAY, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

describe('composeChainSteps', () => {
  test('behavior: in steps it is the same as at once', () => {
    const facts = completeFacts(ethereum, 7);
    const steps = composeChainSteps(ethereum, facts, PARAMS);
    const done: number[] = [];
    let step = steps.next();
    for (; !step.done; step = steps.next()) done.push(step.value);
    expect(done).toEqual(ethereum.markets.map((_, i) => i + 1));
    expect(step.value).toEqual(composeChain(ethereum, facts, PARAMS));
    expect(step.value).toMatchObject({ chainId: 1, version: 7, asOfMs: facts.publishedMs, excluded: [] });
  });

  test('behavior: tells when time alone changes the result', () => {
    const facts = completeFacts(ethereum);
    const maturity = Math.min(...ethereum.tokens.flatMap((token) => token.maturity ?? [])) * 1_000;
    expect(composeChain(ethereum, facts, PARAMS).recomposeAtMs).toBe(maturity - 7 * DAY);
    const market = marketOf(ethereum, 'sDOLA', 'frxUSD');
    const ending = { id: '1', symbol: 'M', aprPct: new Decimal(1), startsAtMs: 0, endsAtMs: NOW_MS + 5_000 };
    const paid = withItem(facts, 'incentives', market.id, { value: { borrow: [ending], collateral: [] } });
    expect(composeChain(ethereum, paid, PARAMS).recomposeAtMs).toBe(NOW_MS + 5_000);
  });

  test('behavior: nothing known composes nothing, and names every market', () => {
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
