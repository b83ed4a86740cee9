import type { Address } from 'viem';
import { VerificationError } from './errors.ts';
import { CATALOG_CHAINS } from './generated/chains.ts';
import type { TrustedChain, TrustedMarket, TrustedVault } from './types.ts';

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
