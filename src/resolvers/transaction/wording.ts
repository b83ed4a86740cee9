import { Decimal } from '../../shared/decimal.ts';
import { AppError } from '../../shared/errors.ts';
import type { Issue, ManageAction, ManageInput } from '../../transactions/index.ts';
import type { AppContext } from '../common/context.ts';

/** Where an input of the builders stands in the arguments of a field. */
export type InputPaths = Readonly<Record<string, string>>;

const SHARED: InputPaths = {
  chainId: 'input.chainId',
  strategyId: 'input.strategyId',
  amount: 'input.amount',
  payToken: 'input.payToken',
  slippage: 'input.maxSlippageBps',
  maxSwapLossPct: 'input.maxSwapLossPct',
  minAmountOut: 'input.minAmountOut',
  userAddress: 'wallet',
};

export const OPEN_PATHS: InputPaths = {
  ...SHARED,
  leverage: 'input.target.leverage',
  desiredLtv: 'input.target.ltvPct',
};

export const EQUITY_PATHS: InputPaths = {
  ...SHARED,
  stockLtvPct: 'input.stockLtvPct',
  yieldPositionIds: 'input.yieldPositionIndexes',
};

const VERBS: Readonly<Record<ManageAction, string>> = {
  close: 'close',
  increase_leverage: 'increaseLeverage',
  add_collateral: 'addCollateral',
  remove_collateral: 'removeCollateral',
  repay: 'repay',
  borrow: 'borrow',
};

/**
 * Where the inputs of an action on a position stand.
 * @param byId whether the position was named by its global id
 */
export function managePathsOf({ action, full }: Pick<ManageInput, 'action' | 'full'>, byId: boolean): InputPaths {
  const verb = full === true ? 'repayAll' : VERBS[action];
  return {
    ...SHARED,
    chainId: byId ? 'input.position.id' : 'input.position.at.chainId',
    id: byId ? 'input.position.id' : 'input.position.at.positionIndex',
    positionId: 'input.position.at.marketId',
    amount: `input.action.${verb}.amount`,
    payToken: `input.action.${verb}.payToken`,
    leverage: `input.action.${verb}.leverage`,
    desiredLtv: `input.action.${verb}.ltvPct`,
  };
}

/** What errors of the builders call by its name of /v1, and its name here. */
const WORDS: readonly (readonly [RegExp, string | ((...groups: string[]) => string)])[] = [
  [
    /\bthe slippage (\d+(?:\.\d+)?) only (\d+(?:\.\d+)?) holds/g,
    (_text, asked, effective) => `maxSlippageBps ${bpsOf(asked)} only ${bpsOf(effective)} holds`,
  ],
  [/\/v1\/partner\/positions\/(0x[0-9a-fA-F]{40})\?chainId=(\d+)/g, 'wallet(address: "$1", chainIds: [$2])'],
  [/\/v1\/strategies(?:\?chainId=\d+)?/g, 'strategies'],
  [/\/v1\/partner\/equity\/exit\/build/g, 'equityExitPlan'],
  [/\/v1\/partner\/equity\/deposit\/build/g, 'equityDepositPlan'],
  [/\/v1\/partner\/equity\/simulate/g, 'equityDepositPreview'],
  [/\/v1\/partner\/leverage(?:\/simulate)?/g, 'leveragePreview'],
  [/^\/health$/g, 'freshness'],
  [/\buserAddress\b/g, 'wallet'],
  [/\bdesiredLtv\b/g, 'ltvPct'],
  [/\byieldPositionIds\b/g, 'yieldPositionIndexes'],
  [/\bincrease_leverage\b/g, 'increaseLeverage'],
  [/\badd_collateral\b/g, 'addCollateral'],
  [/\bremove_collateral\b/g, 'removeCollateral'],
  [/\bfull: true\b/g, 'repayAll'],
];

/**
 * Run a build, and tell its errors in the names of this schema. The rows of /v1 run the same resolvers and keep theirs.
 * @throws what the build throws, in other words
 */
export async function told<T>({ contract }: AppContext, paths: InputPaths, run: () => Promise<T>): Promise<T> {
  if (contract === 'v1') return run();
  try {
    return await run();
  } catch (error) {
    throw error instanceof AppError ? inWordsOfSchema(error, paths) : error;
  }
}

/** A copy, because an error may belong to several callers who wait for the same. */
function inWordsOfSchema(error: AppError, paths: InputPaths): AppError {
  const copy = Object.create(
    Object.getPrototypeOf(error) as object,
    Object.getOwnPropertyDescriptors(error),
  ) as AppError;
  const details = inWords(error.details, paths);
  return Object.defineProperties(copy, {
    message: { value: reworded(error.message), enumerable: false },
    details: { value: details, enumerable: true },
  });
}

function inWords(value: unknown, paths: InputPaths, name?: string): unknown {
  if (typeof value === 'string') return name === 'field' ? (paths[value] ?? value) : reworded(value);
  if (Array.isArray(value)) return value.map((item) => inWords(item, paths));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inWords(item, paths, key)]));
}

function reworded(text: string): string {
  return WORDS.reduce((told, [pattern, name]) => told.replace(pattern, name as string), text);
}

const bpsOf = (ratio = '0') => new Decimal(ratio).shiftedBy(4).toFixed();

/** A sentence of a preview or plan in the names of this schema; the rows of /v1 keep theirs. */
export function sentence(text: string, { contract }: AppContext): string {
  return contract === 'v1' ? text : reworded(text);
}

/** Issues with their sentences in the names of this schema. */
export function shownIssues(issues: readonly Issue[], ctx: AppContext): readonly Issue[] {
  return issues.map((issue) => ({ ...issue, message: sentence(issue.message, ctx) }));
}
