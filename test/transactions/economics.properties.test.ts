import { Market as SdkMarket } from '@morpho-org/blue-sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import { breakEvenOf, totalUsd } from '../../src/transactions/preview/economics.ts';
import { borrowApyChange } from '../../src/transactions/preview/rates.ts';
import { type LiveMarket, paramsOf } from '../../src/transactions/read/market-state.ts';
import { chainOf } from '../domain/world.ts';
import { manyRuns } from '../support/property-runs.ts';

const WAD = 10n ** 18n;
const SUPPLIED = 10_000_000_000_000n;
const [market] = chainOf(1).markets;
if (!market) throw new Error('market expected');

/** A market that was last touched in `lastUpdate`, seconds. */
function liveOf(borrowed: bigint, lastUpdate = 1_700_000_000n): LiveMarket {
  const price = 10n ** 36n;
  const sdk = new SdkMarket({
    params: paramsOf(market as NonNullable<typeof market>),
    totalSupplyAssets: SUPPLIED,
    totalSupplyShares: SUPPLIED * 1_000_000n,
    totalBorrowAssets: borrowed,
    totalBorrowShares: borrowed * 1_000_000n,
    lastUpdate,
    fee: 0n,
    price,
    rateAtTarget: (4n * WAD) / 100n / 31_536_000n,
  });
  return { sdk, price, liquidity: sdk.liquidity, idle: sdk.liquidity, readAt: { blockTimeMs: 0 } };
}

describe('totalUsd', () => {
  const cost = (usd: Decimal | undefined) => ({
    kind: 'ENTRY_SWAP' as const,
    token: '0x0000000000000000000000000000000000000001' as const,
    symbol: 'A',
    amount: new Decimal(1),
    usd,
  });

  it('default: each cost once', () => {
    expect(totalUsd([cost(new Decimal('1.5')), cost(new Decimal('0.25'))])?.toFixed()).toBe('1.75');
    expect(totalUsd([])?.toFixed()).toBe('0');
  });

  it('behavior: unknown when one cost has no price, which is not zero', () => {
    expect(totalUsd([cost(new Decimal(1)), cost(undefined)])).toBeUndefined();
    expect(totalUsd([cost(undefined)])).toBeUndefined();
  });
});

describe(borrowApyChange, () => {
  it('default: borrowing raises the rate, repaying lowers it, by as much', () => {
    const half = SUPPLIED / 2n;
    const up = borrowApyChange(liveOf(half), half / 10n);
    const down = borrowApyChange(liveOf(half + half / 10n), -half / 10n);
    expect(up.after.gt(up.before)).toBe(true);
    expect(down.before.eq(up.after)).toBe(true);
    expect(down.after.eq(up.before)).toBe(true);
  });

  it('behavior: reallocated liquidity lowers it', () => {
    const { before, after } = borrowApyChange(liveOf(SUPPLIED / 2n), 0n, SUPPLIED);
    expect(after.lt(before)).toBe(true);
  });

  it('behavior: zero changes nothing', () => {
    const { before, after } = borrowApyChange(liveOf(SUPPLIED / 2n), 0n);
    expect(after.eq(before)).toBe(true);
  });

  it("behavior: repays a debt that is rounded up above the market's total", () => {
    const { after } = borrowApyChange(liveOf(1_000n), -1_001n);
    expect(after.eq(borrowApyChange(liveOf(0n), 0n).after)).toBe(true);
  });

  it('behavior: does not use the clock of this machine', () => {
    const ahead = BigInt(Math.floor(Date.now() / 1_000)) + 86_400n;
    const [past, future] = [liveOf(SUPPLIED / 2n), liveOf(SUPPLIED / 2n, ahead)].map((live) =>
      borrowApyChange(live, 1_000n),
    );
    expect(future).toEqual(past);
  });

  it('behavior: never falls by a borrow, never rises by a repayment', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, SUPPLIED), fc.bigInt(0n, SUPPLIED), (borrowed, change) => {
        const more = borrowApyChange(liveOf(borrowed), change < SUPPLIED - borrowed ? change : SUPPLIED - borrowed);
        const less = borrowApyChange(liveOf(borrowed), -change);
        expect(more.after.gte(more.before) && less.after.lte(less.before)).toBe(true);
      }),
      manyRuns(),
    );
  });
});

describe(breakEvenOf, () => {
  const d = (value: number) => new Decimal(value);

  it('default: costs divided by the daily yield of the equity', () => {
    expect(breakEvenOf(d(10), d(1_000), d(36.5))).toEqual({ state: 'DAYS', days: d(10) });
  });

  it('behavior: zero without costs', () => {
    expect(breakEvenOf(d(0), d(1_000), d(-5))).toEqual({ state: 'DAYS', days: d(0) });
  });

  it('behavior: never without a yield', () => {
    expect(breakEvenOf(d(10), d(1_000), d(0))).toEqual({ state: 'NEVER' });
    expect(breakEvenOf(d(10), d(1_000), d(-5))).toEqual({ state: 'NEVER' });
  });

  it('behavior: unknown if one of them is unknown', () => {
    expect(breakEvenOf(undefined, d(1_000), d(5))).toEqual({ state: 'UNKNOWN' });
    expect(breakEvenOf(d(10), undefined, d(5))).toEqual({ state: 'UNKNOWN' });
    expect(breakEvenOf(d(10), d(1_000), undefined)).toEqual({ state: 'UNKNOWN' });
  });
});
