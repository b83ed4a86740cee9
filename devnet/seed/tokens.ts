/**
 * Price and yield of every token in the local world. Oracles on the chains and the simulated price and yield upstreams
 * both read this table, so that the oracle value and the USD price of a collateral always agree.
 */
export interface TokenSeed {
  /** USD per whole token. */
  readonly usdPrice: string;
  /** Yearly yield of holding it, in percent: 7-day average, implied APY of a principal token, or the on-chain rate. Absent: it earns nothing. */
  readonly apyPct?: string;
  /** `str()` / `vsr()` of a savings token: growth per second in ray (1e27); `apyPct` is this rate compounded. */
  readonly perSecondRateRay?: string;
}

export type TokenSeeds = Readonly<Record<number, Readonly<Record<string, TokenSeed>>>>;

const ETH = '3200';

/**
 * Find a token's row. Principal tokens of the overlay are listed without their date, which depends on the current date.
 * @throws Error when the table has no row for it.
 */
export function tokenSeed(chainId: number, symbol: string): TokenSeed {
  const rows = tokenSeeds[chainId];
  const seed = rows?.[symbol] ?? rows?.[withoutDate(symbol)];
  if (seed === undefined)
    throw new Error(`devnet/seed/tokens.ts has no row for ${symbol} on chain ${chainId}: add one`);
  return seed;
}

/** `PT-sUSDe-24JUN2027` → `PT-sUSDe`. */
export function withoutDate(symbol: string): string {
  return symbol.replace(/-\d{1,2}[A-Z]{3}\d{4}$/, '');
}

const tokenSeeds: TokenSeeds = {
  1: {
    ETH: { usdPrice: ETH },
    WETH: { usdPrice: ETH },
    USDC: { usdPrice: '0.9999' },
    USDT: { usdPrice: '1.0003' },
    DAI: { usdPrice: '0.9998' },
    PYUSD: { usdPrice: '0.9996' },
    RLUSD: { usdPrice: '1.0001' },
    AUSD: { usdPrice: '0.9998' },
    USDtb: { usdPrice: '0.9997' },
    frxUSD: { usdPrice: '0.9995' },

    sUSDS: { usdPrice: '1.0925', apyPct: '4.25' },
    wsrUSD: { usdPrice: '1.1384', apyPct: '7.10' },
    sUSDe: { usdPrice: '1.2235', apyPct: '6.84' },
    syrupUSDC: { usdPrice: '1.1562', apyPct: '6.35' },
    syrupUSDT: { usdPrice: '1.1240', apyPct: '6.12' },
    siUSD: { usdPrice: '1.0871', apyPct: '7.92' },
    stcUSD: { usdPrice: '1.0815', apyPct: '7.45' },
    reUSD: { usdPrice: '1.0768', apyPct: '6.90' },
    sNUSD: { usdPrice: '1.0612', apyPct: '9.35' },
    sDOLA: { usdPrice: '1.2410', apyPct: '7.68' },
    stUSDS: { usdPrice: '1.0634', apyPct: '4.75', perSecondRateRay: '1000000001471536429740616382' },
    srRoyUSDC: { usdPrice: '1.0287', apyPct: '7.26' },

    apxUSD: { usdPrice: '0.9992' },
    apyUSD: { usdPrice: '1.0945', apyPct: '10.40' },
    'PT-apxUSD-5NOV2026': { usdPrice: '0.9868', apyPct: '9.15' },
    'PT-apyUSD-5NOV2026': { usdPrice: '0.9820', apyPct: '11.80' },
    'PT-stcUSD-23JUL2026': { usdPrice: '0.9915', apyPct: '8.05' },

    // Overlay: see devnet/overlay.ts.
    'PT-sUSDe': { usdPrice: '0.9562', apyPct: '8.35' },

    wstETH: { usdPrice: '3952', apyPct: '2.62' },
    weETH: { usdPrice: '3494.4', apyPct: '2.88' },
    rETH: { usdPrice: '3718.4', apyPct: '2.41' },
    'ETH+': { usdPrice: '3478.4', apyPct: '3.05' },

    WBTC: { usdPrice: '97850' },
    cbBTC: { usdPrice: '97900' },
    XAUt: { usdPrice: '4120' },
  },
  4663: {
    ETH: { usdPrice: ETH },
    USDG: { usdPrice: '0.9999' },
    spUSDG: { usdPrice: '1.0218', apyPct: '4.50', perSecondRateRay: '1000000001395766281313196628' },
    syrupUSDG: { usdPrice: '1.0342', apyPct: '6.58' },
    USDe: { usdPrice: '0.9994' },
    wsNET: { usdPrice: '18.6' },
    PONS: { usdPrice: '0.0425' },
    SPY: { usdPrice: '688.5' },
    NVDA: { usdPrice: '192.4' },
    TSLA: { usdPrice: '418.2' },
  },
};
