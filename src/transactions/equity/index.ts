import type { Address, ChainId, StrategyId } from '../../shared/ids.ts';
import type { BuilderDeps } from '../deps.ts';
import { requireSigner } from '../guards.ts';
import { withVenues } from '../quote/attempts.ts';
import { refuseProxy } from '../read/signer.ts';
import { type BuiltDeposit, type BuiltExit, buildDeposit, buildExit } from './build.ts';
import { type DepositRequest, type PlannedDeposit, planDeposit } from './deposit.ts';
import type { ExitRequest, VaultWallet } from './exit.ts';
import { previewNote } from './messages.ts';
import { findVault } from './vault.ts';

export type { BuiltBatch, BuiltDeposit, BuiltExit } from './build.ts';
export { AmbiguousYieldLoopsError } from './errors.ts';
export type { VaultWallet } from './exit.ts';
export type { CombinedStock, DepositPreview, FormattedCost } from './types.ts';
export { equityChainIds } from './vault.ts';

/** Which vault, and on which chain when it is named. */
export interface VaultInput {
  readonly strategyId: StrategyId;
  readonly chainId?: ChainId | undefined;
}

export type DepositInput = VaultInput & DepositRequest;
export type ExitInput = VaultInput & ExitRequest;

export interface PreviewedDeposit
  extends Pick<PlannedDeposit, 'terms' | 'stockBefore' | 'stockMarket' | 'slippage' | 'issues'> {
  readonly note: string;
}

/** Preview a deposit; with a wallet its stock leg is counted as well. @throws as `findVault` and `planDeposit` */
export async function previewVaultDeposit(deps: BuilderDeps, input: DepositInput): Promise<PreviewedDeposit> {
  const found = findVault(deps.chains, input);
  if (input.user) requireSigner(deps.chains, input.user);
  const planned = await withVenues(deps, (attempt) => planDeposit(attempt, found, input));
  const { terms, issues, notes } = planned;
  return { ...planned, note: previewNote(terms.preview, { issues, notes }) };
}

/** Build the batch of a deposit for the user who signs it. @throws as `findVault` and `buildDeposit` */
export async function buildVaultDeposit(deps: BuilderDeps, input: DepositInput, user: Address): Promise<BuiltDeposit> {
  const found = findVault(deps.chains, input);
  requireSigner(deps.chains, user);
  return withVenues(deps, (attempt) => buildDeposit(attempt, found, { ...input, user }));
}

/** Reads the positions of one wallet now. @throws ChainReadError, UpstreamUnavailableError */
export type ReadWallet = (chainId: ChainId, user: Address) => Promise<VaultWallet>;

/** Build the batch that fully unwinds a vault of the user who signs it. @throws as `findVault` and `buildExit` */
export async function buildVaultExit(
  deps: BuilderDeps & { readonly readWallet: ReadWallet },
  input: ExitInput,
  user: Address,
): Promise<BuiltExit> {
  const found = findVault(deps.chains, input);
  const { chain } = found;
  requireSigner(deps.chains, user);
  const [wallet] = await Promise.all([
    deps.readWallet(chain.chainId, user),
    refuseProxy(deps.node(chain.chainId).reader, chain, user),
  ]);
  return withVenues(deps, (attempt) => buildExit(attempt, found, input, wallet));
}
