import type { Plan } from '../client.ts';
import { InvalidPlanError } from '../execute/errors.ts';
import type {
  EquityDepositInput,
  EquityExitInput,
  ManageLeverageInput,
  OpenLeverageInput,
  PositionAtInput,
} from '../generated/graphql.ts';
import { isRecord, jsonCopyOf } from '../json.ts';
import { rememberOrigin } from '../plan-origin.ts';
import type { RequestFields } from './request.ts';

/** The variables of a plan mutation, by the name of its field. */
export type GraphqlRequest = { readonly wallet: string } & (
  | { readonly field: 'openLeveragePlan'; readonly input: OpenLeverageInput }
  | { readonly field: 'manageLeveragePlan'; readonly input: ManageLeverageInput }
  | { readonly field: 'equityDepositPlan'; readonly input: EquityDepositInput }
  | { readonly field: 'equityExitPlan'; readonly input: EquityExitInput }
);

/** The fields of a plan that are needed, as the documents of the package select them; or a refusal. */
export type GraphqlPlan =
  | {
      readonly __typename: string;
      readonly chainId: number;
      readonly calls: readonly { readonly to: string; readonly data: string; readonly value: string }[];
      readonly atomicRequired: boolean;
      readonly expiresAt: string;
      readonly sendCalls: unknown;
    }
  | { readonly __typename: string; readonly code: string; readonly message: string }
  | null
  | undefined;

const ROWS = {
  openLeveragePlan: 'leverageBuild',
  manageLeveragePlan: 'manageBuild',
  equityDepositPlan: 'equityDepositBuild',
  equityExitPlan: 'equityExitBuild',
} as const;

/**
 * Make a plan for `execute` of the answer of a GraphQL mutation, with the request that it has to be proven against.
 *
 * @throws InvalidPlanError for a refusal, with its message, and for an answer without calls
 */
export function planOfGraphql(answer: GraphqlPlan, request: GraphqlRequest): Plan {
  const unchecked: unknown = answer;
  if (!isRecord(unchecked))
    throw new InvalidPlanError(`${request.field} answered no plan: look at the errors beside it.`);
  const { chainId, calls, expiresAt, sendCalls, code, message } = unchecked;
  if (!Array.isArray(calls) || calls.length === 0) {
    throw new InvalidPlanError(`${request.field} was refused (${String(code)}): ${String(message)}`);
  }
  const { wallet } = request;
  const fields = fieldsOf(request);
  const last: unknown = calls.at(-1);
  const isBatch = request.field.startsWith('equity');
  const plan = {
    chainId,
    action: fields.action,
    strategyId: isBatch ? fields.strategyId : undefined,
    ...(isBatch ? { atomic: true, calls } : { approvals: calls.slice(0, -1), tx: last }),
    meta: { expiresAt, sendCalls },
  } as unknown as Plan;
  const { action, ...body } = fields;
  const isManaged = request.field === 'manageLeveragePlan';
  rememberOrigin(plan, {
    row: ROWS[request.field],
    build: unchecked,
    input: jsonCopyOf({ ...(isManaged ? { action, ...body } : body), userAddress: wallet }),
  });
  return plan;
}

/** The same request as the body of the REST row. */
function fieldsOf(request: GraphqlRequest): RequestFields & { readonly action: string } {
  const { maxSlippageBps, maxSwapLossPct, minAmountOut, allowUnsimulated } = {
    minAmountOut: undefined,
    allowUnsimulated: undefined,
    ...request.input,
  };
  const limits = {
    slippage: numberOf(maxSlippageBps, 10_000),
    maxSwapLossPct: numberOf(maxSwapLossPct),
    minAmountOut: minAmountOut ?? undefined,
    allowUnsimulated: allowUnsimulated ?? undefined,
  };
  switch (request.field) {
    case 'openLeveragePlan': {
      const { strategyId, chainId, payToken, amount, target } = request.input;
      const of = { strategyId, chainId: chainId ?? undefined };
      return { action: 'open_leverage', ...of, payToken, amount, ...targetOf(target), ...limits };
    }
    case 'manageLeveragePlan':
      return takenBy({ ...managedOf(request.input, request.wallet), ...limits });
    case 'equityDepositPlan': {
      const { strategyId, chainId, amount, stockLtvPct } = request.input;
      const of = { strategyId, chainId: chainId ?? undefined };
      return { action: 'equity_deposit', ...of, amount, stockLtvPct: stockLtvPct ?? undefined, ...limits };
    }
    case 'equityExitPlan': {
      const { strategyId, chainId, yieldPositionIndexes, exact } = request.input;
      const of = { strategyId, chainId: chainId ?? undefined };
      const loops = { yieldPositionIds: yieldPositionIndexes ?? undefined, exact: exact ?? undefined };
      return { action: 'equity_exit', ...of, ...loops, ...limits };
    }
  }
}

/** A decimal, as a share of `of`; `undefined` = it is not given. */
const numberOf = (decimal: string | null | undefined, of = 1): number | undefined =>
  decimal === undefined || decimal === null ? undefined : Number(decimal) / of;

/** The actions whose body has `allowUnsimulated`; the input of GraphQL has it for all. */
const LOWERS_RISK: readonly string[] = ['close', 'repay', 'add_collateral'];

function takenBy<F extends RequestFields>(fields: F): F {
  return LOWERS_RISK.includes(fields.action ?? '') ? fields : { ...fields, allowUnsimulated: undefined };
}

function targetOf({
  leverage,
  ltvPct,
}: {
  readonly leverage?: string;
  readonly ltvPct?: string;
}): Pick<RequestFields, 'leverage' | 'desiredLtv'> {
  return leverage === undefined ? { desiredLtv: ltvPct ?? null } : { leverage };
}

/**
 * The position of a global id, which is that of a node of the type `Position`.
 *
 * @throws InvalidPlanError for one that cannot be read, and for one of another wallet
 */
function positionOf(id: unknown, wallet: string): { readonly id: number; readonly chainId: number } {
  const [, chainId, owner = '', index] = POSITION_ID.exec(decoded(String(id))) ?? [];
  if (chainId === undefined) {
    const message = `The position id ${String(id).slice(0, 80)} cannot be read: name the position as \`position: { at: { chainId, positionIndex } }\`.`;
    throw new InvalidPlanError(message);
  }
  if (owner.toLowerCase() !== wallet.toLowerCase()) {
    throw new InvalidPlanError(`The position of the request is of ${owner}, and the plan is for ${wallet}.`);
  }
  return { id: Number(index), chainId: Number(chainId) };
}

const POSITION_ID = /^Position:(\d{1,12}):(0x[0-9a-fA-F]{40}):(\d{1,9})$/;

function decoded(base64url: string): string {
  try {
    return atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return '';
  }
}

/** Its market is part of the composite id only. */
function placeOf({ chainId, marketId, positionIndex }: PositionAtInput) {
  return marketId === undefined || marketId === null
    ? { id: positionIndex, chainId }
    : { positionId: `${chainId}-${marketId}-${positionIndex}`, chainId };
}

function managedOf(
  { action, position }: ManageLeverageInput,
  wallet: string,
): RequestFields & { readonly action: string } {
  const of = position.at ? placeOf(position.at) : positionOf(position.id, wallet);
  const { addCollateral, borrow, close, increaseLeverage, removeCollateral, repay, repayAll } = action;
  if (increaseLeverage) return { action: 'increase_leverage', ...of, ...targetOf(increaseLeverage) };
  if (addCollateral) return { action: 'add_collateral', ...of, ...addCollateral };
  if (removeCollateral) return { action: 'remove_collateral', ...of, ...removeCollateral };
  if (borrow) return { action: 'borrow', ...of, ...borrow };
  if (repay) return { action: 'repay', ...of, ...repay };
  if (repayAll) {
    const { amount, payToken } = repayAll;
    return { action: 'repay', ...of, full: true, amount: amount ?? undefined, payToken: payToken ?? undefined };
  }
  return { action: 'close', ...of, amount: close?.amount ?? undefined, exact: close?.exact ?? undefined };
}
