import { Decimal } from '../../shared/decimal.ts';
import { AppError, copyWith } from '../../shared/errors.ts';
import { type Names, REST_NAMES, spell } from '../../shared/names.ts';
import type { ManageAction, ManageInput } from '../../transactions/index.ts';
import type { AppContext } from '../common/context.ts';

/** The paths of the builders' inputs in the arguments of a field. */
type InputPaths = Readonly<Record<string, string>>;

const sharedPaths = (at: string): InputPaths => ({
  chainId: 'chainId',
  strategyId: `${at}.strategyId`,
  amount: `${at}.amount`,
  payToken: `${at}.payToken`,
  slippage: `${at}.maxSlippageBps`,
  maxSwapLossPct: `${at}.maxSwapLossPct`,
  minAmountOut: `${at}.minAmountOut`,
  userAddress: 'wallet',
});

/** The argument of a preview that has the input of a build. Rows of /v1 have the input itself. */
export function inputIn({ contract }: Pick<AppContext, 'contract'>, name: string): string {
  return contract === 'v1' ? 'input' : `input.${name}`;
}

/** The paths of the inputs of an opening. @param at the argument that has them */
export const openPaths = (at = 'input'): InputPaths => ({
  ...sharedPaths(at),
  leverage: `${at}.target.leverage`,
  desiredLtv: `${at}.target.ltvPct`,
});

/** The paths of the inputs of a deposit or exit. */
export const equityPaths = (at = 'input'): InputPaths => ({
  ...sharedPaths(at),
  stockLtvPct: `${at}.stockLtvPct`,
  yieldPositionIds: `${at}.yieldPositionIds`,
});

const ACTIONS: Readonly<Record<ManageAction, string>> = {
  close: 'close',
  increase_leverage: 'increaseLeverage',
  add_collateral: 'addCollateral',
  remove_collateral: 'removeCollateral',
  repay: 'repay',
  borrow: 'borrow',
};

/** The paths of the inputs of an action on a position. */
export function managePathsOf({ action, full }: Pick<ManageInput, 'action' | 'full'>, at = 'input'): InputPaths {
  const input = `${at}.action.${full === true ? GRAPHQL_NAMES.repayAll : ACTIONS[action]}`;
  return {
    ...sharedPaths(at),
    chainId: `${at}.position`,
    id: `${at}.position`,
    positionId: `${at}.position`,
    amount: `${input}.amount`,
    payToken: `${input}.payToken`,
    leverage: `${input}.leverage`,
    desiredLtv: `${input}.ltvPct`,
  };
}

/** The inputs with other names than in REST. */
const INPUTS: Readonly<Record<string, string>> = {
  userAddress: 'wallet',
  desiredLtv: 'ltvPct',
};

const GRAPHQL_NAMES: Names = {
  input: (name) => INPUTS[name] ?? name,
  repayAll: 'repayAll',
  actions: ACTIONS,
  slippage: { name: 'maxSlippageBps', value: (ratio) => new Decimal(ratio).shiftedBy(4).toFixed() },
  plan: {
    approval: 'approval in "calls"',
    approvals: 'approvals in "calls"',
    allowance: 'the approval in "calls"',
    transaction: 'the last of "calls"',
  },
  places: {
    strategies: () => 'strategies',
    positions: (wallet, chainId) => `wallet(address: "${wallet}", chainIds: [${chainId}])`,
    equityDeposit: 'equityDepositPlan',
    equityPreview: 'preview',
    equityExit: 'equityExitPlan',
    leverage: 'preview',
    leveragePreview: 'preview',
    freshness: 'freshness',
  },
};

/** The names of the surface of a request: rows of /v1 run the same resolvers. */
export function namesOf({ contract }: Pick<AppContext, 'contract'>): Names {
  return contract === 'v1' ? REST_NAMES : GRAPHQL_NAMES;
}

/**
 * Run a build. Its errors get the names and the paths of the request's surface.
 * @throws the errors of the build
 */
export async function inNamesOf<T>(ctx: AppContext, paths: InputPaths, run: () => Promise<T>): Promise<T> {
  if (ctx.contract === 'v1') return run();
  try {
    return await run();
  } catch (error) {
    throw error instanceof AppError ? located(error.spelled(GRAPHQL_NAMES), paths) : error;
  }
}

/** Copy an error with the path of its input: several callers may wait for the same error. */
function located(error: AppError, paths: InputPaths): AppError {
  const field = (error.details as { readonly field?: unknown } | undefined)?.field;
  if (typeof field !== 'string' || paths[field] === undefined) return error;
  return copyWith(error, { details: { ...(error.details as object), field: paths[field] } });
}

/** Spell the references in a text, or in issues, in the names of the request's surface. */
export function spelled<T>(value: T, ctx: Pick<AppContext, 'contract'>): T {
  return spell(value, namesOf(ctx));
}
