import { yieldFeeOnReturn } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { Decimal, formatUnitsPlain } from '../../shared/decimal.ts';
import { buildDeleverage } from '../build/deleverage.ts';
import { LimitExceededError } from '../errors.ts';
import { baseUnits } from '../input.ts';
import { closingFlows, largestCovered, liquidityNeeds, liquidityOf, requireCovered } from '../liquidity.ts';
import { swapDataOf } from '../open/build.ts';
import { contractFees } from '../preview/costs.ts';
import { previewPosition, sellImpactPct } from '../preview/position.ts';
import { requireLossWithin } from '../quoting/bounds.ts';
import { MAX_SWAP_LOSS_PCT } from '../quoting/loss.ts';
import { withMinimum, worstOutput } from '../quoting/planned.ts';
import { heldSlippage, slippageIssues } from '../quoting/slippage.ts';
import { debtOf } from '../requirements/market-state.ts';
import { payTokenOf } from '../requirements/tokens.ts';
import type { Outcome } from '../simulation/outcome.ts';
import type { PlannedSwap } from '../types.ts';
import { receivedNote, shownAmount, shownPct } from '../words.ts';
import { type QuotedSwap, quoteSwap } from './swap.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/**
 * Sell all collateral, or the amount that was asked for, and send what the debt leaves of the proceeds to the user.
 * @throws InsufficientLiquidityError when the protocol does not hold the whole debt; LimitExceededError
 */
export async function closePosition(context: ManageContext): Promise<VerbDraft> {
  const { market, position, input } = context;
  if (!input.amount) return closeWhole(context);
  const token = payTokenOf(market.collateral);
  const amount = baseUnits(input.amount, token);
  if (amount === position.collateral) return closeWhole(context);
  if (amount < position.collateral) return closePart(context, amount);
  const maxAmount = formatUnitsPlain(position.collateral, token.decimals);
  throw new LimitExceededError(
    `amount is above the ${maxAmount} ${token.symbol} of the position. Send less, or leave it out to close the whole position.`,
    { field: 'amount', value: input.amount.toFixed(), limit: { maxAmount } },
  );
}

async function closeWhole(context: ManageContext): Promise<VerbDraft> {
  const { market, position, live } = context;
  requireCovered(liquidityNeeds([closingFlows(market, position.debt)], [liquidityOf(market, live)]), (needs) => ({
    maxAmount: formatUnitsPlain(largestCovered(position.collateral, needs), market.collateral.decimals),
  }));
  const { before, swap: quoted } = await quoteSale(context, position.collateral);
  const { quote, expectedOut } = quoted;
  if (quote.amountOut < position.debt) {
    const { decimals } = market.loan;
    throw new LimitExceededError(
      `Selling all collateral would give ${shownAmount(quote.amountOut, market.loan)}, less than the debt of ${shownAmount(position.debt, market.loan)}. Repay some debt first.`,
      {
        field: 'action',
        value: 'close',
        limit: {
          proceeds: formatUnitsPlain(quote.amountOut, decimals),
          debt: formatUnitsPlain(position.debt, decimals),
        },
      },
    );
  }
  const swap = withMinimum(quoted, position.debt);
  const slippage = heldSlippage(context.slippage, [{ before, after: swap }]);
  const impact = sellImpactPct(position.collateral, expectedOut, live.price);
  try {
    requireSaleWithin(context, quoted, { field: 'action', value: 'close' });
  } catch (error) {
    throw error instanceof LimitExceededError ? await withPart(context, error, impact) : error;
  }
  const restOf = (sold: bigint) => (sold > position.debt ? sold - position.debt : 0n);
  const feeOf = (rest: bigint) => yieldFeeOnReturn(rest, position.basis, context.deployment.yieldFee);
  const [rest, least] = [restOf(expectedOut), restOf(worstOutput(swap))];
  const fee = feeOf(rest);
  const feeNotes =
    fee === 0n ? [] : [`The contract keeps about ${shownAmount(fee, market.loan)} of the yield as its fee.`];
  return {
    ...saleDraft(context, 0n, swap),
    slippage,
    issues: slippageIssues(heldSlippage(context.slippage, [{ before: quoted, after: swap }])),
    fees: contractFees('YIELD_FEE', fee, market),
    leastPaidOut: least - feeOf(least),
    ...(position.debt > 0n ? { amountFlashLoan: position.debt, debtChange: -position.debt } : {}),
    notes: [
      `The swap loses ${shownPct(impact)} against the oracle's price. After repaying ${shownAmount(position.debt, market.loan)} about ${shownAmount(rest - fee, market.loan)} is paid out.`,
      ...feeNotes,
    ],
    conclude: ({ received, fills }) => ({
      fees: contractFees('YIELD_FEE', feeOf(restOf(fills.at(-1)?.received ?? expectedOut)), market),
      notes: [
        `The swap loses ${shownPct(impact)} against the oracle's price. ${receivedNote({ token: market.loan, amount: received.loan })}`,
        ...feeNotes,
      ],
    }),
  };
}

/** What share of the debt a part of the collateral repays is the contract's rule: the simulation tells what is left. */
async function closePart(context: ManageContext, amount: bigint): Promise<VerbDraft> {
  const { market, position, live, rates, input } = context;
  const { before, swap } = await quoteSale(context, amount);
  requireSaleWithin(context, swap, { field: 'amount', value: input.amount?.toFixed() ?? '' });
  const impact = sellImpactPct(amount, swap.expectedOut, live.price);
  return {
    ...saleDraft(context, amount, swap),
    slippage: heldSlippage(context.slippage, [{ before, after: swap }]),
    conclude: ({ position: { collateral, debt }, received, fills, live: after }: Outcome) => ({
      fees: contractFees(
        'YIELD_FEE',
        keptOf(context, {
          sold: fills.at(-1)?.received ?? swap.expectedOut,
          repaid: debtOf(after, position.borrowShares) - debt,
          received: received.loan,
        }),
        market,
      ),
      ...(collateral > 0n
        ? {
            preview: previewPosition({
              price: live.price,
              after: { collateral, debt },
              rates,
              swap: { source: swap.quote.source, priceImpactPct: impact },
            }),
          }
        : {}),
      amountFlashLoan: position.debt > debt ? position.debt - debt : 0n,
      debtChange: debt - position.debt,
      notes: [
        `How much of the debt a part repays is the contract's own rule: the preview is what the simulation ended with. It sold ${shownAmount(amount, market.collateral)}, losing ${shownPct(impact)} against the oracle's price, and repaid ${shownAmount(position.debt - debt, market.loan)}.`,
        receivedNote({ token: market.loan, amount: received.loan }),
      ],
    }),
  };
}

/** Loan base units by which debts that are rounded up may differ. */
const ROUNDING = 2n;

/** What the contract kept of a sale, which of a part is its own rule as well. Loan base units. */
function keptOf(
  { deployment }: ManageContext,
  { sold, repaid, received }: { readonly sold: bigint; readonly repaid: bigint; readonly received: bigint },
): bigint {
  const kept = sold - repaid - received;
  return deployment.yieldFee > 0n && kept > ROUNDING ? kept : 0n;
}

function quoteSale(context: ManageContext, amountIn: bigint): Promise<QuotedSwap> {
  const { chain, market } = context;
  return quoteSwap(context, {
    tokenIn: payTokenOf(market.collateral),
    tokenOut: payTokenOf(market.loan),
    amountIn,
    executor: chain.contracts.flashLeverage,
    feeBps: 0,
  });
}

function saleDraft(
  { chain, position }: ManageContext,
  amountCollateral: bigint,
  swap: PlannedSwap,
): Pick<VerbDraft, 'path' | 'approvals' | 'tx' | 'swaps'> {
  return {
    path: 'deleverage',
    approvals: [],
    tx: buildDeleverage(chain.contracts, {
      positionId: BigInt(position.id),
      amountCollateral,
      swapData: swapDataOf(swap.quote),
      minTokenOut: swap.minOut,
    }),
    swaps: [swap],
  };
}

function requireSaleWithin(
  { position, live, maxSwapLossPct, largestPct }: ManageContext,
  swap: PlannedSwap,
  requested: { readonly field: string; readonly value: string },
): void {
  requireLossWithin({
    swaps: [{ swap }],
    equity: collateralValueInLoan(position.collateral, live.price) - position.debt,
    boundsTotal: false,
    maxSwapLossPct,
    largestPct,
    requested,
  });
}

function isSaleWithin(context: ManageContext, swap: PlannedSwap): boolean {
  try {
    requireSaleWithin(context, swap, { field: 'amount', value: '' });
    return true;
  } catch (error) {
    if (error instanceof LimitExceededError) return false;
    throw error;
  }
}

/** Share of the size that a loss proportional to it would allow: the rest is for fees that do not shrink with it. */
const PART_SHARE: Decimal = new Decimal('0.8');
const PART_DIGITS = 3;

/** Name a part of the collateral whose sale would pass beside what the refusal of the whole says. */
async function withPart(
  context: ManageContext,
  refused: LimitExceededError,
  impactPct: Decimal,
): Promise<LimitExceededError> {
  const { details, message } = refused;
  const { position, market } = context;
  if (!details || !impactPct.gt(0)) return refused;
  const share = MAX_SWAP_LOSS_PCT.div(impactPct).times(PART_SHARE);
  const amount = new Decimal(position.collateral.toString())
    .times(Decimal.min(share, PART_SHARE))
    .precision(PART_DIGITS, Decimal.ROUND_DOWN);
  const sale = await quoteSale(context, BigInt(amount.toFixed(0))).catch(() => undefined);
  if (!sale || !isSaleWithin(context, sale.swap)) {
    return new LimitExceededError(`${message} Or close a part: send amount, of the collateral.`, details);
  }
  const part = formatUnitsPlain(BigInt(amount.toFixed(0)), market.collateral.decimals);
  return new LimitExceededError(
    `${message} Or close a part: send amount, e.g. ${part} ${market.collateral.displaySymbol}.`,
    { ...details, limit: { ...details.limit, amount: part } },
  );
}
