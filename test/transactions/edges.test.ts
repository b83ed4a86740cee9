import { Market as SdkMarket } from '@morpho-org/blue-sdk';
import { describe, expect, test } from 'vitest';
import type { EquityVault, Market } from '../../src/catalog/types.ts';
import type { ComposedChain } from '../../src/domain/market/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address, StrategyId } from '../../src/shared/ids.ts';
import { requireOpenVault } from '../../src/transactions/equity/eligibility.ts';
import { LimitExceededError, SimulationMismatchError, SimulationRevertedError } from '../../src/transactions/errors.ts';
import { requireEligible, requireSoundPrices } from '../../src/transactions/guards.ts';
import { liquidityNeeds } from '../../src/transactions/liquidity.ts';
import { buildManagePlan } from '../../src/transactions/manage/index.ts';
import { largestPart, mostOfPart, shareOfDebt } from '../../src/transactions/manage/part.ts';
import { buildOpenPlan, prepareOpen } from '../../src/transactions/open/index.ts';
import { costBasis, equityValueOf, pricedCosts, reallocationFees } from '../../src/transactions/preview/costs.ts';
import { liquidationOf } from '../../src/transactions/preview/economics.ts';
import { ltvPctOf } from '../../src/transactions/preview/ltv.ts';
import { borrowApyChange } from '../../src/transactions/preview/rates.ts';
import { withVenues } from '../../src/transactions/quote/attempts.ts';
import { requireLossWithin } from '../../src/transactions/quote/bounds.ts';
import { referenceFor } from '../../src/transactions/quote/reference.ts';
import { heldSlippage } from '../../src/transactions/quote/slippage.ts';
import { planAllocator } from '../../src/transactions/read/allocator.ts';
import { type LiveMarket, paramsOf } from '../../src/transactions/read/market-state.ts';
import { createPositionDirectory } from '../../src/transactions/read/position.ts';
import { planWallet } from '../../src/transactions/read/wallet.ts';
import { planReallocation, reallocatable } from '../../src/transactions/reallocation.ts';
import { positionShortfall, swapShortfall, toleranceOf } from '../../src/transactions/simulate/shortfall.ts';
import type { PlannedSwap } from '../../src/transactions/types.ts';
import { depsOf, loopMarket, manageIn, type Scene, servedChain, tokenOn, USER, whole } from './model/scene.ts';

const market = loopMarket(1, 'sUSDe', 'PYUSD');
const chain = servedChain(1);
const [vault] = servedChain(4663).equityVaults as [EquityVault];
const d = (value: string | number) => new Decimal(value);
const PRICE = 107n * 10n ** 22n;
const [loan, collateral] = [market.loan, market.collateral];
const before = { loop: { collateral: whole(8_000, collateral), debt: whole(6_000, loan) }, basis: whole(2_400, loan) };
const refused = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return 'accepted';
};
const refusal = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

/** A market whose debt is worth one share each, with so much lent and held. */
function liveOf(supplied: bigint, borrowed: bigint, idle = supplied - borrowed): LiveMarket {
  const sdk = new SdkMarket({
    ...{ params: paramsOf(market), totalSupplyAssets: supplied, totalSupplyShares: supplied * 1_000_000n },
    ...{ totalBorrowAssets: borrowed, totalBorrowShares: borrowed * 1_000_000n },
    ...{ lastUpdate: 1_780_000_000n, fee: 0n, price: PRICE, rateAtTarget: 1_268_391_679n },
  });
  return { sdk, price: PRICE, liquidity: supplied - borrowed, idle, readAt: { blockTimeMs: 0 } };
}

describe('a position at an oracle price', () => {
  test.each([
    [0n, 0n, undefined],
    [0n, 5n, undefined],
    [10n ** 18n, 0n, undefined],
    [1n, 1n, 'known'],
  ])('behavior: %s of collateral with a debt of %s can be liquidated: %s', (held, debt, expected) => {
    expect(liquidationOf(market, { collateral: held, debt }, PRICE) && 'known').toBe(expected);
  });

  test('behavior: its LTV is unknown where it has debt and no value, and zero without both', () => {
    expect(ltvPctOf({ collateral: 0n, debt: 1n }, PRICE)).toBeUndefined();
    expect(ltvPctOf({ collateral: 0n, debt: 0n }, PRICE)?.toFixed()).toBe('0');
    expect([equityValueOf(before.loop, PRICE), equityValueOf({ collateral: 0n, debt: 7n }, PRICE)]).toEqual([
      whole(2_560, loan),
      -7n,
    ]);
  });
});

describe('the borrow rate', () => {
  const rate = (debt: bigint, moved = 0n) => borrowApyChange(liveOf(1_000n, 900n), debt, moved);

  test('behavior: the smallest borrow, repayment and move of liquidity count', () => {
    const { before: now, after } = rate(1n);
    expect(after.gt(now)).toBe(true);
    expect(rate(-1n).after.lt(now)).toBe(true);
    expect(rate(0n, 1n).after.lt(now)).toBe(true);
    expect(rate(0n).after.eq(now)).toBe(true);
  });
});

describe('costs', () => {
  const usdOf = (prices: Readonly<Record<string, string>>) => (address: Address) => {
    const symbol = chain.tokens.find((token) => token.address === address)?.symbol ?? '';
    return prices[symbol] === undefined ? undefined : d(prices[symbol]);
  };
  const eth = tokenOn(1, 'ETH');
  const fee = { kind: 'REALLOCATION_FEE', token: eth, amount: d('0.5') } as const;
  const own = { kind: 'YIELD_FEE', token: collateral, amount: d(2), valueInLoan: d(3) } as const;
  const priced = (
    items: Parameters<typeof pricedCosts>[0]['items'],
    prices: Readonly<Record<string, string>>,
    equity = 100,
  ) =>
    pricedCosts({ items, equity: d(equity) }, usdOf(prices), loan.address).map(({ usd, pctOfEquity }) => [
      usd?.toFixed(),
      pctOfEquity?.toFixed(),
    ]);

  test.each([
    ['with both prices', { ETH: '2000', PYUSD: '0.5' }, ['1000', '2000'], ['1.5', '3']],
    ['without the price of the native token', { PYUSD: '0.5' }, [undefined, undefined], ['1.5', '3']],
    ['without the price of the loan token', { ETH: '2000' }, ['1000', undefined], [undefined, '3']],
    ['with a loan token that is worth nothing', { ETH: '2000', PYUSD: '0' }, ['1000', undefined], ['0', '3']],
    ['with the price of the collateral', { sUSDe: '7', PYUSD: '0.5' }, [undefined, undefined], ['14', '3']],
  ])('behavior: are valued %s', (_, prices, ofNative, ofCollateral) => {
    expect(priced([fee, own], prices)).toEqual([ofNative, ofCollateral]);
  });

  test('behavior: have no share of an equity of nothing', () => {
    expect(priced([own], {}, 0)).toEqual([[undefined, undefined]]);
    expect(priced([own], {}, -1)).toEqual([[undefined, undefined]]);
  });

  test('behavior: fees of vaults are one cost, and none where they are free', () => {
    const reallocation = (feeWei: bigint) => ({ vault: USER, feeWei, withdrawals: [] });
    expect(reallocationFees([reallocation(0n)], eth)).toEqual([]);
    expect(reallocationFees([reallocation(1n), reallocation(2n)], eth)).toEqual([
      { kind: 'REALLOCATION_FEE', token: eth, amount: d('3e-18') },
    ]);
  });

  test('behavior: what all swaps lose is unknown where nothing prices one of them', () => {
    const swap = (reference?: bigint) =>
      ({
        ...{ tokenIn: loan, tokenOut: loan, expectedOut: 90n, feeBps: 0, reference, quote: { amountIn: 100n } },
        lossPct: reference === undefined ? undefined : d(10),
      }) as unknown as PlannedSwap;
    const total = (...swaps: readonly PlannedSwap[]) =>
      costBasis({
        swaps: swaps.map((one) => ({ kind: 'ENTRY_SWAP', swap: one })),
        loan,
        equity: 1_000n,
      }).totalSwapCostPctOfEquity?.toFixed();
    expect([total(), total(swap(100n)), total(swap(100n), swap(100n)), total(swap(80n))]).toEqual(['0', '1', '2', '0']);
    expect([total(swap()), total(swap(100n), swap()), total(swap(), swap(100n))]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a part of a position', () => {
  const held = (debt: bigint, idle = whole(1_000_000, loan)) => ({
    ...{ market, live: { ...liveOf(whole(2_000_000, loan), whole(1_000_000, loan)), idle } },
    position: { ...{ id: 0, collateral: whole(100, collateral), debt, borrowShares: debt * 1_000_000n }, basis: 0n },
  });

  test('behavior: without debt all but one unit may be sold, and nothing is repaid', () => {
    const free = held(0n);
    expect([mostOfPart(free), largestPart(free), shareOfDebt(free, 50n)]).toEqual([
      whole(100, collateral) - 1n,
      whole(100, collateral) - 1n,
      0n,
    ]);
  });

  test('behavior: at its liquidation LTV no part may be sold, one unit below it hardly any', () => {
    // 100 at 1.07 and 91.5 % carry 97.905.
    expect([97_905_001n, 97_905_000n, 97_904_999n].map((debt) => mostOfPart(held(debt)))).toEqual([0n, 0n, 0n]);
    const some = held(whole(50, loan));
    expect(mostOfPart(some) > 0n && mostOfPart(some) < whole(100, collateral)).toBe(true);
  });

  test('behavior: is no larger than what the protocol holds of its debt', () => {
    expect(largestPart(held(whole(50, loan), whole(25, loan)))).toBeLessThan(whole(50, collateral));
    expect(largestPart(held(whole(50, loan), whole(25, loan)))).toBeGreaterThan(whole(49.9, collateral));
    expect(largestPart(held(whole(50, loan), 0n))).toBe(0n);
    expect(shareOfDebt(held(whole(50, loan)), whole(50, collateral))).toBeGreaterThan(whole(25, loan));
  });

  const reverting = (reason: string, retryable: boolean, scene: Scene = { market, before }) => {
    const { deps } = depsOf(scene);
    const node = deps.node(1);
    const simulate = async () => {
      throw new SimulationRevertedError({ reason, args: [], callIndex: 0 }, retryable);
    };
    return { ...scene, deps: { node: () => ({ ...node, simulator: { ...node.simulator, simulate } }) } };
  };

  test('error: that of a revert, where nothing else explains it', async () => {
    const sell = (scene: Scene, amount: number) => refusal(manageIn(scene, { action: 'close', amount: d(amount) }));
    expect(await sell(reverting('Slippage', true), 4_000)).toBeInstanceOf(SimulationRevertedError);
    expect(await sell(reverting('paused', false), 4_000)).toBeInstanceOf(SimulationRevertedError);
  });

  test('error: that the rest could not be held, where the position is at its liquidation LTV', async () => {
    const full = { ...before, loop: { ...before.loop, debt: whole(7_833, loan) } };
    const error = await refusal(
      manageIn(reverting('insufficient collateral', false, { market, before: full }), {
        action: 'close',
        amount: d(4_000),
      }),
    );
    expect(error).toBeInstanceOf(LimitExceededError);
    expect(error).toMatchObject({ details: { field: 'amount', value: '4000', limit: { liquidationLtvPct: '91.5' } } });
    expect((error as Error).message).toContain('Leave amount out to close the whole position');
  });

  test('error: that the protocol holds too little for it', async () => {
    const poor = {
      ...{ market, before },
      answers: {
        balanceOf: ({ data }: { readonly data: string }) =>
          data.includes(chain.contracts.morphoBlue.slice(2).toLowerCase()) ? whole(2_000, loan) : 10n ** 30n,
      },
    };
    const error = await refusal(
      manageIn(reverting('transfer reverted', true, poor), { action: 'close', amount: d(4_000) }),
    );
    expect(error).toMatchObject({ code: 'insufficient_liquidity', details: { place: 'protocol', available: '2000' } });
  });
});

describe('a position that a reorganization moved', () => {
  const moved = (times: number) => {
    const scene: Scene = { market, before };
    const { deps } = depsOf(scene);
    let bound = 0;
    const forgotten: number[] = [];
    const positions = {
      bind: async () => {
        bound += 1;
        return { market, proxy: bound > times ? depsOf(scene).proxy : USER };
      },
      forget: (_chain: unknown, _user: unknown, id: number) => void forgotten.push(id),
    };
    const built = buildManagePlan(deps, positions, { chainId: 1, user: USER, id: 3, action: 'close' });
    return { built, forgotten, bound: () => bound };
  };

  test('behavior: is looked up once more, and forgotten before', async () => {
    const { built, forgotten, bound } = moved(1);
    expect([(await built).path, forgotten, bound()]).toEqual(['deleverage', [3], 2]);
  });

  test('error: implausible where it moves again', async () => {
    const { built, forgotten, bound } = moved(9);
    expect([await refusal(built), forgotten, bound()]).toEqual([
      expect.objectContaining({ reason: 'implausible' }),
      [3, 3],
      2,
    ]);
  });
});

describe('liquidity of vaults', () => {
  const source = (vaultN: number, marketN: number, movable: bigint, more: object = {}) => ({
    ...{ vault: `0x${String(vaultN).repeat(40)}` as Address, feeWei: 0n, maxIn: 1_000n },
    ...{ marketId: `0x${String(marketN).repeat(64)}` as never, market: paramsOf(market), liquidity: 1_000n, movable },
    ...more,
  });
  const moves = (plan: ReturnType<typeof planReallocation>) =>
    plan?.reallocations.map(({ vault: of, feeWei, withdrawals }) => [
      `${of[2]} for ${feeWei}`,
      ...withdrawals.map(({ marketId, amount }) => `${marketId[2]}:${amount}`),
    ]);

  test('behavior: free vaults come first, then those with the most to move; a hundredth more than the gap is moved', () => {
    const sources = [
      source(1, 1, 100n, { feeWei: 2n }),
      source(2, 1, 60n),
      source(3, 1, 90n),
      source(4, 1, 500n, { maxIn: 70n }),
    ];
    expect(moves(planReallocation(sources, 0n, 200n))).toEqual([
      ['3 for 0', '1:90'],
      ['4 for 0', '1:70'],
      ['2 for 0', '1:42'],
    ]);
    expect(moves(planReallocation(sources, 0n, 230n))?.at(-1)).toEqual(['1 for 2', '1:12']);
    expect([reallocatable(sources), reallocatable([])]).toEqual([320n, 0n]);
  });

  test('behavior: of one vault the largest market is emptied first, and withdrawals ascend by market', () => {
    const sources = [source(1, 3, 30n), source(1, 1, 50n), source(1, 2, 40n), source(1, 9, 0n)];
    expect(moves(planReallocation(sources, 0n, 100n))).toEqual([['1 for 0', '1:50', '2:40', '3:11']]);
    expect(planReallocation(sources, 0n, 121n)).toBeUndefined();
    expect(planReallocation(sources, 0n, 120n)?.moved).toBe(120n);
  });

  test('behavior: the liquidity of a market is counted once for all vaults', () => {
    const sources = [source(1, 1, 80n, { liquidity: 100n }), source(2, 1, 80n, { liquidity: 100n })];
    expect(moves(planReallocation(sources, 0n, 99n))).toEqual([
      ['1 for 0', '1:80'],
      ['2 for 0', '1:19'],
    ]);
    expect(reallocatable(sources)).toBe(100n);
    // A market that lends exactly the loan has nothing left over: at least one unit is moved.
    expect(planReallocation(sources, 99n, 99n)?.moved).toBe(1n);
  });

  test('behavior: a source moves the lesser of its cap and its supply, out of what its market has', () => {
    const shared = (assets: readonly bigint[]) => ({
      sources: assets.map((amount, i) => ({
        ...{
          vault: `0x${String(i + 1)
            .padStart(2, '0')
            .repeat(20)}` as Address,
          withdrawMarketId: market.id,
          assets: amount,
          feeWei: 0n,
        },
      })),
    });
    const plan = planAllocator(chain, market, shared([1n, 3n]));
    const params = ['0x1', '0x2', '0x3', '0x4', 5n];
    const answers = (supply: bigint, borrow: bigint, cap: bigint, shares: bigint) => [
      ...[params, [supply, supply * 1_000_000n, borrow, 0n, 0n, 0n], [shares, 0n, 0n], [0n, cap], [77n, 0n], 9n],
    ];
    const folded = plan.fold([...answers(100n, 40n, 50n, 30_000_000n), ...answers(40n, 41n, 10n, 30_000_000n)], {
      timestamp: 1n,
    });
    expect(
      folded.map(({ vault: of, ...rest }) => [of[3], rest.liquidity, rest.movable, rest.maxIn, rest.feeWei]),
    ).toEqual([
      ['2', 60n, 30n, 77n, 9n],
      ['1', 0n, 10n, 77n, 9n],
    ]);
    const many = planAllocator(chain, market, shared(Array.from({ length: 41 }, (_, i) => BigInt(i))));
    expect([many.reads.length, planAllocator(chain, market, undefined).reads]).toEqual([240, []]);
    expect(planAllocator(servedChain(4663), market, shared([1n])).reads).toEqual([]);
  });
});

describe('what the wallet has', () => {
  const spenders = [chain.contracts.flashLeverage, chain.contracts.flashLeverageRouter];
  const token = { ...loan, isNative: false };

  test('behavior: native tokens are balance and payment at once; nothing is paid without a token', () => {
    const native = planWallet(chain, USER, { ...tokenOn(1, 'ETH') }, spenders);
    expect([native.reads.length, native.fold([5n], { timestamp: 1n })]).toEqual([
      1,
      { native: 5n, balance: 5n, allowances: new Map() },
    ]);
    expect(planWallet(chain, USER, undefined, spenders).fold([5n], { timestamp: 1n })).toMatchObject({
      native: 5n,
      balance: 0n,
    });
  });

  test('behavior: a token has an allowance for every spender; nothing may be missing', () => {
    const plan = planWallet(chain, USER, token, spenders);
    expect(plan.fold([5n, 6n, 7n, 8n], { timestamp: 1n })).toEqual({
      ...{ native: 5n, balance: 6n },
      allowances: new Map([
        [spenders[0], 7n],
        [spenders[1], 8n],
      ]),
    });
    for (let i = 0; i < 4; i += 1) {
      expect(() => plan.fold([5n, 6n, 7n, 8n].with(i, undefined as never), { timestamp: 1n })).toThrow();
    }
  });

  test('behavior: a token that could be lent in simulation is looked up for a wallet that signs', async () => {
    const prepared: string[] = [];
    const { deps: plain } = depsOf({ market, before });
    const node = plain.node(1);
    const prepare = async ({ symbol }: { readonly symbol: string }) => {
      prepared.push(symbol);
      return undefined;
    };
    const deps = { ...plain, node: () => ({ ...node, simulator: { ...node.simulator, prepare } }) };
    const opening = {
      ...{ chainId: 1, strategyId: market.id as string as StrategyId, payToken: collateral.address },
      ...{ amount: d(1_000), leverage: d(3) },
    };
    await prepareOpen(deps, opening);
    expect(prepared).toEqual([]);
    await buildOpenPlan(deps, opening, USER);
    const manage = { chainId: 1, user: USER, id: 0 } as const;
    await buildManagePlan(deps, createPositionDirectory(), {
      ...{ ...manage, action: 'repay', amount: d(1), payToken: loan.address },
    });
    await buildManagePlan(deps, createPositionDirectory(), { ...manage, action: 'close' });
    expect(prepared).toEqual(['sUSDe', 'PYUSD']);
  });
});

describe('a swap', () => {
  const swap = (expectedOut: bigint, minOut: bigint, more: object = {}) =>
    ({
      ...{ tokenIn: collateral, tokenOut: loan, expectedOut, minOut, feeBps: 0, reference: expectedOut },
      ...{ quote: { source: 'AggregatorOne', amountIn: 1n, amountOut: expectedOut } },
      ...more,
    }) as unknown as PlannedSwap;

  test.each([
    [1_000n, 995n, 1_000n, '0'],
    [1_000n, 995n, 999n, '0.001'],
    [1_000n, 995n, 996n, '0.004'],
    [1_000n, 995n, 1_001n, '0'],
    [1_000n, 990n, 995n, '0.005'],
  ])('behavior: of %s with a minimum raised from %s to %s a slippage of %s holds', (out, least, raised, held) => {
    const { value } = heldSlippage({ value: d('0.005') }, [{ before: swap(out, least), after: swap(out, raised) }]);
    expect(value.toFixed()).toBe(held);
  });

  test('behavior: the tightest of several counts, and the first request is named', () => {
    const requested = { value: d('0.005'), tightenedFrom: d('0.01') };
    const planned = [996n, 999n, 997n].map((raised) => ({ before: swap(1_000n, 995n), after: swap(1_000n, raised) }));
    expect(heldSlippage(requested, planned)).toEqual({ value: d('0.001'), tightenedFrom: d('0.01') });
    expect(heldSlippage({ value: d('0.005') }, planned)).toMatchObject({ tightenedFrom: d('0.005') });
    expect(heldSlippage(requested, [])).toBe(requested);
  });

  const loss = (lost: bigint, equity: bigint, more: object = {}) =>
    refused(() =>
      requireLossWithin({
        swaps: [{ swap: swap(10_000n - lost, 0n, { reference: 10_000n, lossPct: d(Number(lost)).div(100) }) }],
        ...{ equity, boundsTotal: true, largestPct: d(10), requested: { field: 'amount', value: '1' } },
        ...more,
      } as Parameters<typeof requireLossWithin>[0]),
    ) as LimitExceededError;

  test('behavior: names the loss that would have to be accepted, as far as it may be', () => {
    expect(loss(101n, 10_100n).details?.limit).toEqual({ maxPriceImpactPct: '1', maxSwapLossPct: '1' });
    expect(loss(101n, 1_010n).details?.limit).toEqual({ maxPriceImpactPct: '1', maxSwapLossPct: '10' });
    expect(loss(101n, 1_009n).details?.limit).toEqual({ maxPriceImpactPct: '1' });
    expect(loss(101n, 1_009n).message).toContain('not even the largest maxSwapLossPct, 10, would allow it');
    expect(loss(101n, 0n).message).toContain('more than the equity');
    expect(loss(101n, 1_010n).message).toContain('accept it with maxSwapLossPct 10.');
  });

  test('behavior: two percent of the equity are within the bound where risk is added, and no bound elsewhere', () => {
    expect([loss(100n, 5_000n), loss(100n, 4_999n) instanceof LimitExceededError]).toEqual(['accepted', true]);
    expect(loss(100n, 100n, { boundsTotal: false })).toBe('accepted');
    expect(loss(50n, 5_000n, { fees: 50n })).toBe('accepted');
    expect(loss(50n, 5_000n, { fees: 51n }).details?.limit).toMatchObject({ maxTotalLossPct: '2' });
    expect(loss(500n, 10_000n, { maxSwapLossPct: d(5) })).toBe('accepted');
    expect(loss(501n, 10_000n, { maxSwapLossPct: d(5) }).details?.limit).toMatchObject({ maxTotalLossPct: '5' });
    expect(loss(0n, 0n, { maxSwapLossPct: d(0) })).toBe('accepted');
    expect(loss(1n, 0n, { maxSwapLossPct: d(5) })).toBeInstanceOf(LimitExceededError);
  });

  test('behavior: is valued at the oracle in both directions, else at USD prices of both tokens', () => {
    const usdc = tokenOn(1, 'USDC');
    const value = (tokenIn: typeof usdc, tokenOut: typeof usdc, prices: Readonly<Record<string, string>>) =>
      referenceFor({
        ...{ market, price: PRICE, tokenIn, tokenOut, amountIn: 10n ** BigInt(tokenIn.decimals) },
        usdOf: (address) => {
          const symbol = chain.tokens.find((one) => one.address === address)?.symbol ?? '';
          return prices[symbol] === undefined ? undefined : d(prices[symbol]);
        },
      });
    expect(value(collateral, loan, {})).toEqual({ amountOut: 1_070_000n, basis: 'ORACLE' });
    expect(value(loan, collateral, {})?.amountOut).toBe((10n ** 18n * 100n) / 107n);
    expect(value(usdc, loan, { USDC: '1', PYUSD: '0.5' })).toEqual({ amountOut: 2_000_000n, basis: 'USD' });
    expect(value(usdc, collateral, { USDC: '1', PYUSD: '0.5' })?.amountOut).toBe(1_869_158_878_504_672_897n);
    expect([value(usdc, loan, { USDC: '1' }), value(usdc, loan, { PYUSD: '1' })]).toEqual([undefined, undefined]);
    expect(value(usdc, loan, { USDC: '1', PYUSD: '0' })).toBeUndefined();
    expect(value(usdc, collateral, { USDC: '1', sUSDe: '5' })).toBeUndefined();
  });

  test('behavior: may lack a thousandth in simulation, or a fifth of the slippage', () => {
    expect([toleranceOf(d('0.001')).toFixed(), toleranceOf(d('0.01')).toFixed()]).toEqual(['0.001', '0.002']);
    const short = (received: bigint, capped = false) =>
      swapShortfall(
        [{ swap: swap(100_000n, 0n, { quote: { source: 'AggregatorOne', amountOut: 101_000n } }), received }],
        d('0.005'),
        capped,
      );
    expect([short(100_899n), short(100_898n)?.expected, short(99_900n, true), short(99_899n, true)]).toEqual([
      undefined,
      '0.101',
      undefined,
      {
        ...{ of: 'swap_output', expected: '0.1', simulated: '0.099899', tolerancePct: '0.10', source: 'AggregatorOne' },
        token: { address: loan.address, symbol: loan.symbol },
        swap: { tokenIn: collateral.address, tokenOut: loan.address },
      },
    ]);
    const net = (debt: bigint, swapped: bigint) =>
      positionShortfall({
        ...{ planned: { collateral: 0n, debt: -1_000_000n }, simulated: { collateral: 0n, debt } },
        ...{ price: PRICE, loan, swapped, slippage: d('0.005') },
      });
    expect([net(-999_998n, 0n), net(-999_997n, 0n)?.simulated, net(-999_000n, 1_000_000n)]).toEqual([
      undefined,
      '0.999997',
      undefined,
    ]);
    expect(net(-998_999n, 1_000_000n)).toMatchObject({ expected: '1', simulated: '0.998999', tolerancePct: '0.10' });
  });
});

describe('attempts', () => {
  /** A build that fails so many times. */
  async function attemptsOf(failures: readonly Error[]) {
    const { deps } = depsOf({ market });
    let runs = 0;
    const built = withVenues(deps, async (attempt) => {
      await attempt.quoter.quote({
        ...{
          chain,
          tokenIn: loan.address,
          tokenOut: collateral.address,
          amountIn: 100n,
          sender: USER,
          recipient: USER,
        },
        ...{ slippage: d('0.005'), feeBps: 0 },
      });
      const failure = failures[runs];
      runs += 1;
      if (failure) throw failure;
      return 'built';
    });
    return [await refusal(built), runs];
  }
  const reverted = (reason: string, retryable: boolean) =>
    new SimulationRevertedError({ reason, args: [], callIndex: 0 }, retryable);
  const short = new SimulationMismatchError(
    {
      ...{
        of: 'swap_output',
        expected: '2',
        simulated: '1',
        token: loan,
        tolerancePct: '0.1',
        source: 'AggregatorOne',
      },
      swap: { tokenIn: loan.address, tokenOut: collateral.address },
    },
    1,
  );

  test('behavior: the third one may succeed', async () => {
    expect(await attemptsOf([reverted('Slippage', true), reverted('Slippage', true)])).toEqual(['built', 3]);
    expect(await attemptsOf([short, short])).toEqual(['built', 3]);
  });

  test('behavior: an unknown revert is tried again, one that no quote cures is not', async () => {
    expect(await attemptsOf([reverted('unknown', false)])).toEqual(['built', 2]);
    const final = reverted('paused', false);
    expect(await attemptsOf([final])).toEqual([final, 1]);
  });

  test('error: the latest failure of a swap, whatever follows it; a defect at once', async () => {
    const [first, defect] = [reverted('Slippage', true), new TypeError('a defect')];
    const other = reverted('paused', false);
    expect(await attemptsOf([first, other, other])).toEqual([first, 3]);
    expect(await attemptsOf([first, short, other])).toEqual([short, 3]);
    expect(await attemptsOf([first, defect])).toEqual([defect, 2]);
  });
});

describe('what is not offered', () => {
  const composedOf = (strategy: object): ComposedChain => ({ strategies: [strategy] }) as unknown as ComposedChain;
  const strategy = (id: string, checks: readonly object[] = [], warnings: readonly object[] = []) =>
    composedOf({ id, visibility: { checks }, spiralHints: { warnings } });
  const check = (name: string, more: object = {}) => ({ name, passed: false, value: '3', threshold: '7', ...more });
  const matured = (of: Market, maturity: number | undefined, more: object = {}): Market => ({
    ...of,
    collateral: { ...of.collateral, maturity, ...more } as Market['collateral'],
  });
  const open = (...checks: readonly object[]) =>
    refused(() => requireEligible(market, strategy(market.id, checks), 5_000_000)) as { details?: object };

  test.each([
    ['swap_route', 'no_swap_route'],
    ['maturity', 'near_maturity'],
    ['has_yield', 'not_listed'],
    ['venue_not_allowed', 'venue_not_allowed'],
    ['operator_not_approved', 'operator_not_approved'],
  ])('error: NotEligible for a strategy that fails %s', (name, reason) => {
    expect(open(check('liquidity'), check(name))).toMatchObject({ details: { reason } });
    expect(open(check(name, { passed: true }))).toBe('accepted');
    expect(open(check(name, { value: undefined, threshold: undefined }))).toMatchObject({
      message: expect.stringContaining('unknown'),
    });
  });

  test('behavior: liquidity alone, another strategy, or none at all, is no reason', () => {
    expect(open(check('liquidity'))).toBe('accepted');
    expect(refused(() => requireEligible(market, strategy('another', [check('has_yield')]), 0))).toBe('accepted');
    expect(refused(() => requireSoundPrices(undefined))).toBe('accepted');
  });

  test('error: NotEligible for a token without a swap route, or one that matures now', () => {
    const none = strategy(market.id);
    expect(refused(() => requireEligible(matured(market, undefined, { noSwapRoute: true }), none, 0))).toMatchObject({
      details: { reason: 'no_swap_route' },
    });
    expect(refused(() => requireEligible(matured(market, 5), none, 5_000))).toMatchObject({
      details: { reason: 'matured' },
    });
    expect(refused(() => requireEligible(matured(market, 5), none, 4_999))).toBe('accepted');
  });

  test.each([
    ['off_peg', 'off_peg'],
    ['oracle_divergence', 'oracle_divergence'],
    ['oracle_out_of_range', 'oracle_divergence'],
  ])('error: NotEligible for the warning %s, behind others', (code, reason) => {
    const warnings = [
      { code: 'low_liquidity', message: 'Low.' },
      { code, message: 'Wrong.' },
    ];
    const error = refused(() => requireSoundPrices({ spiralHints: { warnings } } as never));
    expect(error).toMatchObject({ message: 'Wrong. Nothing is opened while that is so.', details: { reason } });
    expect(refused(() => requireSoundPrices({ spiralHints: { warnings: warnings.slice(0, 1) } } as never))).toBe(
      'accepted',
    );
  });

  test('error: NotEligible for a vault that could not be sold again, or matures', () => {
    const ask = (of: EquityVault, checks: readonly object[] = [], nowMs = 5_000) =>
      refused(() => requireOpenVault(of, strategy(vault.id, checks), nowMs));
    expect(ask(vault)).toBe('accepted');
    expect(ask({ ...vault, stock: { ...vault.stock, noSwapRoute: true } })).toMatchObject({
      message: expect.stringContaining(`${vault.stock.symbol} has no swap route`),
      details: { reason: 'no_swap_route' },
    });
    const yieldToken = vault.yieldMarket.collateral.symbol;
    expect(ask({ ...vault, yieldMarket: matured(vault.yieldMarket, undefined, { noSwapRoute: true }) })).toMatchObject({
      message: expect.stringContaining(`${yieldToken} has no swap route`),
    });
    expect(ask(vault, [check('liquidity'), check('swap_route')])).toMatchObject({
      message: expect.stringContaining(`${vault.stock.symbol} has no swap route`),
    });
    const maturing = { ...vault, yieldMarket: matured(vault.yieldMarket, 5) };
    expect([ask(maturing), ask(maturing, [], 4_999)]).toEqual([
      expect.objectContaining({ details: { reason: 'matured' } }),
      'accepted',
    ]);
    expect(ask(vault, [check('liquidity'), check('maturity')])).toMatchObject({
      message: expect.stringContaining('matures in 3 days, and at least 7 are wanted'),
      details: { reason: 'near_maturity', rule: 'maturity' },
    });
    expect(ask(vault, [check('maturity', { value: undefined, threshold: undefined })])).toMatchObject({
      message: expect.stringContaining('matures in too few days, and at least some are wanted'),
    });
    expect(ask(vault, [check('maturity', { passed: true }), check('swap_route', { passed: true })])).toBe('accepted');
  });
});

test('liquidityNeeds: what nobody reads is not there', () => {
  expect(liquidityNeeds([[{ kind: 'borrow', market, amount: 5n }]], [])).toEqual([
    { place: 'market', market, needed: 5n, available: 0n },
    { place: 'protocol', market, needed: 5n, available: 0n },
  ]);
});
