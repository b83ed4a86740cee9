import { describe, expect, test } from 'vitest';
import { borrowRateNow } from '../../src/domain/apy/rates.ts';
import { composeChain } from '../../src/domain/compose.ts';
import { agreementOf } from '../../src/domain/deployment/disagreements.ts';
import { chainRules } from '../../src/domain/deployment/rules.ts';
import { deploymentTerms } from '../../src/domain/deployment/terms.ts';
import { repairOf } from '../../src/domain/drift/repair.ts';
import { ofNow } from '../../src/domain/freshness/future.ts';
import { groupHealth } from '../../src/domain/freshness/health.ts';
import { DEFAULT_DEPOSIT_FEE, DEFAULT_YIELD_FEE } from '../../src/domain/leverage/fees.ts';
import { marketsAt } from '../../src/domain/market/at-block.ts';
import { composeMarket } from '../../src/domain/market/compose.ts';
import { compositionContext } from '../../src/domain/market/context.ts';
import { possibleRange } from '../../src/domain/market/oracle-range.ts';
import type { ComposedMarket } from '../../src/domain/market/types.ts';
import { apart } from '../../src/domain/plausibility/suspect.ts';
import type { OracleDivergence } from '../../src/domain/plausibility/types.ts';
import { netCollateralOf } from '../../src/domain/position/valuation.ts';
import { composeTvl } from '../../src/domain/tvl/compose.ts';
import { tvlMarkets } from '../../src/domain/tvl/markets.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { StrategyId } from '../../src/shared/ids.ts';
import { composedOf, ethereum, robinhood } from './position/position-world.ts';
import { gapOf, strategyOf } from './strategy-world.ts';
import { BUDGETS, completeFacts, DAY, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

/** Results of single functions, worked out by hand. */

const of = (value: number | string) => new Decimal(value);
const facts = completeFacts(ethereum);
const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
const OTHER = marketOf(ethereum, 'siUSD', 'USDC');

describe('rates', () => {
  test('borrowRateNow: a rate a millionth from that of the curve counts as its rate, one unit further does not', () => {
    // At its target utilization and without time the curve's rate is the rate at target: 1,200,001,200.
    const supplied = { totalSupplyAssets: 1_000_000n, totalSupplyShares: 1_000_000n };
    const borrowed = { totalBorrowAssets: 900_000n, totalBorrowShares: 900_000n };
    const block = { lastUpdate: 1_780_000_000n, blockTimestamp: 1_780_000_000n, blockNumber: 1n };
    const state = { ...supplied, ...borrowed, ...block, fee: 0n, rateAtTarget: 1_200_001_200n };
    const now = (borrowRate: bigint) => borrowRateNow({ ...state, borrowRate });
    expect([now(1_200_000_000n), now(1_199_999_999n)]).toEqual([1_200_001_200n, 1_199_999_999n]);
    expect([now(1_200_002_400n), now(1_200_002_402n)]).toEqual([1_200_001_200n, 1_200_002_402n]);
  });

  test('apart: without end beside zero', () => {
    expect(
      [apart(of(0), of(0)), apart(of(0), of(5)), apart(of(-5), of(5))].map((distance) => distance.toFixed()),
    ).toEqual(['Infinity', 'Infinity', 'Infinity']);
  });
});

test('the documented fees: 5 % of a yield, 1 % of a deposit', () => {
  expect([DEFAULT_YIELD_FEE, DEFAULT_DEPOSIT_FEE]).toEqual([50_000_000_000_000_000n, 10_000_000_000_000_000n]);
});

test('possibleRange: a principal token is worth nine tenths at the least from its maturity on, and less before', () => {
  const principal = marketOf(ethereum, 'PT-stcUSD', 'USDC');
  const maturityMs = (principal.collateral.maturity as number) * 1_000;
  const at = (ms: number) => Object.values(possibleRange(principal, of('1.01'), ms)).map((usd) => usd.toFixed(9));
  expect([at(maturityMs), at(maturityMs + DAY)]).toEqual(Array(2).fill(['0.909000000', '1.111000000']));
  // Half as much a year before, a quarter two years before.
  expect(at(maturityMs - 365 * DAY)).toEqual(['0.454500000', '1.111000000']);
  expect(at(maturityMs - 730 * DAY)).toEqual(['0.227250000', '1.111000000']);
  expect(possibleRange(principal, of('1.01'), maturityMs).min.toFixed()).toBe('0.909');
});

describe('groupHealth by source', () => {
  const ofSource = (source: string, given = facts, nowMs = NOW_MS) =>
    groupHealth(ethereum, given, BUDGETS, nowMs).find((row) => row.source === source);
  const tokens = new Map(ethereum.markets.map(({ collateral }) => [collateral.address, collateral.apySource]));
  const sources = [...new Set(tokens.values())].filter((source) => source !== 'none');

  test('behavior: counts the tokens of the source alone', () => {
    const counts = sources.map((source) => [...tokens.values()].filter((own) => own === source).length);
    expect(new Set(counts).size).toBeGreaterThan(1);
    expect(sources.map((source) => ofSource(source)?.items)).toEqual(counts);
    expect(ofSource('none')).toBeUndefined();
  });

  test('behavior: a failure of one token counts for its source alone', () => {
    const [first, second] = sources as [string, string];
    const [address] = [...tokens].find(([, source]) => source === first) ?? [];
    const failure = { reason: 'timeout', source: first, sinceMs: 1 } as const;
    const given = withItem(facts, 'collateralApy', address as string, { failure });
    expect(ofSource(first, given)).toMatchObject({ neverMeasured: { timeout: 1 }, itemsAtLastGood: 0 });
    expect(ofSource(first, given)?.items).toBe((ofSource(first)?.items ?? 0) - 1);
    expect(ofSource(second, given)).toEqual(ofSource(second));
  });

  test('behavior: the age is that of the oldest token of the source, in whole seconds, and of none from the future', () => {
    const [source] = sources as [string];
    const [address] = [...tokens].find(([, own]) => own === source) ?? [];
    const aged = (asOfMs: number) =>
      withItem(facts, 'collateralApy', address as string, { value: { apyPct: of(1) }, asOfMs });
    expect(ofSource(source, aged(NOW_MS - 7_200_999))).toMatchObject({ asOfMs: NOW_MS - 7_200_999, ageSec: 7_200 });
    expect(ofSource(source, aged(NOW_MS + 5))).toMatchObject({ asOfMs: NOW_MS - 3_600_000, ageSec: 3_600 });
    const only = { ...facts.groups.collateralApy, items: new Map() };
    const empty = { ...facts, groups: { ...facts.groups, collateralApy: { ...only, lastSuccessMs: NOW_MS } } };
    expect(ofSource(source, empty)).toMatchObject({ status: 'never', items: 0, asOfMs: null, ageSec: null });
  });
});

describe('rules by the deployed contract', () => {
  test('a rule about several facts of one time has the age and the budget of the market', () => {
    const budgets = { ...BUDGETS, marketSupport: 111, tokenContract: 222 };
    const check = () => chainRules(ethereum, facts, budgets).matching(market).checks[0];
    expect(check()).toMatchObject({ name: 'catalog_mismatch', stamp: { asOfMs: NOW_MS - 60_000, staleAfterSec: 111 } });
    const { address, decimals } = market.collateral;
    const older = withItem(facts, 'tokenContract', address, {
      value: { hasCode: true, decimals: BigInt(decimals) },
      asOfMs: NOW_MS - 60_001,
    });
    expect(chainRules(ethereum, older, budgets).matching(market).checks[0]).toMatchObject({
      stamp: { asOfMs: NOW_MS - 60_001, staleAfterSec: 222 },
    });
  });

  test('deploymentTerms: a view that the contract does not answer is told from one that was not read', () => {
    const messages = (value?: { isSupported: boolean }) =>
      deploymentTerms(market, withItem(facts, 'marketSupport', market.id, value ? { value } : {}), BUDGETS).gaps.map(
        ({ field, message }) => [field, message],
      );
    expect(messages({ isSupported: true })).toEqual([
      ['correlated', "The catalog's kind of market is used. The contract does not return it."],
    ]);
    expect(messages()).toEqual([
      ['supported', 'The market counts as supported. It was not measured yet.'],
      ['correlated', "The catalog's kind of market is used. It was not measured yet."],
    ]);
  });

  test('agreementOf: the differences of a market are those of the contract, of the market and of both of its tokens', () => {
    const { loan, collateral } = market;
    const wrong = (address: typeof loan.address) => ({ value: { hasCode: true, decimals: 77n, symbol: address } });
    let given = withItem(facts, 'tokenContract', loan.address, wrong(loan.address));
    given = withItem(given, 'tokenContract', collateral.address, wrong(collateral.address));
    given = withItem(given, 'marketSupport', market.id, {
      value: { isSupported: true, isCorrelated: true, params: null },
    });
    const { disagreements, against } = agreementOf(ethereum, given);
    const of = against(market).map(({ kind, key, effect, catalog, chain }) => [kind, key, effect, catalog, chain]);
    expect(of).toEqual([
      ['not_created', market.id, 'no_builds', market.id, 'no such market'],
      ...[collateral, loan].flatMap(({ address, decimals, symbol }) => [
        ['decimals', address, 'no_builds', String(decimals), '77'],
        ['symbol', address, 'warning', symbol, address],
      ]),
    ]);
    expect(disagreements).toHaveLength(5);
    const zero = '0x0000000000000000000000000000000000000000';
    const { id, irm, lltv, oracle } = market;
    const params = { loanToken: loan.address, collateralToken: zero, oracle: zero, irm, lltv: lltv + 1n } as const;
    const moved = withItem(facts, 'marketSupport', id, { value: { isSupported: true, isCorrelated: false, params } });
    expect(agreementOf(ethereum, moved).against(market)).toMatchObject([
      {
        kind: 'parameters',
        catalog: `collateralToken ${collateral.address}, lltv ${lltv}`,
        chain: `collateralToken ${zero}, lltv ${lltv + 1n}`,
      },
      { kind: 'oracle', effect: 'no_builds', catalog: oracle, chain: zero },
      { kind: 'correlated', effect: 'no_new_risk', catalog: 'correlated', chain: 'uncorrelated' },
    ]);
    expect(against(OTHER)).toEqual([]);
    expect(agreementOf(ethereum, facts).disagreements).toEqual([]);
  });
});

describe('repairOf', () => {
  const wallet = '0x00000000000000000000000000000000000000a1' as const;
  const drift = {
    kind: 'no_db_row',
    chainId: 4663,
    wallet,
    marketId: market.id,
    positionIndex: 7,
    vaultId: null,
    otherMarketId: null,
  } as const;
  const columns =
    'chain_id, wallet, market_id, position_index, equity_vault_id, is_open, deposited_usd, created_at, updated_at, closed_at';
  const insertion = (vault: string, isOpen: boolean, closedAt: string) =>
    [
      `insert into position_registrations (${columns})`,
      `values (4663, '${wallet}', '${market.id}', 7, ${vault}, ${isOpen}, :deposited_usd, now(), now(), ${closedAt})`,
      'on conflict (chain_id, wallet, position_index) do nothing;',
    ].join('\n');

  test('behavior: a missing row is added in the state of the chain', () => {
    expect(repairOf({ ...drift, chain: { status: 'open' } })).toBe(insertion('null', true, 'null'));
    expect(repairOf({ ...drift, chain: { status: 'liquidated' } })).toBe(insertion('null', false, 'now()'));
    const vaultId = `equity-${market.id}` as StrategyId;
    expect(repairOf({ ...drift, vaultId, chain: { status: 'open' } })).toBe(insertion(`'${vaultId}'`, true, 'null'));
  });

  test('behavior: a row of another market gets the market and the state of the chain', () => {
    const update = (status: 'open' | 'closed') => repairOf({ ...drift, otherMarketId: OTHER.id, chain: { status } });
    const where = `where chain_id = 4663 and wallet = '${wallet}' and market_id = '${OTHER.id}' and position_index = 7;`;
    const set = (isOpen: boolean, closedAt: string) =>
      `update position_registrations set market_id = '${market.id}', is_open = ${isOpen}, closed_at = ${closedAt}, updated_at = now()`;
    expect(update('open')).toBe(`${set(true, 'null')}\n${where}`);
    expect(update('closed')).toBe(`${set(false, 'now()')}\n${where}`);
  });

  test('behavior: any index of a position and chain up to 2^31 - 1', () => {
    const at = (positionIndex: number) => repairOf({ ...drift, positionIndex, chain: { status: 'open' } });
    expect([at(0), at(2 ** 31 - 1)].map((sql) => sql === null)).toEqual([false, false]);
    expect([at(2 ** 31), at(0.5)]).toEqual([null, null]);
  });
});

describe('facts from the future', () => {
  test('ofNow: one campaign of several with a later rate is cut, the others stay as they are', () => {
    const campaign = (id: string, ...atMs: readonly number[]) => ({
      ...({ id, side: 'borrow', symbol: 'X', startsAtMs: NOW_MS - DAY, endsAtMs: NOW_MS + DAY } as const),
      steps: atMs.map((ms) => ({ atMs: ms, ratePct: of(1) })),
    });
    const [past, ahead] = [campaign('a', NOW_MS - 1), campaign('b', NOW_MS - 1, NOW_MS + DAY)];
    const fact = (...campaigns: readonly (typeof past)[]) => ({ value: { campaigns }, asOfMs: NOW_MS, source: 'test' });
    for (const campaigns of [
      [past, ahead],
      [ahead, past],
    ]) {
      const clean = ofNow('incentiveHistory', fact(...campaigns), NOW_MS)?.value.campaigns ?? [];
      expect(clean.map(({ id, steps }) => [id, steps.length])).toEqual(campaigns.map(({ id }) => [id, 1]));
      expect(clean).toContain(past);
    }
    const unchanged = fact(past);
    expect(ofNow('incentiveHistory', unchanged, NOW_MS)).toBe(unchanged);
  });
});

describe('a market', () => {
  const composed = composedOf(ethereum);
  const last = composed.lookup.markets.get(market.id) as ComposedMarket;

  test('composeMarket: it has every fact that its numbers are of', () => {
    expect(Object.keys(last.facts).toSorted()).toEqual([
      ...['borrowHistory', 'collateralApy', 'exitLiquidity', 'incentives', 'lendingState', 'oracle', 'sharedLiquidity'],
    ]);
    expect(last.facts.sharedLiquidity?.value).toEqual({ sources: [] });
  });

  test('marketsAt: a divergence that is gone at the block is gone with its warning', () => {
    const divergence: OracleDivergence = {
      against: 'price',
      oracleUsd: of(2),
      referenceUsd: of(1),
      divergencePct: of(100),
    };
    const offPeg = (field: string) => ({ code: 'off_peg', field, value: '1', message: field });
    const [oracle, peg] = ['oracle', 'loan.priceUsd'].map(offPeg) as unknown as ComposedMarket['warnings'];
    const changed = { ...last, oracleDivergence: divergence, warnings: [oracle, peg] } as ComposedMarket;
    const markets = new Map([[market.id, changed]]);
    const { price } = last.facts.oracle.value;
    const at = {
      timestamp: last.facts.lendingState.value.blockTimestamp + 60n,
      lending: new Map(),
      oracle: new Map([[market.oracle, { ...last.facts.oracle.value, price }]]),
    };
    const values = marketsAt({ ...composed, lookup: { ...composed.lookup, markets } }, at).get(market.id);
    expect([values?.oracleDivergence, values?.warnings]).toEqual([undefined, [peg]]);
  });

  test('composeMarket: means are taken over while only time passes, and made anew while their window still moves', () => {
    const compose = (nowMs: number, given: typeof facts, previous?: ComposedMarket) => {
      const known = previous && new Map([[market.id, previous]]);
      return composeMarket(market, compositionContext(ethereum, given, BUDGETS, nowMs, known))
        .composed as ComposedMarket;
    };
    const first = compose(NOW_MS, facts);
    expect(compose(NOW_MS + 1_000, facts, first).averaged).toBe(first.averaged);
    for (const [group, key] of [
      ['borrowHistory', market.id],
      ['collateralApy', market.collateral.address],
    ] as const) {
      // Measured by a clock that is ahead: the window ends now, and later with the time.
      const value = facts.groups[group].items.get(key as never)?.value as never;
      const ahead = withItem(facts, group, key, { value, asOfMs: NOW_MS + 60_000 });
      const before = compose(NOW_MS, ahead);
      expect(compose(NOW_MS, ahead, before).averaged).toBe(before.averaged);
      expect(compose(NOW_MS + 1_000, ahead, before).averaged).not.toBe(before.averaged);
    }
  });

  test('a principal token shows its maturity', () => {
    const principal = marketOf(ethereum, 'PT-stcUSD', 'USDC');
    const { collateral } = strategyOf(facts, principal.id);
    const maturity = principal.collateral.maturity as number;
    expect(collateral.maturity).toBe(maturity);
    expect(strategyOf(facts, market.id).collateral.maturity).toBeNull();
    expect(gapOf(strategyOf(facts, market.id), 'collateral.maturesAt')?.reason).toBe('NOT_APPLICABLE');
  });
});

describe('netCollateralOf', () => {
  const token = { collateral: { decimals: 0 } } as ComposedMarket['market'];
  const net = (collateral: bigint, collateralValue: bigint, debt: bigint) =>
    netCollateralOf({ collateral, collateralValue, debt } as never, token).toFixed();

  test.each([
    ['without debt: all of it', net(7n, 70n, 0n), '7'],
    ['of no value: all of it', net(7n, 0n, 5n), '7'],
    ['half of it', net(8n, 80n, 40n), '4'],
    ['rounded down', net(7n, 70n, 36n), '3'],
    ['nothing', net(7n, 70n, 70n), '0'],
    ['less than nothing, exactly', net(7n, 70n, 80n), '-1'],
    ['less than nothing, rounded down', net(7n, 70n, 81n), '-2'],
  ])('behavior: %s', (_name, found, expected) => {
    expect(found).toBe(expected);
  });
});

test('composeTvl: the sums of a divergence are rounded to cents', () => {
  const sUSDe = marketOf(ethereum, 'sUSDe', 'DAI');
  const priced = withItem(facts, 'price', sUSDe.collateral.address, { value: { usd: of('1.9') } });
  const position = {
    ...({ wallet: '0x00000000000000000000000000000000000000a1', marketId: sUSDe.id, open: true } as const),
    collateral: 10n ** 18n / 3n,
    borrowShares: (10n ** 24n * 2n) / 7n,
  };
  const outcome = composeTvl(tvlMarkets(ethereum, priced), [position], NOW_MS);
  if (!outcome.computed) throw new Error('not computed');
  const [divergence] = outcome.tvl.oracleDivergences ?? [];
  // A third of a token at 1.07 and a loan token at 0.9998 USD is 0.35659… USD.
  expect(divergence?.grossTvlUsd.toFixed()).toBe('0.36');
  // Two sevenths of the shares, of which one is worth 1.0625 and a little interest.
  expect([divergence?.borrowedUsd.toFixed(), outcome.tvl.borrowedUsd.toFixed()]).toEqual(['0.3', '0.3']);
});

test('composeStrategy: a field that is not known is absent', () => {
  const silent = ['borrowHistory', 'incentives', 'incentiveHistory', 'exitLiquidity', 'price'] as const;
  for (const chain of [ethereum, robinhood]) {
    const known = completeFacts(chain);
    const groups = { ...known.groups };
    for (const group of silent) groups[group] = { ...known.groups[group], items: new Map() } as never;
    const oracle = [...known.groups.oracle.items].map(([key, fact]) => [
      key,
      { ...fact, value: { ...fact.value, feeds: undefined } },
    ]);
    groups.oracle = { ...known.groups.oracle, items: new Map(oracle as never) };
    const { strategies, markets } = composeChain(chain, { ...known, groups }, { ...PARAMS, appUrl: undefined });
    expect(strategies.length).toBeGreaterThan(0);
    const undefinedIn = (one: object) =>
      Object.entries(one).flatMap(([field, value]) => (value === undefined ? field : []));
    expect([...new Set([...strategies, ...markets].flatMap(undefinedIn))]).toEqual([]);
  }
});
