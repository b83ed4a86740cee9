import type { Address } from 'viem';
import { labelAddress } from './accounts.ts';
import { marketKey } from './markets.ts';

/**
 * Source of the price of an oracle in the local world. `feed`: a base feed with a heartbeat (and, where the loan token has one, a
 * quote feed); `rate`: a vault's redemption rate, of no feed; `opaque`: another contract, which names no source.
 */
export type OracleSeed =
  | { readonly kind: 'feed'; readonly heartbeatSec: number; readonly quoteHeartbeatSec?: number | undefined }
  | { readonly kind: 'rate' }
  | { readonly kind: 'opaque' };

const HOUR = 3_600;
const DAY = 24 * HOUR;

const feed = (heartbeatSec: number, quoteHeartbeatSec?: number): OracleSeed => ({
  kind: 'feed',
  heartbeatSec,
  quoteHeartbeatSec,
});
const rate: OracleSeed = { kind: 'rate' };
const opaque: OracleSeed = { kind: 'opaque' };

/** Per chain, by collateral/loan as in `markets.ts`; markets that share an oracle share its row. Others have a daily feed. */
const oracleSeeds: Readonly<Record<number, Readonly<Record<string, OracleSeed>>>> = {
  1: {
    'sUSDS/AUSD 94.5': rate,
    'sUSDS/USDT 96.5': rate,
    'stUSDS/USDT 86': rate,
    'wstETH/WETH 96.5': rate,
    'wstETH/WETH 94.5': rate,
    'reUSD/USDC 91.5': opaque,
    'PT-apxUSD/USDC 86': opaque,
    'PT-apyUSD/USDC 86': opaque,
    'PT-stcUSD/USDC 91.5': opaque,
    'PT-sUSDe/USDC 91.5': opaque,
    'sUSDe/DAI 86': feed(DAY, HOUR),
    'wstETH/USDC 86': feed(HOUR, DAY),
    'WBTC/USDC 86': feed(HOUR, DAY),
    'cbBTC/USDC 86': feed(HOUR, DAY),
  },
  4663: {
    'spUSDG/USDG 91.5': rate,
    'wsNET/USDG 62.5 Longbow': opaque,
    'PONS/USDG 38.5 Longbow': opaque,
    'PONS/USDG 38.5': opaque,
  },
};

type MarketLike = Parameters<typeof marketKey>[0] & { readonly oracle: string };

/** Return the source of the price of a market's oracle. */
export function oracleSeed(market: MarketLike): OracleSeed {
  return oracleSeeds[market.chainId]?.[marketKey(market)] ?? feed(DAY);
}

/** Addresses of the feeds of a market's oracle: one pair per oracle. */
export function feedsOf({ oracle }: Pick<MarketLike, 'oracle'>): { readonly base: Address; readonly quote: Address } {
  const label = oracle.toLowerCase();
  return { base: labelAddress(`base feed of ${label}`), quote: labelAddress(`quote feed of ${label}`) };
}
