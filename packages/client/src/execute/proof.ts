import { flashLeverageAbi } from '../abi/index.ts';
import type { Plan } from '../client.ts';
import { createChainState } from '../intent/chain-state.ts';
import { DEFAULT_CHAIN, deriveIntent, type IntentOptions } from '../intent/derive.ts';
import { type BuildRequest, fieldsOf } from '../intent/request.ts';
import { isRecord } from '../json.ts';
import { originOf } from '../plan-origin.ts';
import { selectorsOf } from '../verify/calldata.ts';
import { VerificationError } from '../verify/errors.ts';
import { verify } from '../verify/index.ts';
import { trustedChainOf, trustedChains } from '../verify/trusted.ts';
import type { Intent, TrustedChain, VerifiablePlan, Verified } from '../verify/types.ts';
import { checkChain } from './checks.ts';
import { UnprovenError } from './errors.ts';
import { checkGivenRequest } from './given-request.ts';
import type { CheckedPlan } from './plan.ts';
import { createRpc, type Eip1193Provider, type Rpc } from './wallet.ts';

/** Where the prices, positions and fees of a proof come from: your own intent, a node that you gave, or the wallet's own node. */
export type Readings = 'intent' | 'node' | 'wallet';

/** The effects of a plan, with the source of the readings that bound them. */
export interface PlanProof extends Verified {
  /** A wallet that lies about its chain lies about prices too: with `wallet`, the bounds are no better than the wallet. */
  readonly readings: Readings;
}

/** The proven effects of a plan, and the intent with the readings that it is proven against. */
export interface Proven {
  readonly proof: PlanProof;
  readonly intent: Intent;
}

/** The node that is read for a proof, and whether it is the wallet's own. */
export interface ProofNode {
  readonly rpc: Rpc;
  readonly isOfWallet: boolean;
}

/** The request that a plan is proven against, and the sources that the proof relies on. */
export interface ProofOptions extends IntentOptions {
  /** The required effects of the plan. Default: the request that the plan was built with, and readings of the node. */
  readonly intent?: Intent | ((plan: Plan, account: string) => Intent | Promise<Intent>) | undefined;
  /** The request of a plan that no client of this process has built. */
  readonly request?: BuildRequest | undefined;
  /** Contracts, tokens and markets; default: the catalog of the service as of the release of the package. */
  readonly chains?: readonly TrustedChain[] | undefined;
}

/**
 * Prove a plan as `execute` does, e.g. to show its sentences before the user decides. `node` is best a node of your own; a
 * wallet does too, and the proof then relies on it.
 *
 * @throws UnprovenError | WalletError | WrongChainError
 */
export async function prove(
  plan: Plan,
  node: Eip1193Provider,
  { account, ...options }: ProofOptions & { readonly account: string },
): Promise<PlanProof> {
  checkGivenRequest(plan, options, account);
  const rpc = createRpc(node);
  await checkChain(plan.chainId, rpc, rpc);
  return provePlan(plan, account, { rpc, isOfWallet: false }, options);
}

/**
 * Prove that a plan has the requested effects, and no others.
 *
 * @throws UnprovenError, with the VerificationError as its cause; WalletError for a node that fails
 */
export async function provePlan(
  plan: Plan,
  account: string,
  node: ProofNode,
  options: ProofOptions,
): Promise<PlanProof> {
  return (await provenPlan(plan, account, node, options)).proof;
}

/** As `provenPlan`; `undefined` = it is not proven, or no proof was asked for. @throws WalletError */
export async function provenIfItIs(
  { content }: CheckedPlan,
  account: string,
  node: ProofNode,
  options: ProofOptions | 'none' = {},
): Promise<Proven | undefined> {
  if (options === 'none') return undefined;
  try {
    return await provenPlan(content, account, node, options);
  } catch (error) {
    if (error instanceof UnprovenError) return undefined;
    throw error;
  }
}

/** As `provePlan`, with the intent that it is proven against. */
export async function provenPlan(plan: Plan, account: string, node: ProofNode, options: ProofOptions): Promise<Proven> {
  const { chains = trustedChains } = options;
  try {
    const { intent, readings, assumptions } = await intentOf(plan, account, node, options);
    if (intent.owner.toLowerCase() !== account.toLowerCase()) {
      throw new VerificationError('owner', `The intent is of ${intent.owner}, and ${account} would sign.`);
    }
    const proof = verify(plan as VerifiablePlan, intent, chains);
    const all = [...proof.assumptions, ...assumptions, ...expiryAssumption(plan, proof)];
    return { proof: { ...proof, readings, assumptions: all }, intent };
  } catch (error) {
    if (error instanceof VerificationError) throw new UnprovenError(error);
    throw error;
  }
}

/** An intent, and the assumptions behind it besides those of its proof. */
interface Meant extends Pick<PlanProof, 'readings' | 'assumptions'> {
  readonly intent: Intent;
}

async function intentOf(plan: Plan, account: string, node: ProofNode, options: ProofOptions): Promise<Meant> {
  const { intent, chains = trustedChains, request = originOf(plan) } = options;
  if (intent !== undefined) {
    const meant = typeof intent === 'function' ? await intent(plan, account) : intent;
    return { intent: meant, readings: 'intent', assumptions: [] };
  }
  if (request === undefined) {
    const message =
      'It is not known what was asked for: no client of this process has built the plan. Pass `proof: { request }` or `proof: { intent }`.';
    throw new VerificationError('intent', message);
  }
  const chain = trustedChainOf(plan.chainId, chains);
  const state = createChainState(node.rpc, chain);
  const derived = await deriveIntent(request as BuildRequest, account, chain, state, options, closedBy(callsIn(plan)));
  return {
    intent: derived,
    readings: node.isOfWallet ? 'wallet' : 'node',
    assumptions: [
      node.isOfWallet ? OF_WALLET : OF_NODE,
      ...chainAssumption(request as BuildRequest),
      ...loopAssumption(request as BuildRequest, derived),
    ],
  };
}

const OF_WALLET =
  "Prices, positions and fees are those that the wallet's own node reports. Pass `reader`, a node of your own, so that the proof does not rely on the wallet.";
const OF_NODE = 'Prices, positions and fees are those that the given node reports.';

const DELEVERAGE = selectorsOf(flashLeverageAbi).get('deleverage') ?? '';

const callsIn = (plan: Plan): unknown => ('calls' in plan ? plan.calls : undefined);

/** The positions that calls close, by their first argument: which they may be is proven elsewhere. */
export function closedBy(calls: unknown): readonly number[] {
  return (Array.isArray(calls) ? calls : []).flatMap((call: unknown) => {
    const data = isRecord(call) ? String(call.data).toLowerCase() : '';
    return data.startsWith(DELEVERAGE) && /^0x[0-9a-f]{72}/.test(data)
      ? [Number(BigInt(`0x${data.slice(10, 74)}`))]
      : [];
  });
}

function loopAssumption(request: BuildRequest, intent: Intent): readonly string[] {
  const isNamed = fieldsOf(request).yieldPositionIds !== undefined;
  if (request.row !== 'equityExitBuild' || intent.action !== 'equity_exit' || isNamed) return [];
  const ids = intent.positionIds.length === 0 ? 'none' : intent.positionIds.join(', ');
  return [
    `The request names no loops of the vault: those that the plan closes are all of them (${ids}). Other positions on their market stay open.`,
  ];
}

/** Swaps are quoted, and quotes end. */
function expiryAssumption({ meta }: Plan, { swaps }: Verified): readonly string[] {
  if (swaps.length === 0 || (isRecord(meta) && meta.expiresAt !== undefined)) return [];
  return ['The quotes of the plan are not old: it does not say when they end. Their least outputs hold all the same.'];
}

/** An index is unique on its chain only, and the service takes one without a chain for one of chain 1. */
function chainAssumption(request: BuildRequest): readonly string[] {
  const { id, positionId, chainId } = fieldsOf(request);
  if (request.row !== 'manageBuild' || positionId !== undefined || chainId !== undefined) return [];
  return [`The request names position ${id} without a chain: it is the one of chain ${DEFAULT_CHAIN}.`];
}
