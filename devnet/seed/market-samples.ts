import type { Catalog, Market } from '../../src/catalog/index.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { ChainId, MarketId } from '../../src/shared/ids.ts';
import { seededOraclePrice } from '../chain/prices.ts';
import { fraction } from '../upstreams/series.ts';
import { marketSeed } from './markets.ts';
import { oracleSeed } from './oracles.ts';
import { tokenSeed } from './tokens.ts';

const SECONDS_PER_YEAR = 31_536_000;

/** The past of a market of the local world: its price grows by the yield of the collateral, in waves, up to the seeded one. */
export interface SeededPast {
  readonly chainId: ChainId;
  readonly marketId: MarketId;
  readonly price: bigint;
  /** Per second in WAD. */
  readonly borrowRate: bigint;
  /** Growth of the price, a fraction per year. */
  readonly growth: number;
  /** Size of the waves, a fraction; 0 = a redemption rate, which has none. */
  readonly swing: number;
  /** Where the waves begin, radians. */
  readonly phase: number;
}

/** Days of samples: some more than the longest window of a stress table needs. */
export const PAST_DAYS = 40;

/** Make the past of every market of the local world. */
export function seededPasts(catalog: Catalog): readonly SeededPast[] {
  return catalog.chains.flatMap(({ chainId, markets }) =>
    markets.map((market): SeededPast => {
      const yearly = new Decimal(marketSeed(market).targetRatePct).shiftedBy(16);
      return {
        chainId,
        marketId: market.id,
        price: seededOraclePrice(market),
        borrowRate: BigInt(yearly.div(SECONDS_PER_YEAR).toFixed(0)),
        growth: Number(tokenSeed(chainId, market.collateral.symbol).apyPct ?? 0) / 100,
        swing: swingOf(market),
        phase: fraction(market.id) * 2 * Math.PI,
      };
    }),
  );
}

function swingOf(market: Market): number {
  if (!market.correlated) return market.kind === 'stock' ? 0.06 : 0.09;
  return oracleSeed(market).kind === 'rate' ? 0 : 0.003;
}
