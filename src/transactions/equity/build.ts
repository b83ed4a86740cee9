import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { EquityPosition } from '../../domain/equity/position.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import type { EffectiveSlippage } from '../input.ts';
import { type Read, readOf, required } from '../requirements/reads.ts';
import { payTokenOf } from '../requirements/tokens.ts';
import { foldWallet, planWallet } from '../requirements/wallet.ts';
import type { Simulator } from '../simulation/simulate.ts';
import type { Issue } from '../types.ts';
import { buildDepositBatch, buildExitBatch, type EquityCall } from './batch.ts';
import { type DepositRequest, type PlanDeps, planDeposit, type VaultFacts } from './deposit.ts';
import { type ExitRequest, planExit, type WalletReading } from './exit.ts';
import type { DepositTerms, ExitTerms } from './types.ts';
import type { FoundVault } from './vault.ts';

export interface BuildDeps extends PlanDeps {
  readonly simulator: Simulator;
}

/** A batch of unsigned calls, executed once in a simulation before it is handed out. */
export interface BuiltBatch {
  /** In order; the last one revokes what one before it grants. */
  readonly calls: readonly EquityCall[];
  readonly issues: readonly Issue[];
  readonly slippage: EffectiveSlippage;
  /** When the first of its quotes lapses, ms. */
  readonly expiresAtMs: number;
  /** Of the whole batch; absent when it could not be simulated. */
  readonly gasUsed?: bigint;
}

export interface BuiltDeposit extends BuiltBatch {
  readonly terms: DepositTerms;
}

export interface BuiltExit extends BuiltBatch {
  readonly terms: ExitTerms;
  readonly position: EquityPosition;
}

/**
 * Build the batch of a deposit for the wallet that signs it. A wallet without the deposit token gets its batch as well,
 * with the issue beside it.
 * @throws everything that `planDeposit` throws, and SimulationRevertedError
 */
export async function buildDeposit(
  deps: BuildDeps,
  found: FoundVault,
  request: DepositRequest & { readonly user: Address },
  facts: VaultFacts,
  nowMs: number,
): Promise<BuiltDeposit> {
  const { chain, router, vault } = found;
  const { user } = request;
  const token = payTokenOf(vault.depositToken);
  const reads = [authorizationOf(found, user), ...planWallet(chain, user, token, [router])];
  const { terms, slippage, answers } = await planDeposit(deps, found, request, facts, nowMs, reads);
  const [isAuthorized, ...rest] = answers as readonly [boolean | undefined, ...(bigint | undefined)[]];
  const wallet = foldWallet(token, [router], rest);
  const allowance = wallet.allowances.get(router) ?? 0n;
  const calls = buildDepositBatch(chain.contracts, terms, { allowance, isAuthorized: required(isAuthorized) });
  const outcome = await deps.simulator.simulate({
    user,
    calls,
    pays: { token, amount: terms.amountIn, balance: wallet.balance },
    nativeBalance: wallet.native,
  });
  const issues: Issue[] = [];
  if (wallet.balance < terms.amountIn) {
    const amountOf = (units: bigint) => formatUnitsPlain(units, token.decimals);
    issues.push({
      kind: 'INSUFFICIENT_BALANCE',
      message: `The wallet has ${amountOf(wallet.balance)} ${token.symbol} and the deposit takes ${amountOf(terms.amountIn)}: bring the rest before sending.`,
      token: token.address,
      required: amountOf(terms.amountIn),
      available: amountOf(wallet.balance),
    });
  }
  if (!outcome.simulated) issues.push(NOT_SIMULATED);
  return {
    terms,
    calls,
    issues,
    slippage,
    expiresAtMs: firstExpiry(Object.values(terms.swaps)),
    ...(outcome.simulated ? { gasUsed: outcome.gasUsed } : {}),
  };
}

/**
 * Build the batch that closes the chosen loops of a vault and takes its stock leg apart.
 * @throws everything that `planExit` throws, and SimulationRevertedError
 */
export async function buildExit(
  deps: BuildDeps,
  found: FoundVault,
  request: ExitRequest,
  wallet: WalletReading,
  facts: { readonly stock: ComposedMarket; readonly yieldMarket: ComposedMarket },
  nowMs: number,
): Promise<BuiltExit> {
  const user = wallet.holdings.wallet;
  const { chain } = found;
  const reads = [authorizationOf(found, user), ...planWallet(chain, user, undefined, [])];
  const { terms, position, slippage, answers } = await planExit(deps, found, request, wallet, facts, nowMs, reads);
  const [isAuthorized, native] = answers as readonly [boolean | undefined, bigint | undefined];
  const calls = buildExitBatch(chain.contracts, terms, { isAuthorized: required(isAuthorized) });
  const outcome = await deps.simulator.simulate({ user, calls, nativeBalance: required(native) });
  return {
    terms,
    position,
    calls,
    issues: outcome.simulated ? [] : [NOT_SIMULATED],
    slippage,
    expiresAtMs: firstExpiry([terms.stockSwap, ...terms.loops.map(({ swap }) => swap)]),
    ...(outcome.simulated ? { gasUsed: outcome.gasUsed } : {}),
  };
}

const NOT_SIMULATED: Issue = {
  kind: 'NOT_SIMULATED',
  message:
    'The batch could not be tried out: the wallet lacks the deposit token and it cannot be lent in a simulation.',
};

function authorizationOf({ chain, router }: FoundVault, user: Address): Read<unknown> {
  return readOf(chain.contracts.morphoBlue, morphoBlueAbi, 'isAuthorized', [user, router]);
}

function firstExpiry(swaps: readonly { readonly quote: { readonly expiresAtMs: number } }[]): number {
  return Math.min(...swaps.map(({ quote }) => quote.expiresAtMs));
}
