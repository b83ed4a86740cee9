import type { DepositArgs, ExitArgs } from '../../schema/equity/equity-inputs.ts';
import type { ManageArgs, OpenArgs } from '../../schema/transaction/leverage-inputs.ts';
import { type Decimal, ZERO } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { type Address, type ChainId, formatValue, type PositionName } from '../../shared/ids.ts';
import type { DepositInput, ExitInput } from '../../transactions/equity/index.ts';
import { LimitExceededError, MAX_SLIPPAGE, type ManageInput, type OpenInput } from '../../transactions/index.ts';
import type { AppContext } from '../common/context.ts';
import { chainOfStrategy } from '../market/chains.ts';
import { requirePlace } from '../position/positions.ts';

/** The argument of a build in which its input is; that of a preview has a part for each build. */
const INPUT = 'input';

type TargetArgs = OpenArgs['target'];

type Bounds = Pick<OpenArgs, 'maxSlippageBps' | 'maxSwapLossPct' | 'minAmountOut'>;

/** The input of an action, and the chain that stands beside it. */
export type OnChain<T> = T & { readonly chainId?: ChainId | null | undefined };

/** Read the input that opens a position. @throws BadRequestError, LimitExceededError */
export function openInput(input: OnChain<OpenArgs>, ctx: AppContext, at = INPUT): OpenInput {
  return {
    chainId: requireChainOf(input, ctx, at),
    strategyId: input.strategyId,
    payToken: input.payToken,
    amount: input.amount,
    ...targetOf(input.target, `${at}.target`),
    ...boundsOf(input, ctx, at),
  };
}

/** Read the input that manages a position. @throws BadRequestError */
export function manageInput(
  user: Address | null | undefined,
  { position, action, ...input }: ManageArgs,
  ctx: AppContext,
  at = INPUT,
): ManageInput {
  return {
    ...placeOf(user, position, ctx, at),
    ...actionOf(action, at),
    ...boundsOf(input, ctx, at),
    allowUnsimulated: input.allowUnsimulated ?? undefined,
  };
}

/** Take the place of a position on chain. @throws BadRequestError, also for the id of a position of another wallet */
function placeOf(
  user: Address | null | undefined,
  position: PositionName,
  ctx: AppContext,
  at: string,
): Pick<ManageInput, 'chainId' | 'user' | 'id' | 'marketId'> {
  const { marketId } = position;
  const { chainId, wallet, index } = requirePlace(position, user, `${at}.position`, ctx);
  return { chainId, user: wallet, id: index, marketId };
}

/** Take the indexes of the loops of a vault. @throws BadRequestError for one of another chain or another wallet */
function loopsOf(
  positions: readonly PositionName[],
  { user, chainId }: { readonly user: Address; readonly chainId: ChainId },
  ctx: AppContext,
  at: string,
): readonly number[] {
  return positions.map((position, i) => {
    const field = `${at}.yieldPositionIds.${i}`;
    const place = requirePlace({ ...position, chainId: position.chainId ?? chainId }, user, field, ctx);
    if (place.chainId === chainId) return place.index;
    throw new BadRequestError(
      `${field} is a position on chain ${place.chainId}, and the vault is on chain ${chainId}. Send a loop of the vault.`,
      { field, value: formatValue(position.text), limit: { oneOf: [chainId] } },
    );
  });
}

type GivenAction = Pick<
  ManageInput,
  'action' | 'amount' | 'payToken' | 'full' | 'exact' | 'leverage' | 'desiredLtvPct'
>;

/** Name the action that was chosen. @throws BadRequestError for none or several */
function actionOf(given: ManageArgs['action'], at: string): GivenAction {
  const { close, increaseLeverage, addCollateral, removeCollateral, repay, repayAll, borrow } = given;
  const chosen: readonly (GivenAction | null | undefined)[] = [
    close && { action: 'close', amount: close.amount ?? undefined, exact: close.exact ?? undefined },
    increaseLeverage && {
      action: 'increase_leverage',
      ...targetOf(increaseLeverage, `${at}.action.increaseLeverage`),
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
  if (!first || others.length > 0) throw notOne(`${at}.action`, ACTIONS);
  return first;
}

const ACTIONS = ['close', 'increaseLeverage', 'addCollateral', 'removeCollateral', 'repay', 'repayAll', 'borrow'];

/** @throws BadRequestError for both or neither */
function targetOf({ leverage, ltvPct }: TargetArgs, field: string): Pick<OpenInput, 'leverage' | 'desiredLtvPct'> {
  if ((leverage == null) === (ltvPct == null)) throw notOne(field, ['leverage', 'ltvPct']);
  return leverage == null ? { desiredLtvPct: ltvPct ?? undefined } : { leverage };
}

/** The engine holds `@oneOf` on its own; this is for values that reach a resolver by another way. */
export function notOne(field: string, names: readonly string[]): BadRequestError {
  return new BadRequestError(`${field} takes exactly one of ${names.join(', ')}.`, {
    field,
    limit: { exactlyOneOf: names },
  });
}

/** Read the input of a vault deposit. @throws BadRequestError, LimitExceededError */
export function depositInput(input: OnChain<DepositArgs>, ctx: AppContext, at = INPUT): DepositInput {
  const { slippage, maxSwapLossPct } = boundsOf(input, ctx, at);
  chainOfStrategy(ctx, input);
  return {
    strategyId: input.strategyId,
    amount: input.amount,
    stockLtvPct: input.stockLtvPct ?? undefined,
    slippage,
    maxSwapLossPct,
  };
}

/** Read the input of a vault exit. @throws BadRequestError, LimitExceededError */
export function exitInput(user: Address, input: OnChain<ExitArgs>, ctx: AppContext, at = INPUT): ExitInput {
  const chain = chainOfStrategy(ctx, input);
  const loops = input.yieldPositionIds;
  return {
    strategyId: input.strategyId,
    // Of a vault that no chain has, the builder tells.
    yieldPositionIds: loops && chain ? loopsOf(loops, { user, chainId: chain.chainId }, ctx, at) : undefined,
    exact: input.exact ?? undefined,
    allowUnsimulated: input.allowUnsimulated ?? undefined,
    ...boundsOf(input, ctx, at),
  };
}

/** Find the chain that a strategy names. @throws BadRequestError for an id that no chain has, and for another `chainId` beside it */
function requireChainOf(
  input: Pick<OnChain<OpenArgs>, 'strategyId' | 'chainId'>,
  ctx: AppContext,
  at: string,
): ChainId {
  const chain = chainOfStrategy(ctx, input);
  if (chain) return chain.chainId;
  const { strategyId } = input;
  throw new BadRequestError(`No chain has a strategy ${strategyId}. Send an id from the strategies list.`, {
    field: `${at}.strategyId`,
    value: strategyId,
  });
}

function boundsOf({ maxSlippageBps, maxSwapLossPct, minAmountOut }: Bounds, ctx: AppContext, at: string) {
  return {
    slippage: slippageOf(maxSlippageBps, ctx, at),
    maxSwapLossPct: maxSwapLossPct ?? undefined,
    minAmountOut: minAmountOut ?? undefined,
  };
}

/**
 * Turn basis points into the ratio of the builders; `undefined` = left out. The rows of /v1 have a cap to which more is lowered.
 * @throws BadRequestError at or below zero; LimitExceededError above the cap
 */
function slippageOf(bps: Decimal | null | undefined, { contract }: AppContext, at: string): Decimal | undefined {
  if (bps == null) return undefined;
  const ratio = bps.shiftedBy(-4);
  if (contract === 'v1') return ratio;
  const max = MAX_SLIPPAGE.shiftedBy(4).toFixed();
  const field = `${at}.maxSlippageBps`;
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
