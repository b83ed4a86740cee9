import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { Address } from '../../shared/ids.ts';
import { type BuilderDeps, feedsOf } from '../deps.ts';
import { type Deployment, planDeployment } from '../read/deployment.ts';
import { type LiveMarket, planMarket } from '../read/market-state.ts';
import { NO_READS, planOne, type ReadPlan, readOf, required } from '../read/reads.ts';
import { planWallet, type WalletState } from '../read/wallet.ts';
import type { PayToken } from '../types.ts';
import type { FoundVault } from './vault.ts';

/** Both markets of a vault, and the state of the contract for the yield market. */
export interface LiveVault {
  readonly stock: LiveMarket;
  readonly yieldMarket: LiveMarket;
  readonly deployment: Deployment;
}

/** The wallet that signs. */
export interface VaultSigner extends WalletState {
  /** Whether the router may act on the wallet's lending positions already. */
  readonly isAuthorized: boolean;
}

/** Plan the state of both markets of a vault. */
export function planVault(deps: BuilderDeps, { chain, vault: { stockMarket, yieldMarket } }: FoundVault) {
  const nowMs = deps.clock.now();
  return {
    stock: planMarket(chain, stockMarket, feedsOf(deps, stockMarket), nowMs),
    yieldMarket: planMarket(chain, yieldMarket, feedsOf(deps, yieldMarket), nowMs),
    deployment: planDeployment(chain, yieldMarket),
  };
}

/** Plan the wallet that signs; without a user nothing is read. */
export function planSigner(
  { chain, router }: FoundVault,
  user: Address | undefined,
  token?: PayToken,
): ReadPlan<VaultSigner | undefined> {
  if (user === undefined) return NO_READS;
  const isAuthorized = planOne(readOf(chain.contracts.morphoBlue, morphoBlueAbi, 'isAuthorized', [user, router]));
  const wallet = planWallet(chain, user, token, token ? [router] : []);
  return {
    reads: [...isAuthorized.reads, ...wallet.reads],
    fold: ([authorized, ...rest], block) => ({
      isAuthorized: required(isAuthorized.fold([authorized], block)),
      ...wallet.fold(rest, block),
    }),
  };
}
