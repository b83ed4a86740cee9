import { VerificationError } from './errors.ts';
import { CATALOG_CHAINS } from './generated/chains.ts';

type Hex = `0x${string}`;
type Address = Hex;

/** Facts about a chain that do not depend on a plan. Take them from `trustedChains`, or from your own source. */
export interface TrustedChain {
  readonly chainId: number;
  readonly nativeSymbol: string;
  readonly contracts: {
    readonly morphoBlue: Address;
    readonly flashLeverage: Address;
    readonly flashLeverageRouter: Address;
    readonly equityRouter?: Address | undefined;
  };
  /** The contracts that a swap may be sent to. */
  readonly swapRouters: readonly Address[];
  readonly tokens: readonly TrustedToken[];
  readonly markets: readonly TrustedMarket[];
  readonly vaults: readonly TrustedVault[];
}

export interface TrustedToken {
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
}

/** A Morpho Blue market; its id is the hash of the five parameters. */
export interface TrustedMarket {
  readonly id: Hex;
  readonly loanToken: Address;
  readonly collateralToken: Address;
  readonly oracle: Address;
  readonly irm: Address;
  /** WAD. */
  readonly lltv: string;
  /** Whether the contract takes a yield fee (correlated) or a deposit fee. */
  readonly correlated: boolean;
}

export interface TrustedVault {
  readonly id: string;
  readonly stockMarketId: Hex;
  readonly yieldMarketId: Hex;
  /** LTV of the stock leg of a request that names none, percent. */
  readonly targetLtvPct: string;
}

/** The chains of the service's catalog, as of the release of this package. */
export const trustedChains: readonly TrustedChain[] = CATALOG_CHAINS;

/** @throws VerificationError for a chain that is not listed */
export function trustedChainOf(chainId: number, chains: readonly TrustedChain[]): TrustedChain {
  const found = chains.find((chain) => chain.chainId === chainId);
  if (found) return found;
  const known = chains.map((chain) => chain.chainId).join(', ');
  throw new VerificationError('chain', `Chain ${chainId} is none of the trusted chains: ${known}.`);
}

/** @throws VerificationError for a market that is not listed */
export function trustedMarketOf(chain: TrustedChain, marketId: string): TrustedMarket {
  const found = chain.markets.find(({ id }) => id.toLowerCase() === marketId.toLowerCase());
  if (found) return found;
  throw new VerificationError('market', `${marketId} is none of the trusted markets of chain ${chain.chainId}.`);
}

/** @throws VerificationError for a vault that is not listed, or a chain without the router of vaults */
export function trustedVaultOf(chain: TrustedChain, vaultId: string): { vault: TrustedVault; router: Address } {
  const vault = chain.vaults.find(({ id }) => id.toLowerCase() === vaultId.toLowerCase());
  const router = chain.contracts.equityRouter;
  if (vault && router) return { vault, router };
  throw new VerificationError('market', `${vaultId} is none of the trusted vaults of chain ${chain.chainId}.`);
}
