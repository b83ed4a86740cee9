import { MathLib } from '@morpho-org/blue-sdk';
import { Decimal, formatUnitsPlain } from '../../shared/decimal.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import { InsufficientLiquidityError, LimitExceededError, type SimulationRevertedError } from '../errors.ts';
import { closingFlows, liquidityNeeds, liquidityOf, requireCovered } from '../liquidity.ts';
import { formatAmount, formatPercent, receivedNote } from '../messages.ts';
import { contractFees, equityValueOf } from '../preview/costs.ts';
import { ltvPctOf } from '../preview/ltv.ts';
import { previewPosition, sellImpactPct } from '../preview/position.ts';
import { worstOutput } from '../quote/planned.ts';
import { heldSlippage } from '../quote/slippage.ts';
import type { Outcome } from '../simulate/outcome.ts';
import { UNDER_WATER_WAYS, underWaterFact, underWaterOf } from '../under-water.ts';
import { type Held, largestPart, mostOfPart, shareOfDebt } from './part.ts';
import { isSaleWithin, quoteSale, requireSaleWithin, saleDraft, saleIssues, simulatedFee } from './sale.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/**
 * Sell a part of the collateral. Its share of the debt is the contract's own rule: only the simulation shows the rest.
 * @throws LimitExceededError when the rest would be too little for a position
 */
export async function closePart(context: ManageContext, amount: bigint): Promise<VerbDraft> {
  const { market, position, live, rates, input } = context;
  const most = mostOfPart(context);
  if (most > 0n && amount > most) throw tooLittleLeft(context, amount, most);
  if (position.debt > 0n && equityValueOf(position, live.price) <= 0n) throw noPart(context, input.amount);
  const { before, swap } = await quoteSale(context, amount);
  // No accepted loss makes a part possible whose rest could not be held.
  if (most === 0n && position.debt > 0n && !isSaleWithin(context, swap)) throw noPart(context, input.amount);
  requireSaleWithin(context, swap, { field: 'amount', value: input.amount?.toFixed() ?? '' });
  const impact = sellImpactPct(amount, swap.expectedOut, live.price);
  return {
    ...saleDraft(context, amount, swap),
    needsOutcome: true,
    amounts: { token: market.collateral, smallest: 'quotes', largest: 'quotes' },
    slippage: heldSlippage(context.slippage, [{ before, after: swap }]),
    issues: saleIssues(context, swap),
    notes: [
      `It sells ${formatAmount(amount, market.collateral)}, losing ${formatPercent(impact)} against the oracle's price. How much of the debt a part repays is the contract's own rule: only a simulation shows it.`,
      ...(context.deployment.yieldFee === 0n
        ? []
        : [
            `So is the yield fee of a part: it is at most ${formatUnitsPlain(context.deployment.yieldFee, 16)} % of the proceeds that the debt leaves.`,
          ]),
    ],
    explain: (error) => explained(context, amount, error),
    conclude: (outcome: Outcome) => {
      const { collateral, debt } = outcome.position;
      const { received, fills, repaid } = outcome;
      requireHeldUntilSent(context, repaid);
      const filled = fills.at(-1)?.received ?? swap.expectedOut;
      // Until the bundle lapses the debt grows, and a worse fill is paid out less for: fees that shrink with it are left out.
      const least = received.loan - (filled - worstOutput(swap)) - context.interest;
      const preview =
        collateral > 0n
          ? previewPosition({
              price: live.price,
              after: { collateral, debt },
              basis: outcome.basis,
              rates,
              swap: { source: swap.quote.source, priceImpactPct: impact },
            })
          : undefined;
      return {
        fees: contractFees('YIELD_FEE', simulatedFee(outcome), market),
        leastPaidOut: least > 0n ? least : 0n,
        ...withoutUndefined({ preview }),
        amountFlashLoan: position.debt > debt ? position.debt - debt : 0n,
        debtChange: debt - position.debt,
        notes: [
          `How much of the debt a part repays is the contract's own rule: the preview is the outcome of the simulation. It sold ${formatAmount(amount, market.collateral)}, losing ${formatPercent(impact)} against the oracle's price, and repaid ${formatAmount(position.debt - debt, market.loan)}.`,
          receivedNote({ token: market.loan, amount: received.loan }),
        ],
      };
    },
  };
}

/** Find the cause of a revert: the protocol holds too little, or the rest would be too little for a position. */
function explained(
  context: ManageContext,
  amount: bigint,
  error: SimulationRevertedError,
): InsufficientLiquidityError | LimitExceededError | undefined {
  const { market, live } = context;
  if (error.retryable) {
    try {
      const flows = closingFlows(market, shareOfDebt(context, amount));
      requireCovered(liquidityNeeds([flows], [liquidityOf(market, live)]), () => ({
        maxAmount: formatUnitsPlain(largestPart(context), market.collateral.decimals),
      }));
    } catch (short) {
      if (short instanceof InsufficientLiquidityError) return short;
      throw short;
    }
    return undefined;
  }
  const most = mostOfPart(context);
  if (most === 0n) return noPart(context, context.input.amount);
  return amount > most ? tooLittleLeft(context, amount, most) : undefined;
}

/** Require that the protocol holds the repayment of a part until the plan expires. @throws InsufficientLiquidityError */
function requireHeldUntilSent(context: ManageContext, repaid: bigint): void {
  const { market, live, position, interest } = context;
  if (position.debt === 0n) return;
  const later = repaid + MathLib.mulDivUp(repaid, interest, position.debt);
  requireCovered(liquidityNeeds([closingFlows(market, later)], [liquidityOf(market, live)]), () => ({
    maxAmount: formatUnitsPlain(largestPart(context), market.collateral.decimals),
  }));
}

/** Refuse a part of a position at its liquidation LTV or above it: the rest could not be held. */
export function noPart(held: Held, amount?: Decimal): LimitExceededError {
  const { market, position, live } = held;
  const ltv = ltvPctOf(position, live.price);
  const limit = new Decimal(market.lltv.toString()).shiftedBy(-16).toFixed();
  const whole = amount ? 'Leave amount out to close the whole position' : 'Close the whole position';
  const under = underWaterOf(held);
  const way = under
    ? `${underWaterFact(under, market.loan)} ${UNDER_WATER_WAYS}`
    : equityValueOf(position, live.price) === 0n
      ? 'Repay some debt or add collateral first.'
      : `${whole}, or repay some debt or add collateral first.`;
  return new LimitExceededError(
    `The position stands at an LTV of ${ltv ? formatPercent(ltv) : 'more than 100 %'}, and its liquidation LTV is ${limit} %: the rest after the sale of a part could not be held. ${way}`,
    { field: 'amount', value: amount?.toFixed() ?? '', limit: { liquidationLtvPct: limit } },
  );
}

function tooLittleLeft({ market, position, input }: ManageContext, amount: bigint, most: bigint): LimitExceededError {
  const { collateral } = market;
  const format = (units: bigint) => formatUnitsPlain(units, collateral.decimals);
  const left = formatAmount(position.collateral - amount, collateral);
  return new LimitExceededError(
    `Selling ${format(amount)} of the ${formatAmount(position.collateral, collateral)} would leave ${left}, too little to carry its share of the debt. Leave amount out to close the whole position, or send at most ${format(most)}.`,
    {
      field: 'amount',
      value: input.amount?.toFixed() ?? '',
      limit: { collateral: format(position.collateral), maxAmount: format(most) },
    },
  );
}
