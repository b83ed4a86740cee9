import { formatUnitsPlain } from '../../shared/decimal.ts';
import { InsufficientLiquidityError, LimitExceededError, type SimulationRevertedError } from '../errors.ts';
import { closingFlows, liquidityNeeds, liquidityOf, requireCovered, SENT_WITHIN_SEC } from '../liquidity.ts';
import { contractFees } from '../preview/costs.ts';
import { previewPosition, sellImpactPct } from '../preview/position.ts';
import { worstOutput } from '../quoting/planned.ts';
import { heldSlippage } from '../quoting/slippage.ts';
import { debtOf } from '../requirements/market-state.ts';
import type { Outcome } from '../simulation/outcome.ts';
import { receivedNote, shownAmount, shownPct } from '../words.ts';
import { largestPart, mostOfPart, shareOfDebt } from './part.ts';
import { keptOf, quoteSale, requireSaleWithin, saleDraft } from './sale.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/**
 * Sell a part of the collateral. What share of the debt it repays is the contract's rule: the simulation tells what is left.
 * @throws LimitExceededError when what would be left is too little to be a position
 */
export async function closePart(context: ManageContext, amount: bigint): Promise<VerbDraft> {
  const { market, position, live, rates, input } = context;
  const most = mostOfPart(context);
  if (most > 0n && amount > most) throw tooLittleLeft(context, amount, most);
  const { before, swap } = await quoteSale(context, amount);
  requireSaleWithin(context, swap, { field: 'amount', value: input.amount?.toFixed() ?? '' });
  const impact = sellImpactPct(amount, swap.expectedOut, live.price);
  return {
    ...saleDraft(context, amount, swap),
    slippage: heldSlippage(context.slippage, [{ before, after: swap }]),
    notes: [
      `It sells ${shownAmount(amount, market.collateral)}, losing ${shownPct(impact)} against the oracle's price. How much of the debt a part repays is the contract's own rule: it is not known before it is done.`,
    ],
    explain: (error) => explained(context, amount, error),
    conclude: (outcome: Outcome) => {
      const { collateral, debt } = outcome.position;
      const { received, fills } = outcome;
      const filled = fills.at(-1)?.received ?? swap.expectedOut;
      // Until the bundle lapses the debt grows, and a worse fill is paid out less for: fees that shrink with it are left out.
      const growth = debtOf(live, position.borrowShares, SENT_WITHIN_SEC) - position.debt;
      const least = received.loan - (filled - worstOutput(swap)) - growth;
      return {
        fees: contractFees('YIELD_FEE', keptOf(outcome), market),
        leastPaidOut: least > 0n ? least : 0n,
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
      };
    },
  };
}

/** What the simulation of a part does not say itself: that the protocol holds too little, or that what is left is too little. */
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
  return amount > most ? tooLittleLeft(context, amount, most) : undefined;
}

function tooLittleLeft({ market, position, input }: ManageContext, amount: bigint, most: bigint): LimitExceededError {
  const { collateral } = market;
  const shown = (units: bigint) => formatUnitsPlain(units, collateral.decimals);
  const left = shownAmount(position.collateral - amount, collateral);
  return new LimitExceededError(
    `Selling ${shown(amount)} of the ${shownAmount(position.collateral, collateral)} would leave ${left}, too little to carry its share of the debt. Leave amount out to close the whole position${most > 0n ? `, or send at most ${shown(most)}` : ''}.`,
    {
      field: 'amount',
      value: input.amount?.toFixed() ?? '',
      limit: { collateral: shown(position.collateral), ...(most > 0n ? { maxAmount: shown(most) } : {}) },
    },
  );
}
