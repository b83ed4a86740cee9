import type { Chain } from '../../catalog/types.ts';
import { type Decimal, ZERO } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { type Address, type ChainId, formatValue, type MarketId, type StrategyId } from '../../shared/ids.ts';
import type { DepositInput, ExitInput } from '../../transactions/equity/index.ts';
import { LimitExceededError, MAX_SLIPPAGE, type ManageInput, type OpenInput } from '../../transactions/index.ts';
import type { AppContext } from '../common/context.ts';
import { parsePositionId } from '../common/global-id.ts';
import { chainOfId, chainOfStrategy, requireChain } from '../market/chains.ts';

type Loose<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** How long a plan without quotes counts as good, ms: its worst case is that of a minute later. */
export const PLAN_LIFE_MS = 60_000;

/** Bounds that every build takes. */
type Bounds = Loose<{ maxSlippageBps: Decimal; maxSwapLossPct: Decimal; minAmountOut: Decimal }>;

type TargetArgs = Loose<{ leverage: Decimal; ltvPct: Decimal }>;

export type OpenArgs = {
  readonly strategyId: StrategyId;
  readonly payToken: Address;
  readonly amount: Decimal;
  readonly target: TargetArgs;
} & Bounds &
  Loose<{ chainId: ChainId }>;

/** Exactly one of them is given. */
type ActionArgs = Loose<{
  close: Loose<{ amount: Decimal; exact: boolean }>;
  increaseLeverage: TargetArgs;
  addCollateral: { readonly payToken: Address; readonly amount: Decimal };
  removeCollateral: { readonly amount: Decimal };
  repay: { readonly payToken: Address; readonly amount: Decimal };
  repayAll: Loose<{ payToken: Address; amount: Decimal }>;
  borrow: { readonly amount: Decimal };
}>;

type PositionPlace = { readonly chainId: ChainId; readonly positionIndex: number } & Loose<{ marketId: MarketId }>;

export type ManageArgs = {
  /** Exactly one of them is given. */
  readonly position: Loose<{ id: string; at: PositionPlace }>;
  readonly action: ActionArgs;
} & Bounds &
  Loose<{ allowUnsimulated: boolean }>;

export type DepositArgs = { readonly strategyId: StrategyId; readonly amount: Decimal } & Pick<
  Bounds,
  'maxSlippageBps' | 'maxSwapLossPct'
> &
  Loose<{ stockLtvPct: Decimal; chainId: ChainId }>;

export type ExitArgs = { readonly strategyId: StrategyId } & Bounds &
  Loose<{ yieldPositionIndexes: readonly number[]; exact: boolean; allowUnsimulated: boolean; chainId: ChainId }>;

/** Read the input that opens a position. @throws BadRequestError, LimitExceededError */
export function openInput(input: OpenArgs, ctx: AppContext): OpenInput {
  return {
    chainId: requireChainOf(input, ctx),
    strategyId: input.strategyId,
    payToken: input.payToken,
    amount: input.amount,
    ...targetOf(input.target, 'input.target'),
    ...boundsOf(input, ctx),
  };
}

/** Read the input that manages a position. @throws BadRequestError */
export function manageInput(user: Address, { position, action, ...input }: ManageArgs, ctx: AppContext): ManageInput {
  return {
    ...placeOf(user, position, ctx),
    user,
    ...actionOf(action),
    ...boundsOf(input, ctx),
    allowUnsimulated: input.allowUnsimulated ?? undefined,
  };
}

/** Take the place of a position on chain. @throws BadRequestError, also for the id of a position of another wallet */
function placeOf(
  user: Address,
  { id, at }: ManageArgs['position'],
  ctx: AppContext,
): Pick<ManageInput, 'chainId' | 'id' | 'marketId'> {
  if ((id == null) === (at == null)) throw notOne('input.position', ['id', 'at']);
  if (at) {
    const { chainId, marketId } = at;
    // In the contract of /v1 both are parts of one positionId, which the builder compares with the position.
    if (marketId != null && ctx.contract !== 'v1') {
      const hasMarket = (chain: Chain) => ctx.services.catalog.market(chain.chainId, marketId) !== undefined;
      chainOfId(ctx, 'marketId', { chainId }, hasMarket, 'input.position.at.');
    }
    const index = indexOf(at.positionIndex, 'input.position.at.positionIndex', ctx);
    return { chainId, id: index, marketId: marketId ?? undefined };
  }
  const field = 'input.position.id';
  const [chainId, owner, index] = parsePositionId(id ?? '', field);
  if (owner === user) return { chainId: requireChain(ctx, chainId, field).chainId, id: index };
  throw new BadRequestError(
    `wallet ${user} contradicts ${field}, which is a position of ${owner}. Send wallet ${owner}.`,
    { field: 'wallet', value: user, limit: { oneOf: [owner] } },
  );
}

type GivenAction = Pick<
  ManageInput,
  'action' | 'amount' | 'payToken' | 'full' | 'exact' | 'leverage' | 'desiredLtvPct'
>;

/** Name the action that was chosen. @throws BadRequestError for none or several */
function actionOf(given: ActionArgs): GivenAction {
  const { close, increaseLeverage, addCollateral, removeCollateral, repay, repayAll, borrow } = given;
  const chosen: readonly (GivenAction | null | undefined)[] = [
    close && { action: 'close', amount: close.amount ?? undefined, exact: close.exact ?? undefined },
    increaseLeverage && {
      action: 'increase_leverage',
      ...targetOf(increaseLeverage, 'input.action.increaseLeverage'),
    },
    addCollateral && { action: 'add_collateral', ...addCollateral },
    removeCollateral && { action: 'remove_collateral', ...removeCollateral },
    repay && { action: 'repay', ...repay },
    repayAll && {
      action: 'repay',
      full: true,
      payToken: repayAll.payToken ?? undefined,
      amount: repayAll.amount ?? undefined,
    },
    borrow && { action: 'borrow', ...borrow },
  ];
  const [first, ...others] = chosen.filter((one) => one != null);
  if (!first || others.length > 0) throw notOne('input.action', ACTIONS);
  return first;
}

const ACTIONS = ['close', 'increaseLeverage', 'addCollateral', 'removeCollateral', 'repay', 'repayAll', 'borrow'];

/** @throws BadRequestError for both or neither */
function targetOf({ leverage, ltvPct }: TargetArgs, field: string): Pick<OpenInput, 'leverage' | 'desiredLtvPct'> {
  if ((leverage == null) === (ltvPct == null)) throw notOne(field, ['leverage', 'ltvPct']);
  return leverage == null ? { desiredLtvPct: ltvPct ?? undefined } : { leverage };
}

/** The engine holds `@oneOf` on its own; this is for values that reach a resolver by another way. */
function notOne(field: string, names: readonly string[]): BadRequestError {
  return new BadRequestError(`${field} takes exactly one of ${names.join(', ')}.`, {
    field,
    limit: { exactlyOneOf: names },
  });
}

/** Read the input of a vault deposit. @throws BadRequestError, LimitExceededError */
export function depositInput(input: DepositArgs, ctx: AppContext): DepositInput {
  const { slippage, maxSwapLossPct } = boundsOf(input, ctx);
  chainOfStrategy(ctx, input, 'input.');
  return {
    strategyId: input.strategyId,
    amount: input.amount,
    stockLtvPct: input.stockLtvPct ?? undefined,
    slippage,
    maxSwapLossPct,
  };
}

/** Read the input of a vault exit. @throws BadRequestError, LimitExceededError */
export function exitInput(input: ExitArgs, ctx: AppContext): ExitInput {
  chainOfStrategy(ctx, input, 'input.');
  return {
    strategyId: input.strategyId,
    yieldPositionIds: input.yieldPositionIndexes ?? undefined,
    exact: input.exact ?? undefined,
    allowUnsimulated: input.allowUnsimulated ?? undefined,
    ...boundsOf(input, ctx),
  };
}

/** Find the chain that a strategy names. @throws BadRequestError for an id that no chain has, and for another `chainId` beside it */
function requireChainOf(input: Pick<OpenArgs, 'strategyId' | 'chainId'>, ctx: AppContext): ChainId {
  const chain = chainOfStrategy(ctx, input, 'input.');
  if (chain) return chain.chainId;
  const { strategyId } = input;
  throw new BadRequestError(`No chain has a strategy ${strategyId}. Send an id from the strategies list.`, {
    field: 'input.strategyId',
    value: strategyId,
  });
}

function boundsOf({ maxSlippageBps, maxSwapLossPct, minAmountOut }: Bounds, ctx: AppContext) {
  return {
    slippage: slippageOf(maxSlippageBps, ctx),
    maxSwapLossPct: maxSwapLossPct ?? undefined,
    minAmountOut: minAmountOut ?? undefined,
  };
}

/**
 * Turn basis points into the ratio of the builders; `undefined` = left out. The rows of /v1 have a cap to which more is lowered.
 * @throws BadRequestError at or below zero; LimitExceededError above the cap
 */
function slippageOf(bps: Decimal | null | undefined, { contract }: AppContext): Decimal | undefined {
  if (bps == null) return undefined;
  const ratio = bps.shiftedBy(-4);
  if (contract === 'v1') return ratio;
  const max = MAX_SLIPPAGE.shiftedBy(4).toFixed();
  const field = 'input.maxSlippageBps';
  const value = formatValue(bps.toFixed());
  if (!bps.gt(ZERO)) {
    throw new BadRequestError(`maxSlippageBps must be above 0, at most ${max}. Send e.g. 50 for 0.5 %.`, {
      field,
      value,
      limit: { above: '0', max },
    });
  }
  if (ratio.lte(MAX_SLIPPAGE)) return ratio;
  throw new LimitExceededError(
    `maxSlippageBps ${value} is above the cap: at most ${max}, that is ${MAX_SLIPPAGE.shiftedBy(2).toFixed()} %. Nothing is lowered on its own: send ${max} or less.`,
    { field, value, limit: { maxSlippageBps: max } },
  );
}

function indexOf(index: number, field: string, { contract }: AppContext): number {
  if (contract === 'v1' || index >= 0) return index;
  throw new BadRequestError(`positionIndex must be 0 or more, as \`Position.positionIndex\` tells it.`, {
    field,
    value: String(index),
    limit: { min: 0 },
  });
}
