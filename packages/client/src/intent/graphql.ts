import type { Plan } from '../client.ts';
import { InvalidPlanError } from '../execute/errors.ts';
import type {
  EquityDepositInput,
  EquityExitInput,
  ManageLeverageInput,
  OpenLeverageInput,
} from '../generated/graphql.ts';
import { isRecord, jsonCopyOf } from '../json.ts';
import { rememberOrigin } from '../plan-origin.ts';
import type { RequestFields } from './request.ts';

/** The variables of a plan mutation, by the name of its field. */
export type GraphqlRequest = { readonly wallet: string } & (
  | { readonly field: 'manageLeveragePlan'; readonly input: ManageLeverageInput }
  | ({ readonly chainId?: number | null | undefined } & (
      | { readonly field: 'openLeveragePlan'; readonly input: OpenLeverageInput }
      | { readonly field: 'equityDepositPlan'; readonly input: EquityDepositInput }
      | { readonly field: 'equityExitPlan'; readonly input: EquityExitInput }
    ))
);

/** The fields of a plan that are needed, as the documents of the package select them; or a refusal. */
export type GraphqlPlan =
  | {
      readonly __typename: string;
      readonly chainId: number;
      readonly calls: readonly { readonly to: string; readonly data: string; readonly value: string }[];
      readonly atomic: boolean;
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
      const { payToken, amount, target } = request.input;
      return { action: 'open_leverage', ...strategyOf(request), payToken, amount, ...targetOf(target), ...limits };
    }
    case 'manageLeveragePlan':
      return takenBy({ ...managedOf(request.input, request.wallet), ...limits });
    case 'equityDepositPlan': {
      const { amount, stockLtvPct } = request.input;
      return {
        action: 'equity_deposit',
        ...strategyOf(request),
        amount,
        stockLtvPct: stockLtvPct ?? undefined,
        ...limits,
      };
    }
    case 'equityExitPlan': {
      const { yieldPositionIds: ids, exact } = request.input;
      const yieldPositionIds = ids?.map((id) => placeOf(id, request.wallet).id);
      return { action: 'equity_exit', ...strategyOf(request), yieldPositionIds, exact: exact ?? undefined, ...limits };
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

/** The domain id of a strategy that may be named by its global id, that of a node, and the chain as far as it is named. */
function strategyOf({
  chainId,
  input,
}: {
  readonly chainId?: number | null | undefined;
  readonly input: { readonly strategyId: string };
}) {
  const [, ofChain, strategyId = input.strategyId] = STRATEGY_ID.exec(decoded(input.strategyId)) ?? [];
  return { strategyId, chainId: chainId ?? (ofChain === undefined ? undefined : Number(ofChain)) };
}

const STRATEGY_ID = /^(?:Loop|EquityVault)Strategy:(\d{1,12}):((?:equity-)?0x[0-9a-fA-F]{64})$/;

/**
 * The place that the id of a position names. Its market is part of the composite id only, and the chain of none but an index.
 *
 * @throws InvalidPlanError for one that cannot be read, and for one of another wallet
 */
function placeOf(
  position: string | number,
  wallet: string,
): { readonly id: number; readonly chainId?: number | undefined; readonly positionId?: string } {
  const text = String(position);
  const [, ofChain, marketId, ofIndex] = DOMAIN_ID.exec(text) ?? [];
  if (ofIndex !== undefined) {
    const place = { id: Number(ofIndex), chainId: ofChain === undefined ? undefined : Number(ofChain) };
    return marketId === undefined ? place : { ...place, positionId: text };
  }
  const [, chainId, owner = '', index] = GLOBAL_ID.exec(decoded(text)) ?? [];
  if (chainId === undefined) {
    throw new InvalidPlanError(
      `The position id ${text.slice(0, 80)} cannot be read: name the position by its positionId, {chainId}-{marketId}-{positionIndex}.`,
    );
  }
  if (owner.toLowerCase() !== wallet.toLowerCase()) {
    throw new InvalidPlanError(`The position of the request is of ${owner}, and the plan is for ${wallet}.`);
  }
  return { id: Number(index), chainId: Number(chainId) };
}

const DOMAIN_ID = /^(?:(\d{1,12})-(?:(0x[0-9a-fA-F]{64})-)?)?(\d{1,9})$/;
const GLOBAL_ID = /^Position:(\d{1,12}):(0x[0-9a-fA-F]{40}):(\d{1,9})$/;

function decoded(base64url: string): string {
  try {
    return atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return '';
  }
}

function managedOf(
  { action, position }: ManageLeverageInput,
  wallet: string,
): RequestFields & { readonly action: string } {
  const { positionId, id, chainId } = placeOf(position, wallet);
  const of = positionId === undefined ? { id, chainId } : { positionId, chainId };
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
