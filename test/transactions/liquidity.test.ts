import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InsufficientLiquidityError } from '../../src/transactions/errors.ts';
import {
  borrowingFlows,
  closingFlows,
  type Flow,
  isCovered,
  largestCovered,
  lendsWithRoom,
  liquidityNeeds,
  type MarketLiquidity,
  requireCovered,
} from '../../src/transactions/liquidity.ts';
import { planLiquidity } from '../../src/transactions/open/terms.ts';
import { catalog, RUNS } from './world.ts';

const chain = catalog.chain(4663);
const vault = chain?.equityVaults[0];
if (!vault) throw new Error('chain 4663 has equity vaults');
const { stockMarket, yieldMarket } = vault;

const liquidity = (stock: bigint, yields: bigint, idle: bigint): readonly MarketLiquidity[] => [
  { market: stockMarket, lendable: stock, idle },
  { market: yieldMarket, lendable: yields, idle },
];
const reported = (calls: readonly (readonly Flow[])[], held: readonly MarketLiquidity[]) =>
  liquidityNeeds(calls, held).map(({ place, market, needed, available }) => [place, market.id, needed, available]);

describe(liquidityNeeds, () => {
  it('default: an open needs its loan in the market, and twice the loan in the protocol', () => {
    expect(reported([borrowingFlows(yieldMarket, 100n)], liquidity(0n, 120n, 210n))).toEqual([
      ['market', yieldMarket.id, 100n, 120n],
      ['protocol', yieldMarket.id, 200n, 210n],
    ]);
  });

  it('behavior: a close needs its debt in the protocol, and nothing in the market', () => {
    expect(reported([closingFlows(yieldMarket, 100n)], liquidity(0n, 0n, 99n))).toEqual([
      ['protocol', yieldMarket.id, 100n, 99n],
    ]);
  });

  it('behavior: a vault deposit needs its stock loan and twice its flash loan at once', () => {
    const flows: Flow[] = [{ kind: 'borrow', market: stockMarket, amount: 10n }, ...borrowingFlows(yieldMarket, 100n)];
    expect(reported([flows], liquidity(15n, 100n, 209n))).toEqual([
      ['market', stockMarket.id, 10n, 15n],
      ['market', yieldMarket.id, 100n, 100n],
      ['protocol', yieldMarket.id, 210n, 209n],
    ]);
  });

  it('behavior: the repayment of one call of an exit is available to the next', () => {
    const calls = [closingFlows(yieldMarket, 40n), closingFlows(yieldMarket, 60n), closingFlows(stockMarket, 120n)];
    expect(reported(calls, liquidity(0n, 0n, 40n))).toEqual([
      ['protocol', yieldMarket.id, 40n, 40n],
      ['protocol', yieldMarket.id, 60n, 80n],
      ['protocol', stockMarket.id, 120n, 140n],
    ]);
  });

  it('behavior: is covered exactly if a ledger that pays every step in order never runs out', () => {
    const flow = fc.record({
      kind: fc.constantFrom('flash_loan' as const, 'borrow' as const, 'repay' as const),
      market: fc.constantFrom(stockMarket, yieldMarket),
      amount: fc.bigInt(0n, 50n),
    });
    const scenario = fc.record({
      calls: fc.array(fc.array(flow, { maxLength: 5 }), { maxLength: 4 }),
      stock: fc.bigInt(0n, 100n),
      yields: fc.bigInt(0n, 100n),
      elsewhere: fc.bigInt(0n, 100n),
    });
    const observed = new Set<boolean>();
    fc.assert(
      fc.property(scenario, ({ calls, stock, yields, elsewhere }) => {
        // Markets in which a call borrows and repays at once are no flow of ours: the order inside would matter.
        if (calls.some((flows) => flows.some((a) => flows.some((b) => mixes(a, b))))) return;
        const idle = stock + yields + elsewhere;
        const covered = liquidityNeeds(calls, liquidity(stock, yields, idle)).every(isCovered);
        observed.add(covered);
        expect(covered).toBe(paysOut(calls, { stock, yields, idle }));
      }),
      RUNS,
    );
    expect(observed.size).toBe(2);
  });
});

function mixes(a: Flow, b: Flow): boolean {
  return a.market === b.market && a.kind === 'borrow' && b.kind === 'repay';
}

/** Pay every step from the available liquidity, as the protocol does. */
function paysOut(
  calls: readonly (readonly Flow[])[],
  { stock, yields, idle }: { readonly stock: bigint; readonly yields: bigint; readonly idle: bigint },
): boolean {
  const lendable = new Map([
    [stockMarket.id, stock],
    [yieldMarket.id, yields],
  ]);
  let left = idle;
  for (const flows of calls) {
    let lent = 0n;
    for (const { kind, market, amount } of flows) {
      left += kind === 'repay' ? amount : -amount;
      if (kind === 'flash_loan') lent += amount;
      else lendable.set(market.id, (lendable.get(market.id) ?? 0n) + (kind === 'repay' ? amount : -amount));
      if (left < 0n || (lendable.get(market.id) ?? 0n) < 0n) return false;
    }
    left += lent;
  }
  return true;
}

describe('an amount equal to the available liquidity', () => {
  it.each([
    [99n, true, true],
    [100n, true, false],
    [101n, false, false],
  ])('behavior: of 100, %s is covered: %s; it leaves something: %s', (amount, covered, room) => {
    expect(isCovered({ needed: amount, available: 100n })).toBe(covered);
    expect(lendsWithRoom(100n, amount)).toBe(room);
  });

  it.each([
    [
      'with a public allocator',
      1,
      [
        ['reallocated', true],
        ['reallocated', true],
        ['direct', true],
      ],
    ],
    [
      'without one',
      4663,
      [
        ['refused', false],
        ['direct', true],
        ['direct', true],
      ],
    ],
  ] as const)('behavior: a loan of 100 of 99, 100 and 101 %s', (_what, chainId, expected) => {
    const on = catalog.chain(chainId);
    const market = on?.markets.find(({ kind }) => kind === 'loop');
    if (!on || !market) throw new Error('the chain has markets');
    const params = {
      loanToken: market.loan.address,
      collateralToken: market.collateral.address,
      oracle: market.oracle,
      irm: market.irm,
      lltv: market.lltv,
    };
    const source = {
      vault: market.oracle,
      feeWei: 0n,
      maxIn: 50n,
      marketId: stockMarket.id,
      market: params,
      liquidity: 50n,
      movable: 50n,
    };
    const planned = [99n, 100n, 101n].map((lendable) => {
      try {
        const live = { liquidity: lendable, idle: 1_000n };
        const request = {
          market,
          chain: on,
          amountIn: 50n,
          payToken: { ...market.collateral, symbol: 'C', isNative: false },
        };
        const { reallocations } = planLiquidity(request, 100n, live, on.contracts.publicAllocator ? [source] : []);
        return [reallocations.length > 0 ? 'reallocated' : 'direct', true];
      } catch (error) {
        expect(error).toBeInstanceOf(InsufficientLiquidityError);
        return ['refused', false];
      }
    });
    expect(planned).toEqual(expected);
  });
});

describe(largestCovered, () => {
  it('behavior: is covered, and slightly more is not', () => {
    const scenario = fc.record({
      amount: fc.bigInt(1n, 10n ** 24n),
      lendable: fc.bigInt(0n, 10n ** 24n),
      elsewhere: fc.bigInt(0n, 10n ** 24n),
    });
    fc.assert(
      fc.property(scenario, ({ amount, lendable, elsewhere }) => {
        const held = [{ market: yieldMarket, lendable, idle: lendable + elsewhere }];
        const covers = (value: bigint) => liquidityNeeds([borrowingFlows(yieldMarket, value)], held).every(isCovered);
        const largest = largestCovered(amount, liquidityNeeds([borrowingFlows(yieldMarket, amount)], held));
        expect(largest <= amount && covers(largest)).toBe(true);
        if (largest < amount) expect(covers(largest + 1n)).toBe(false);
      }),
      RUNS,
    );
  });
});

describe(requireCovered, () => {
  const check = (lendable: bigint, idle: bigint) =>
    requireCovered(
      liquidityNeeds([borrowingFlows(yieldMarket, 100_000_000n)], [{ market: yieldMarket, lendable, idle }]),
      () => ({ maxAmount: '7' }),
    );
  const detailsOf = (lendable: bigint, idle: bigint): unknown => {
    try {
      check(lendable, idle);
    } catch (error) {
      if (error instanceof InsufficientLiquidityError) return error.details;
      throw error;
    }
    return undefined;
  };

  it('default: exactly enough passes', () => {
    expect(detailsOf(100_000_000n, 200_000_000n)).toBeUndefined();
  });

  it('error: InsufficientLiquidity of the protocol', () => {
    expect(detailsOf(100_000_000n, 199_999_999n)).toEqual({
      needed: '200',
      available: '199.999999',
      loan: expect.objectContaining({ address: yieldMarket.loan.address, symbol: yieldMarket.loan.symbol }),
      place: 'protocol',
      maxAmount: '7',
    });
  });

  it('error: InsufficientLiquidity names the largest shortfall', () => {
    expect(detailsOf(10_000_000n, 150_000_000n)).toMatchObject({
      place: 'market',
      marketId: yieldMarket.id,
      available: '10',
    });
    expect(detailsOf(90_000_000n, 150_000_000n)).toMatchObject({ place: 'protocol', available: '150' });
  });
});
