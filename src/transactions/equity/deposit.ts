import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { EquityVault } from '../../catalog/types.ts';
import { ltvLimits } from '../../domain/leverage/limits.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import type { Strategy } from '../../domain/strategy/types.ts';
import { type Decimal, formatUnitsPlain } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { Address } from '../../shared/ids.ts';
import { InsufficientLiquidityError } from '../errors.ts';
import { baseUnits, type EffectiveSlippage, effectiveSlippage, leastOutput, MAX_SLIPPAGE } from '../input.ts';
import { plannedSwap } from '../open/terms.ts';
import { loanInCollateral } from '../preview/ltv.ts';
import { leastLeverageOutput } from '../preview/position.ts';
import type { Quoter } from '../quoting/quoter.ts';
import { foldMarket, type LiveMarket, planMarket } from '../requirements/market-state.ts';
import { type LatestReader, type Read, readOf, required } from '../requirements/reads.ts';
import { payTokenOf } from '../requirements/tokens.ts';
import { requireOpenMarket, requireOpenVault } from './eligibility.ts';
import { depositFees } from './fees.ts';
import { requireFreshMarkets } from './freshness.ts';
import { previewDeposit } from './preview.ts';
import { sizeFlashLoan, sizeStockBorrow } from './sizing.ts';
import { resolveStockLtvPct } from './stock-ltv.ts';
import type { DepositTerms } from './types.ts';
import type { FoundVault } from './vault.ts';

/** What was asked for. `undefined` = left out. */
export interface DepositRequest {
  /** Whole deposit tokens. */
  readonly amount: Decimal;
  readonly stockLtvPct?: Decimal | undefined;
  readonly slippage?: Decimal | undefined;
}

/** What is known of a vault before anything is read: both markets as composed, and the vault as listed. */
export interface VaultFacts {
  readonly stock: ComposedMarket;
  readonly yieldMarket: ComposedMarket;
  readonly strategy: Strategy;
}

export interface PlanDeps {
  readonly quoter: Quoter;
  readonly reader: LatestReader;
  readonly feeReceiver: Address | undefined;
}

export interface PlannedDeposit {
  readonly terms: DepositTerms;
  readonly slippage: EffectiveSlippage;
  /** The answers to the further reads that were asked for. */
  readonly answers: readonly unknown[];
}

/**
 * Decide everything about a deposit: check what was asked, read both markets as they are now, quote the three swaps one
 * after the other (each is sized on the least that the one before gives) and preview the result.
 * @param further more to read in the same request, answered in `answers`
 * @throws BadRequestError, LimitExceededError, NotEligibleError, StaleDataError, InsufficientLiquidityError, NoRouteError,
 * UpstreamUnavailableError
 */
export async function planDeposit(
  deps: PlanDeps,
  { chain, router, vault }: FoundVault,
  request: DepositRequest,
  facts: VaultFacts,
  nowMs: number,
  further: readonly Read<unknown>[] = [],
): Promise<PlannedDeposit> {
  const slippage = effectiveSlippage(request.slippage ?? MAX_SLIPPAGE);
  const stockLtvPct = resolveStockLtvPct(vault, request.stockLtvPct);
  const amountIn = baseUnits(request.amount, payTokenOf(vault.depositToken));
  requireOpenVault(vault, facts.strategy, nowMs);
  requireFreshMarkets([facts.stock, facts.yieldMarket], nowMs);
  const live = await readVault(deps.reader, { chain, router, vault }, further);
  const prices = { stock: live.stock.price, yield: live.yieldMarket.price };
  const fees = depositFees(vault, deps.feeReceiver);
  const { flashLeverage } = chain.contracts;
  const { depositToken, stock, yieldMarket } = vault;
  const buy = async (token: Address, amount: bigint, price: bigint, feeBps: number, holder: Address) =>
    deps.quoter.quote({
      chain,
      tokenIn: depositToken.address,
      tokenOut: token,
      amountIn: amount,
      sender: holder,
      recipient: holder,
      slippage: slippage.value,
      feeBps,
      ...(deps.feeReceiver === undefined ? {} : { feeReceiver: deps.feeReceiver }),
      expectedOut: loanInCollateral(amount, price),
    });

  const stockQuote = await buy(stock.address, amountIn, prices.stock, fees.stockLegBps, router);
  const minStock = leastOutput(stockQuote.amountOut, slippage.value);
  const stockSwap = plannedSwap(depositToken, stock, stockQuote, minStock, fees.stockLegBps);
  const stockBorrow = sizeStockBorrow(minStock, prices.stock, stockLtvPct);
  requirePositive(stockBorrow, vault, amountIn);
  requireLiquidity(vault, stockBorrow, live.stock.liquidity);

  const loop = yieldMarket.collateral;
  const zapQuote = await buy(loop.address, stockBorrow, prices.yield, fees.yieldLegBps, router);
  const minCollateral = leastOutput(zapQuote.amountOut, slippage.value);
  const zap = plannedSwap(depositToken, loop, zapQuote, minCollateral, fees.yieldLegBps);
  const amountFlashLoan = sizeFlashLoan(vault, minCollateral, prices.yield);
  requirePositive(amountFlashLoan, vault, amountIn);
  requireLiquidity(vault, amountFlashLoan, live.yieldMarket.liquidity);

  const loanQuote = await buy(loop.address, amountFlashLoan, prices.yield, fees.yieldLegBps, flashLeverage);
  const minLeveraged = leastLeverageOutput({
    expectedOut: loanQuote.amountOut,
    slippage: slippage.value,
    collateral: minCollateral,
    debt: amountFlashLoan,
    price: prices.yield,
    maxLtvPct: ltvLimits(yieldMarket.lltv).maxLtvPct,
    requested: { field: 'amount', value: request.amount.toFixed() },
  });
  const leverage = plannedSwap(depositToken, loop, loanQuote, minLeveraged, fees.yieldLegBps);
  const swaps = { stock: stockSwap, zap, leverage };
  const decided = {
    vault,
    router,
    amountIn,
    stockLtvPct,
    stockBorrow,
    amountFlashLoan,
    swaps,
    fees: { stockLegBps: stockSwap.feeBps, yieldLegBps: leverage.feeBps },
    slippage: slippage.value,
  };
  const preview = previewDeposit({ ...decided, prices, stock: facts.stock, yieldMarket: facts.yieldMarket });
  return { terms: { ...decided, preview }, slippage, answers: live.answers };
}

/** Read both markets and whether the yield market is open, at one block. */
async function readVault(
  reader: LatestReader,
  { chain, vault }: FoundVault,
  further: readonly Read<unknown>[],
): Promise<{ stock: LiveMarket; yieldMarket: LiveMarket; answers: readonly unknown[] }> {
  const { flashLeverage } = chain.contracts;
  const { timestamp, answers } = await reader.read([
    ...planMarket(chain, vault.stockMarket),
    ...planMarket(chain, vault.yieldMarket),
    readOf(flashLeverage, flashLeverageAbi, 'isSupportedMarket', [vault.yieldMarket.id]),
    readOf(flashLeverage, flashLeverageAbi, 's_paused', []),
    ...further,
  ]);
  const [a, b, c, d, e, f, isSupported, isPaused, ...rest] = answers;
  requireOpenMarket(vault, { isSupported: required(isSupported), isPaused: required(isPaused) });
  return {
    stock: foldMarket(vault.stockMarket, [a, b, c], timestamp),
    yieldMarket: foldMarket(vault.yieldMarket, [d, e, f], timestamp),
    answers: rest,
  };
}

function requireLiquidity({ depositToken }: EquityVault, needed: bigint, available: bigint): void {
  if (needed <= available) return;
  const { decimals, symbol } = depositToken;
  throw new InsufficientLiquidityError({
    needed: formatUnitsPlain(needed, decimals),
    available: formatUnitsPlain(available, decimals),
    symbol,
  });
}

function requirePositive(borrowed: bigint, { depositToken }: EquityVault, amountIn: bigint): void {
  if (borrowed > 0n) return;
  throw new BadRequestError('amount is too small: not one unit would be borrowed on it. Send more.', {
    field: 'amount',
    value: formatUnitsPlain(amountIn, depositToken.decimals),
  });
}
