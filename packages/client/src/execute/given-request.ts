import type { Plan } from '../client.ts';
import { InputError } from '../errors.ts';
import { checkRequest } from '../intent/check-request.ts';
import { type BuildRequest, fieldsOf, requireRequest } from '../intent/request.ts';
import { isRecord } from '../json.ts';
import { requireFunction, textOf } from '../option-checks.ts';
import { VerificationError } from '../verify/errors.ts';
import { trustedChainOf, trustedChains } from '../verify/trusted.ts';
import type { TrustedChain } from '../verify/types.ts';
import { InvalidPlanError, UnprovenError } from './errors.ts';

/** The actions of the rows that have one. */
const ACTIONS: Readonly<Partial<Record<BuildRequest['row'], string>>> = {
  leverageBuild: 'open_leverage',
  equityDepositBuild: 'equity_deposit',
  equityExitBuild: 'equity_exit',
};

/** The parts of the options of a proof that say what was asked for. */
interface GivenProof {
  readonly request?: BuildRequest | undefined;
  readonly chains?: readonly TrustedChain[] | undefined;
}

/** Check the form of the options of a proof. @throws InputError naming a part of another form */
export function requireProofOptions(proof: unknown): void {
  if (proof === undefined || proof === 'none') return;
  if (!isRecord(proof)) {
    throw new InputError(`proof is ${textOf(proof)}. Give an object, or "none" to send a plan that nothing proves.`);
  }
  const { request, intent, worth, chains, reallocation } = proof;
  if (request !== undefined) requireRequest('proof.request', request);
  if (intent !== undefined && typeof intent !== 'function' && !isRecord(intent)) {
    throw new InputError(`proof.intent is ${textOf(intent)}. Give an intent, or a function that makes it.`);
  }
  requireFunction('proof.worth', worth);
  if (chains !== undefined && !Array.isArray(chains)) {
    throw new InputError(`proof.chains is ${textOf(chains)}. Give a list of chains, or leave it out.`);
  }
  if (reallocation !== undefined && !isRecord(reallocation)) {
    throw new InputError(`proof.reallocation is ${textOf(reallocation)}. Give an object, or leave it out.`);
  }
}

/**
 * Check the request that a caller gives for a plan by what both say, before a wallet or a node is asked.
 *
 * @throws InputError for another form; InvalidPlanError for a request of another wallet than `account`; UnprovenError
 */
export function checkGivenRequest(plan: Plan, proof: GivenProof | 'none', account: string | undefined): void {
  requireProofOptions(proof);
  if (proof === 'none' || proof.request === undefined) return;
  const { request, chains = trustedChains } = proof;
  const { userAddress } = fieldsOf(request);
  if (account !== undefined && userAddress !== undefined && userAddress.toLowerCase() !== account.toLowerCase()) {
    throw new InvalidPlanError(`The request is of ${userAddress}, and ${account} would execute its plan.`);
  }
  try {
    checkRequest(request, trustedChainOf(plan.chainId, chains));
  } catch (error) {
    if (error instanceof VerificationError) throw new UnprovenError(error);
    throw error;
  }
  const asked = ACTIONS[request.row] ?? fieldsOf(request).action;
  if (typeof plan.action === 'string' && asked !== undefined && asked !== plan.action) {
    throw new InvalidPlanError(`The request is for ${asked}, and the plan is for ${plan.action}.`);
  }
}
