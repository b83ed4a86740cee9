import type { Plan } from '../client.ts';
import { copyOf, isRecord } from '../json.ts';
import { keepOrigin } from '../plan-origin.ts';
import { InvalidPlanError } from './errors.ts';
import type { PlanCall } from './wallet.ts';

/** A plan after its check. */
export interface CheckedPlan {
  /** As it was given. */
  readonly source: Plan;
  /** Its content when it was checked: the caller may change the object later, and its calls would not be those that are sent. */
  readonly content: Plan;
  readonly chainId: number;
  readonly action: string;
  readonly strategyId: string | undefined;
  /** In the order of sending. */
  readonly calls: readonly PlanCall[];
  /** Whether all calls belong into one transaction where the wallet can. */
  readonly isAtomic: boolean;
  /** `undefined` = the plan names none: no quote is in it, or the service does not tell, which its proof says. */
  readonly expiresAt: string | undefined;
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const APPROVE = '0x095ea7b3';
const SET_AUTHORIZATION = '0xeecea000';
const MAX_CALLS = 50;
/** A larger one would not fit into the 32 bytes that MultiSend has for it. */
const MOST_WEI = (1n << 256n) - 1n;

/** @throws InvalidPlanError for a value that is no bundle of the service */
export function checkPlan(plan: Plan): CheckedPlan {
  if (!isRecord(plan)) throw new InvalidPlanError('The plan is not an object: pass what a build returned.');
  const content = copyOf(plan);
  keepOrigin(plan, content);
  const unchecked: Readonly<Record<string, unknown>> = content;
  const { chainId, action, strategyId, approvals, tx, calls, meta } = unchecked;
  if (!Number.isSafeInteger(chainId) || Number(chainId) <= 0) throw new InvalidPlanError('The plan names no chain.');
  const isBatch = Array.isArray(calls);
  const all: unknown[] = isBatch ? calls : [...(Array.isArray(approvals) ? approvals : []), tx];
  if (!isBatch && !Array.isArray(approvals)) throw new InvalidPlanError('The plan has neither calls nor approvals.');
  if (isBatch && (tx !== undefined || (Array.isArray(approvals) && approvals.length > 0))) {
    throw new InvalidPlanError('The plan has calls beside a transaction or approvals: only one of them can be meant.');
  }
  if (all.length === 0 || all.length > MAX_CALLS) throw new InvalidPlanError(`The plan has ${all.length} calls.`);
  const expiresAt = isRecord(meta) ? meta.expiresAt : undefined;
  if (expiresAt !== undefined && !isTime(expiresAt)) {
    throw new InvalidPlanError('meta.expiresAt of the plan is no time such as 2026-11-23T12:00:00.000Z.');
  }
  const checked = all.map(checkCall);
  requireOwnSpenders(checked);
  return {
    source: plan,
    content,
    chainId: Number(chainId),
    action: String(action),
    strategyId: typeof strategyId === 'string' ? strategyId : undefined,
    calls: checked,
    isAtomic: isBatch,
    expiresAt,
  };
}

/** The parts of `meta` that may say what a plan results in: `meta` itself, and its preview. */
export function partsOf(meta: unknown): readonly Readonly<Record<string, unknown>>[] {
  return isRecord(meta) ? [meta, meta.positionPreview, meta.preview].filter(isRecord) : [];
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value));

function checkCall(call: unknown, index: number): PlanCall {
  if (!isRecord(call)) throw new InvalidPlanError(`Call ${index} of the plan is not an object.`);
  const { to, data, value = '0' } = call;
  if (typeof to !== 'string' || !ADDRESS.test(to)) throw new InvalidPlanError(`Call ${index} has no address.`);
  if (typeof data !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(data)) {
    throw new InvalidPlanError(`Call ${index} has no calldata.`);
  }
  if (typeof value !== 'string' || !/^\d{1,78}$/.test(value) || BigInt(value) > MOST_WEI) {
    throw new InvalidPlanError(`The value of call ${index} is no number of wei.`);
  }
  return { to, data, value: BigInt(value) };
}

/** Each contract that may take tokens, or act for the wallet, is called afterwards. @throws InvalidPlanError */
function requireOwnSpenders(calls: readonly PlanCall[]): void {
  for (const [index, call] of calls.entries()) {
    const isGrant = authorizationOf(call) === 'grant';
    if (!isGrant && approvedAmount(call) === undefined) continue;
    const trusted = `0x${wordOf(call.data, 0).slice(24)}`.toLowerCase();
    if (calls.slice(index + 1).some(({ to }) => to.toLowerCase() === trusted)) continue;
    const does = isGrant ? 'authorizes' : 'approves';
    throw new InvalidPlanError(`Call ${index} of the plan ${does} ${trusted}, which no later call is for.`);
  }
}

const wordOf = (data: string, index: number) => data.slice(10 + index * 64, 74 + index * 64);
const selectorOf = ({ data }: PlanCall) => data.slice(0, 10).toLowerCase();

/** The spender (lower case) and the amount (base units) of an ERC-20 approval. */
export interface Approval {
  readonly spender: string;
  readonly amount: bigint;
}

/** The approval of a call; `undefined` = it is none. Contracts ignore the bytes after it. */
export function approvalOf(call: PlanCall): Approval | undefined {
  if (selectorOf(call) !== APPROVE || call.data.length < 138) return undefined;
  return { spender: `0x${wordOf(call.data, 0).slice(24)}`.toLowerCase(), amount: BigInt(`0x${wordOf(call.data, 1)}`) };
}

/** The amount of an ERC-20 approval, base units; `undefined` = the call is none. */
export const approvedAmount = (call: PlanCall): bigint | undefined => approvalOf(call)?.amount;

/** Whether a call of Morpho's `setAuthorization` grants or revokes; `undefined` = the call is none. */
export function authorizationOf(call: PlanCall): 'grant' | 'revoke' | undefined {
  if (selectorOf(call) !== SET_AUTHORIZATION || call.data.length < 138) return undefined;
  return BigInt(`0x${wordOf(call.data, 1)}`) === 0n ? 'revoke' : 'grant';
}

/** Approvals and authorizations carry no quote, and do not expire. */
export function isPreparation(call: PlanCall): boolean {
  return approvedAmount(call) !== undefined || authorizationOf(call) !== undefined;
}
