import { withoutDate } from './tokens.ts';

/** The state in which a market starts. */
export interface MarketSeed {
  /** Total supply in whole loan tokens, vaults included. */
  readonly supplied: string;
  /** Share of it that is lent out, in percent. */
  readonly utilizationPct: string;
  /** Borrow rate per year (not compounded) at 90 % utilization, in percent: the state of the interest-rate curve. */
  readonly targetRatePct: string;
}

interface MarketLike {
  readonly chainId: number;
  readonly collateral: { readonly symbol: string };
  readonly loan: { readonly symbol: string };
  readonly lltv: bigint;
  readonly curator?: string | undefined;
}

const row = (supplied: string, utilizationPct: string, targetRatePct: string): MarketSeed => ({
  supplied,
  utilizationPct,
  targetRatePct,
});

/** Per chain, by collateral/loan, liquidation LTV in percent and, where there is one, curator. */
export const marketSeeds: Readonly<Record<number, Readonly<Record<string, MarketSeed>>>> = {
  1: {
    //                         supplied      util    rate
    'sUSDS/AUSD 94.5': row('12400000', '88.2', '3.10'),
    'sUSDS/USDT 96.5': row('46000000', '90.4', '3.35'),
    'wsrUSD/USDC 94.5': row('8600000', '89.1', '5.20'),
    'sUSDe/PYUSD 91.5': row('52000000', '90.2', '4.80'),
    'sUSDe/USDtb 91.5': row('34000000', '87.5', '4.80'),
    'sUSDe/DAI 86': row('21000000', '84.0', '4.60'),
    'syrupUSDC/PYUSD 91.5': row('38000000', '91.2', '4.90'),
    'syrupUSDC/RLUSD 91.5': row('27000000', '89.5', '4.70'),
    'syrupUSDT/USDT 91.5': row('64000000', '90.2', '4.80'),
    'siUSD/USDC 91.5': row('15500000', '90.4', '5.70'),
    'stcUSD/USDT 91.5': row('9800000', '88.8', '5.50'),
    'reUSD/USDC 91.5': row('18200000', '90.1', '5.30'),
    'sNUSD/USDC 91.5': row('4400000', '86.3', '6.20'),
    'sDOLA/frxUSD 91.5': row('3100000', '85.2', '5.40'),
    'stUSDS/USDT 86': row('11000000', '82.4', '3.20'),
    'srRoyUSDC/USDC 91.5': row('6300000', '87.9', '5.60'),
    'PT-apxUSD/USDC 86': row('7200000', '90.5', '6.40'),
    'PT-apyUSD/USDC 86': row('5400000', '89.3', '6.90'),
    'PT-stcUSD/USDC 91.5': row('2600000', '62.0', '4.00'),
    'PT-sUSDe/USDC 91.5': row('31000000', '90.6', '5.70'),
    'wstETH/WETH 96.5': row('14000', '90.2', '2.05'),
    'wstETH/WETH 94.5': row('41000', '90.0', '1.95'),
    'weETH/WETH 94.5': row('26500', '90.3', '2.15'),
    'rETH/WETH 94.5': row('3900', '88.0', '1.80'),
    'ETH+/WETH 94.5': row('2150', '87.2', '2.00'),
    'WBTC/USDC 86': row('168000000', '90.3', '4.90'),
    'cbBTC/USDC 86': row('412000000', '90.1', '4.85'),
    'wstETH/USDC 86': row('74000000', '89.2', '4.70'),
    'XAUt/USDT 77': row('13500000', '86.7', '3.90'),
  },
  4663: {
    'spUSDG/USDG 91.5': row('24000000', '88.6', '3.60'),
    'syrupUSDG/USDG 91.5': row('36000000', '89.9', '4.90'),
    'USDe/USDG 91.5': row('9500000', '87.0', '4.20'),
    'wsNET/USDG 62.5 Longbow': row('1200000', '71.0', '9.50'),
    'PONS/USDG 38.5 Longbow': row('620000', '64.5', '18.00'),
    'PONS/USDG 38.5': row('140000', '52.0', '15.00'),
    'SPY/USDG 62.5 Longbow': row('8400000', '78.0', '4.40'),
    'NVDA/USDG 62.5 Longbow': row('6900000', '81.5', '5.20'),
    'TSLA/USDG 62.5 Longbow': row('5200000', '80.2', '5.80'),
  },
};

/** Name a market the way the table does, e.g. `sUSDe/PYUSD 91.5`. */
export function marketKey(market: MarketLike): string {
  const lltvPct = Number(market.lltv / 10n ** 13n) / 1000;
  const pair = `${withoutDate(market.collateral.symbol)}/${market.loan.symbol} ${lltvPct}`;
  return market.curator === undefined ? pair : `${pair} ${market.curator}`;
}

/** Find a market's row. @throws Error when the table has none. */
export function marketSeed(market: MarketLike): MarketSeed {
  const key = marketKey(market);
  const seed = marketSeeds[market.chainId]?.[key];
  if (seed === undefined)
    throw new Error(`devnet/seed/markets.ts has no row "${key}" on chain ${market.chainId}: add one`);
  return seed;
}
