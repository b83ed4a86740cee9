import type { SwapSource } from '../../src/catalog/index.ts';
import { withoutDate } from './tokens.ts';

/** Terms of the swap venue at one provider's router. They differ, so that a comparison of quotes is tested. */
export interface VenueSeed {
  readonly feeBps: bigint;
  /** Share of a token's depth that this venue has, in percent. */
  readonly depthPct: bigint;
}

/** The second aggregator is cheaper and shallower: it wins small swaps, the first one wins large ones. */
export const venueSeeds: Readonly<Record<SwapSource, VenueSeed>> = {
  AggregatorOne: { feeBps: 3n, depthPct: 100n },
  AggregatorTwo: { feeBps: 2n, depthPct: 60n },
  YieldMarket: { feeBps: 5n, depthPct: 100n },
};

/** Balance of a venue in every token that it trades, whole tokens. */
export const VENUE_INVENTORY = 1_000_000_000n;
export const VENUE_NATIVE_INVENTORY = 10_000_000n;

/** USD that move the price by 1 %. Not in the table: {@link DEFAULT_DEPTH_USD}. Loan and pay tokens trade without impact. */
const depthUsd: Readonly<Record<number, Readonly<Record<string, bigint>>>> = {
  1: {
    // A 5M exit stays under 1.5 %.
    sUSDS: 40_000_000n,
    sUSDe: 25_000_000n,
    syrupUSDC: 12_000_000n,
    syrupUSDT: 9_000_000n,
    wstETH: 60_000_000n,
    weETH: 30_000_000n,
    WBTC: 45_000_000n,
    cbBTC: 50_000_000n,
    XAUt: 6_000_000n,
    stUSDS: 5_000_000n,
    // 1M stays under it.
    rETH: 3_000_000n,
    'ETH+': 1_500_000n,
    reUSD: 1_200_000n,
    siUSD: 2_000_000n,
    'PT-sUSDe': 2_500_000n,
    'PT-apxUSD': 1_100_000n,
    // 500k does.
    stcUSD: 550_000n,
    wsrUSD: 600_000n,
    srRoyUSDC: 450_000n,
    'PT-apyUSD': 500_000n,
    // Only 100k does.
    sDOLA: 120_000n,
    'PT-stcUSD': 100_000n,
  },
  4663: {
    syrupUSDG: 4_000_000n,
    USDe: 1_500_000n,
    SPY: 5_000_000n,
    NVDA: 4_000_000n,
    TSLA: 3_000_000n,
    wsNET: 400_000n,
    PONS: 120_000n,
  },
};

const DEFAULT_DEPTH_USD = 1_000_000n;

/** Read the depth of a collateral token on its chain, in whole USD. */
export function collateralDepthUsd(chainId: number, symbol: string): bigint {
  return depthUsd[chainId]?.[withoutDate(symbol)] ?? DEFAULT_DEPTH_USD;
}
