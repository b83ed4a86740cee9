import type { Address } from 'viem';
import { labelAddress } from './accounts.ts';

/** A lending vault that the public allocator may shift. Its address is made from its symbol. */
export interface VaultSeed {
  readonly chainId: number;
  readonly address: Address;
  readonly name: string;
  readonly symbol: string;
  readonly loan: string;
  /** Fee of a reallocation of this vault through the public allocator, wei. */
  readonly feeWei: bigint;
  /** Markets (keys of `devnet/seed/markets.ts`) and the vault's share of their supply, percent. */
  readonly supplySharePct: Readonly<Record<string, number>>;
}

/** Flow cap in and out of a market, as a share of the market's seeded supply. */
export const FLOW_CAP_PCT = 25n;

const vault = (
  symbol: string,
  name: string,
  loan: string,
  feeWei: bigint,
  supplySharePct: Record<string, number>,
): VaultSeed => ({ chainId: 1, address: labelAddress(`vault ${symbol}`), name, symbol, loan, feeWei, supplySharePct });

export const vaultSeeds: readonly VaultSeed[] = [
  vault('lcPrimeUSDC', 'Local USDC Prime', 'USDC', 0n, {
    'cbBTC/USDC 86': 55,
    'WBTC/USDC 86': 40,
    'wstETH/USDC 86': 60,
    'siUSD/USDC 91.5': 30,
    'PT-sUSDe/USDC 91.5': 50,
  }),
  vault('lcFrontierUSDC', 'Local USDC Frontier', 'USDC', 500_000_000_000_000n, {
    'WBTC/USDC 86': 25,
    'wsrUSD/USDC 94.5': 70,
    'siUSD/USDC 91.5': 40,
    'reUSD/USDC 91.5': 65,
    'sNUSD/USDC 91.5': 80,
    'srRoyUSDC/USDC 91.5': 75,
    'PT-apxUSD/USDC 86': 60,
    'PT-apyUSD/USDC 86': 60,
    'PT-stcUSD/USDC 91.5': 60,
  }),
  vault('lcUSDT', 'Local USDT', 'USDT', 1_000_000_000_000_000n, {
    'sUSDS/USDT 96.5': 60,
    'syrupUSDT/USDT 91.5': 60,
    'stcUSD/USDT 91.5': 70,
    'stUSDS/USDT 86': 70,
    'XAUt/USDT 77': 50,
  }),
  vault('lcWETH', 'Local WETH', 'WETH', 250_000_000_000_000n, {
    'wstETH/WETH 96.5': 60,
    'wstETH/WETH 94.5': 60,
    'weETH/WETH 94.5': 60,
    'rETH/WETH 94.5': 60,
    'ETH+/WETH 94.5': 60,
  }),
  vault('lcPYUSD', 'Local PYUSD', 'PYUSD', 0n, {
    'sUSDe/PYUSD 91.5': 65,
    'syrupUSDC/PYUSD 91.5': 65,
  }),
];
