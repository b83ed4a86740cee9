import { erc20Abi } from '../../abi/erc20.ts';
import type { Chain, Market, Token } from '../../catalog/types.ts';
import { ChainReadError } from '../../chain/rpc/errors.ts';
import { beforeDepositFee } from '../../domain/leverage/fees.ts';
import { type Decimal, formatUnitsPlain, fromUnits } from '../../shared/decimal.ts';
import { AppError } from '../../shared/errors.ts';
import type { Address } from '../../shared/ids.ts';
import { type BuilderDeps, feedsOf, inOneSession } from '../deps.ts';
import { LimitExceededError } from '../errors.ts';
import { requireChainOf } from '../guards.ts';
import { MAX_UNITS } from '../input.ts';
import { SENT_WITHIN_SEC } from '../liquidity.ts';
import { buildManagePlan, type ManageInput } from '../manage/index.ts';
import type { Plan } from '../plan.ts';
import { debtOf } from '../read/market-state.ts';
import { type ManagedState, type PositionDirectory, readManaged } from '../read/position.ts';
import { readOf } from '../read/reads.ts';
import { type RepaymentInput, repaymentGas } from './gas.ts';
import { sellAndRepay } from './sell-and-repay.ts';
import { type DeleverageSizes, deleverageSizes, excessDebt, ROUNDING } from './size.ts';
import { requireLoss, targetOf } from './target.ts';
import type { DeleverageOption, DeleverageOptions, DeleverageRequest, DeleverageStep } from './types.ts';

/**
 * List the ways to bring a position down to a target LTV, each previewed by its own build at one block: repaying, adding
 * collateral, and selling a part of the collateral to repay with the proceeds. One that is not possible now has its error.
 * @throws BadRequestError for the target or the position; NotEligibleError for one that has ended; ChainReadError
 */
export async function deleverageOptions(
  shared: BuilderDeps,
  positions: PositionDirectory,
  request: DeleverageRequest,
): Promise<DeleverageOptions> {
  requireLoss(request.maxSwapLossPct);
  const deps = inOneSession(shared);
  const chain = requireChainOf(deps.chains, request.chainId);
  const [{ market, state, balances, allowance }, gasPriceWei] = await Promise.all([
    readPosition(deps, positions, chain, request),
    deps.gasPriceOf(chain.chainId),
  ]);
  const { position, live, deployment } = state;
  const { limits } = deployment;
  const targetLtvPct = targetOf(request, limits);
  const excess = excessDebt({ position, price: live.price, targetLtvPct });
  const result = { chain, market, position, live, limits, targetLtvPct, excess, balances, gasPriceWei };
  if (excess <= 0n) return { ...result, options: [] };
  const ways = waysOf({ market, state, targetLtvPct });
  const { simulator } = deps.node(chain.chainId);
  const repayment = { simulator, chain, market, user: request.user, positionId: request.id, allowance };
  const build = (given: Omit<ManageInput, 'chainId' | 'user' | 'id'>) => {
    const { chainId, user, id } = request;
    return buildManagePlan(deps, positions, { chainId, user, id, ...given });
  };
  return {
    ...result,
    options: await Promise.all([
      repayOption(ways, build),
      addCollateralOption(ways, build),
      closeOption(ways, build, request.maxSwapLossPct, repayment),
    ]),
  };
}

interface Ways {
  readonly market: Market;
  readonly state: ManagedState;
  readonly targetLtvPct: Decimal;
  readonly sizes: DeleverageSizes & { readonly addCollateral: bigint };
  /** Loan tokens that repay the whole debt now, the deposit fee included, base units. */
  readonly due: bigint;
}

type Build = (given: Omit<ManageInput, 'chainId' | 'user' | 'id'>) => Promise<Plan>;

/** Size the ways for the debt at the time when a plan expires, and as the protocol may round it: sent later, it is built anew. */
function waysOf({ market, state, targetLtvPct }: Omit<Ways, 'sizes' | 'due'>): Ways {
  const { position, live, deployment } = state;
  const { depositFee } = deployment;
  const debt = debtOf(live, position.borrowShares, SENT_WITHIN_SEC) + ROUNDING;
  const later = { collateral: position.collateral, debt };
  const sizes = deleverageSizes({ market, position: later, price: live.price, targetLtvPct, depositFee });
  const { addCollateral } = sizes ?? {};
  if (!sizes || addCollateral === undefined) throw new Error('a target is above 0, and a debt above it grows');
  return {
    market,
    state,
    targetLtvPct,
    sizes: { ...sizes, addCollateral },
    due: beforeDepositFee(position.debt, depositFee),
  };
}

async function repayOption({ market: { loan }, sizes, due }: Ways, build: Build): Promise<DeleverageOption> {
  const isFull = sizes.repay > due;
  const amount = isFull ? undefined : fromUnits(sizes.repay, loan.decimals);
  const full = isFull || undefined;
  const outcome = await tried(() =>
    build({ action: 'repay', payToken: loan.address, amount, full, allowUnsimulated: true }),
  );
  const paid = outcome instanceof AppError ? sizes.repay : (outcome.pays?.amount ?? sizes.repay);
  return { action: 'repay', steps: [step('repay', loan, paid, { isFull, gasUsed: gasOf(outcome) })], outcome };
}

async function addCollateralOption(
  { market: { collateral }, sizes, targetLtvPct }: Ways,
  build: Build,
): Promise<DeleverageOption> {
  const action = 'add_collateral';
  const stepOf = (gasUsed?: bigint) => step(action, collateral, sizes.addCollateral, { gasUsed });
  if (sizes.addCollateral > MAX_UNITS) {
    return { action, steps: [stepOf()], outcome: tooMuch(collateral, targetLtvPct) };
  }
  const amount = fromUnits(sizes.addCollateral, collateral.decimals);
  const outcome = await tried(() => build({ action, payToken: collateral.address, amount, allowUnsimulated: true }));
  return { action, steps: [stepOf(gasOf(outcome))], outcome };
}

async function closeOption(
  { market, state, sizes, targetLtvPct }: Ways,
  build: Build,
  maxSwapLossPct: Decimal | undefined,
  repayment: RepaymentInput,
): Promise<DeleverageOption> {
  const { collateral, loan } = market;
  const { live, position } = state;
  const part = await tried(() =>
    sellAndRepay({
      market,
      state,
      targetLtvPct,
      // The repayment is built when the sale has been mined, and has a time to be sent of its own.
      interest: debtOf(live, position.borrowShares, 2n * SENT_WITHIN_SEC) - position.debt,
      sell: sizes.sell,
      build: (sold) => build({ action: 'close', amount: fromUnits(sold, collateral.decimals), maxSwapLossPct }),
    }),
  );
  if (part instanceof AppError) {
    const steps = sizes.sell === undefined ? [] : [step('close', collateral, sizes.sell)];
    return { action: 'close', steps, outcome: part };
  }
  const { sold, repaid, isFull, plan } = part;
  const gasUsed = await repaymentGas(repayment, part);
  return {
    action: 'close',
    steps: [
      step('close', collateral, sold, { gasUsed: plan.gasUsed }),
      step('repay', loan, repaid, { isFull, fromProceeds: true, gasUsed }),
    ],
    outcome: plan,
  };
}

function tooMuch({ displaySymbol, decimals }: Token, targetLtvPct: Decimal): LimitExceededError {
  const value = targetLtvPct.toFixed();
  return new LimitExceededError(
    `An LTV of ${value} % takes more ${displaySymbol} than any position can hold. Ask for a higher LTV, or repay.`,
    { field: 'targetLtvPct', value, limit: { maxAmount: formatUnitsPlain(MAX_UNITS, decimals) } },
  );
}

function step(
  action: DeleverageStep['action'],
  token: DeleverageStep['token'],
  amount: bigint,
  {
    isFull = false,
    fromProceeds = false,
    gasUsed,
  }: Partial<Pick<DeleverageStep, 'isFull' | 'fromProceeds' | 'gasUsed'>> = {},
): DeleverageStep {
  return { action, token, amount, isFull, fromProceeds, gasUsed };
}

function gasOf(outcome: Plan | AppError): bigint | undefined {
  return outcome instanceof AppError ? undefined : outcome.gasUsed;
}

/** An expected error of one option does not affect the others. */
async function tried<T>(run: () => Promise<T>): Promise<T | AppError> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** Read a position, its market, the balances that an option may pay with, and the allowance of a repayment, at one block. */
async function readPosition(
  deps: BuilderDeps,
  positions: PositionDirectory,
  chain: Chain,
  { user, id }: DeleverageRequest,
  isFirst = true,
): Promise<{
  readonly market: Market;
  readonly state: ManagedState;
  readonly balances: ReadonlyMap<Address, bigint | undefined>;
  readonly allowance: bigint | undefined;
}> {
  const { reader } = deps.node(chain.chainId);
  const binding = await positions.bind(reader, chain, user, id);
  const { market } = binding;
  const tokens = [market.loan.address, market.collateral.address];
  const nowMs = deps.clock.now();
  const { flashLeverage } = chain.contracts;
  const [state, { answers }] = await Promise.all([
    readManaged(reader, { chain, user, id, binding, payToken: undefined, nowMs, feeds: feedsOf(deps, market) }),
    reader.read([
      ...tokens.map((token) => readOf(token, erc20Abi, 'balanceOf', [user])),
      readOf(market.loan.address, erc20Abi, 'allowance', [user, flashLeverage]),
    ]),
  ]);
  const [allowance] = answers.slice(tokens.length);
  if (state) return { market, state, balances: new Map(tokens.map((token, i) => [token, answers[i]])), allowance };
  positions.forget(chain, user, id);
  if (!isFirst) throw new ChainReadError('implausible');
  return readPosition(deps, positions, chain, { chainId: chain.chainId, user, id }, false);
}
