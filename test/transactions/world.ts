import fc from 'fast-check';
import { createOverlay } from '../../devnet/overlay.ts';
import { type Chain, createCatalog, curatedChains, type Market } from '../../src/catalog/index.ts';
import { limitsOf } from '../../src/domain/market/statics.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { Address, Hex, MarketId } from '../../src/shared/ids.ts';
import { effectiveSlippage } from '../../src/transactions/input.ts';
import type { OpenRequest } from '../../src/transactions/open/terms.ts';
import type { AllocatorSource } from '../../src/transactions/read/allocator.ts';
import { payTokenOf } from '../../src/transactions/read/tokens.ts';
import type { SwapQuote } from '../../src/upstreams/types.ts';

/** A fixed day: the overlay's principal token is the same in every run. */
export const catalog = createCatalog(curatedChains, createOverlay(Date.UTC(2026, 5, 1)));
export const RUNS = { numRuns: 1_000 };

export interface Place {
  readonly chain: Chain;
  readonly market: Market;
}

const places: readonly Place[] = catalog.chains.flatMap((chain) =>
  chain.markets.filter(({ kind }) => kind === 'loop').map((market) => ({ chain, market })),
);
export const place = fc.constantFrom(...places);

/** An oracle price: one whole collateral token is worth 0.0001 to 200,000 loan tokens. */
export const priceFor = ({ collateral, loan }: Market) =>
  fc
    .bigInt(10n ** 6n, 2n * 10n ** 15n)
    .map((tenBillionths) => (tenBillionths * 10n ** BigInt(36 + loan.decimals - collateral.decimals)) / 10n ** 10n);

export const address = fc
  .bigInt(1n, 2n ** 160n - 1n)
  .map((value) => `0x${value.toString(16).padStart(40, '0')}` as Address);
const hex = (bytes: number) =>
  fc.bigInt(0n, 2n ** BigInt(8 * bytes) - 1n).map((n) => `0x${n.toString(16).padStart(2 * bytes, '0')}` as Hex);

/** A plausible quote: up to 1.2 % below, or a little above, `fair`. */
export const quoteFor = (chain: Chain, amountIn: bigint, fair: bigint): fc.Arbitrary<SwapQuote> => {
  const routers = Object.entries(chain.swapRouters).flatMap(([source, list]) =>
    (list ?? []).map((router) => ({ source: source as SwapQuote['source'], router })),
  );
  return fc
    .record({ venue: fc.constantFrom(...routers), lossE6: fc.bigInt(-1_000n, 12_000n), calldata: hex(36) })
    .map(({ venue, lossE6, calldata }) => ({
      ...venue,
      amountIn,
      amountOut: (fair * (1_000_000n - lossE6)) / 1_000_000n,
      feeBps: 0,
      calldata,
      value: 0n,
      expiresAtMs: 60_000,
    }));
};

/** A checked request on any market, with any token, amount, target and slippage. */
export const openRequest: fc.Arbitrary<OpenRequest> = place.chain(({ chain, market }) => {
  const limits = limitsOf(market);
  const safe = limits.safeLtvPct.times(1_000).integerValue().toNumber();
  return fc.oneof(fc.constant(market.collateral), fc.constantFrom(...chain.tokens)).chain((token) =>
    fc
      .record({
        amountIn: fc.bigInt(10n ** BigInt(Math.max(0, token.decimals - 4)), 10n ** BigInt(token.decimals + 6)),
        ltvMilli: fc.integer({ min: 1, max: safe }),
        slippageE6: fc.integer({ min: 1, max: 30_000 }),
        feeBps: fc.constantFrom(0, 5, 25),
        depositFee: fc.constantFrom(0n, 10n ** 16n),
      })
      .map(({ amountIn, ltvMilli, slippageE6, feeBps, depositFee }) => {
        const targetLtvPct = new Decimal(ltvMilli).div(1_000);
        return {
          chain,
          market,
          limits,
          payToken: payTokenOf(token),
          amountIn,
          targetLtvPct,
          slippage: effectiveSlippage(new Decimal(slippageE6).shiftedBy(-6)),
          requested: { field: 'desiredLtv', value: targetLtvPct.toFixed() },
          feeBps,
          depositFee,
        };
      }),
  );
});

/** Allocator sources whose sizes are around `size`. */
export const sourcesAround = (market: Market, size: bigint): fc.Arbitrary<AllocatorSource[]> => {
  const amount = fc.bigInt(0n, size * 2n);
  const params = {
    loanToken: market.loan.address,
    collateralToken: market.collateral.address,
    oracle: market.oracle,
    irm: market.irm,
    lltv: market.lltv,
  };
  const vault = fc.record({ vault: address, feeWei: fc.bigInt(0n, 10n ** 16n), maxIn: amount });
  const row = fc.record({ marketId: hex(32), liquidity: amount, movable: amount });
  return fc
    .tuple(
      fc.uniqueArray(vault, { maxLength: 3, selector: (v) => v.vault }),
      fc.uniqueArray(row, { maxLength: 4, selector: (r) => r.marketId }),
    )
    .map(([vaults, rows]) =>
      vaults.flatMap((owner) =>
        rows.map(({ marketId, liquidity, movable }) => ({
          ...owner,
          marketId: marketId as MarketId,
          market: params,
          liquidity,
          movable,
        })),
      ),
    );
};
