import { proveRevoke } from './authorization.ts';
import { proveDeposit, proveExit } from './equity.ts';
import { VerificationError } from './errors.ts';
import { requireIntent } from './intent.ts';
import { proveAdd, proveBorrow, proveClose, proveIncrease, proveRemove, proveRepay } from './manage.ts';
import { proveManualExit } from './manual-exit.ts';
import { proveOpen } from './open.ts';
import { addressOf, callsOf, quoted, requireAtomic, requirePlan } from './plan.ts';
import { concluded, type Proof, requireNoMore, shown, startProof } from './proof.ts';
import { trustedChainOf, trustedChains } from './trusted.ts';
import type { Intent, TrustedChain, VerifiablePlan, Verified } from './types.ts';

export { type RefusalCode, VerificationError } from './errors.ts';
export { trustedChains } from './trusted.ts';
export type * from './types.ts';

/**
 * Prove, from the bytes of its calls alone, that a built plan has the effects of the intent, and only those. It sends no request,
 * and trusts nothing of the plan: contracts, tokens and markets come from `chains`.
 * @param chains default: those of the service's catalog, as of this release
 * @throws VerificationError for everything that it cannot prove; the plan must not be signed then
 */
export function verify(
  plan: VerifiablePlan,
  intent: Intent,
  chains: readonly TrustedChain[] = trustedChains,
): Verified {
  requirePlan(plan);
  requireIntent(intent);
  const owner = addressOf(intent.owner, 'owner');
  const chain = trustedChainOf(intent.chainId, chains);
  if (plan.chainId !== intent.chainId) {
    const message = `The plan is for chain ${quoted(plan.chainId)}, and chain ${intent.chainId} was asked for.`;
    throw new VerificationError('chain', message);
  }
  const calls = callsOf(plan, owner);
  const proof = startProof(chain, owner, calls);
  prove(proof, intent);
  requireNoMore(proof);
  if (proof.authorizes.some(({ kind }) => kind === 'morpho')) requireAtomic(plan);
  const targets = [...new Set(calls.map(({ to }) => shown(to)))];
  return { action: intent.action, chainId: chain.chainId, calls: targets, ...concluded(proof) };
}

type Provers = { readonly [A in Intent['action']]: (proof: Proof, intent: Extract<Intent, { action: A }>) => void };

const PROVERS: Provers = {
  open_leverage: proveOpen,
  increase_leverage: proveIncrease,
  add_collateral: proveAdd,
  remove_collateral: proveRemove,
  borrow: proveBorrow,
  repay: proveRepay,
  close: proveClose,
  equity_deposit: proveDeposit,
  equity_exit: proveExit,
  revoke_authorization: proveRevoke,
  manual_exit: proveManualExit,
};

function prove(proof: Proof, intent: Intent): void {
  const prover = PROVERS[intent.action] as (proof: Proof, intent: Intent) => void;
  prover(proof, intent);
}
