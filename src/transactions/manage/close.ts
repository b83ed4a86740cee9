import { yieldFeeOnReturn } from '../../domain/leverage/fees.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import { Decimal, formatUnitsPlain } from '../../shared/decimal.ts';
import { LimitExceededError } from '../errors.ts';
import { baseUnits } from '../input.ts';
import { closingFlows, liquidityNeeds, liquidityOf, requireCovered, SENT_WITHIN_SEC } from '../liquidity.ts';
import { exactNote, formatAmount, formatPercent, receivedNote } from '../messages.ts';
import { contractFees } from '../preview/costs.ts';
import { sellImpactPct } from '../preview/position.ts';
import { requireCoversDebt } from '../quote/covers-debt.ts';
import { MAX_SWAP_LOSS_PCT } from '../quote/loss.ts';
import { withMinimum, worstOutput } from '../quote/planned.ts';
import { heldSlippage, slippageIssues } from '../quote/slippage.ts';
import { debtOf } from '../read/market-state.ts';
import { payTokenOf } from '../read/tokens.ts';
import { withAddedUnits } from '../simulate/added-collateral.ts';
import { closePart } from './close-part.ts';
import { immuneAmount, largestPart } from './part.ts';
import { isSaleWithin, quoteSale, requireSaleWithin, saleDraft, saleIssues, simulatedFee } from './sale.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/**
 * Sell all collateral, or the requested amount, repay debt with the proceeds and send the rest to the user.
 * @throws InsufficientLiquidityError when the protocol does not hold the whole debt; LimitExceededError
 */
export async function closePosition(context: ManageContext): Promise<VerbDraft> {
  const { market, position, input } = context;
  const token = payTokenOf(market.collateral);
  const amount = input.amount ? baseUnits(input.amount, token) : position.collateral;
  if (amount === position.collateral) return input.exact === true ? closeExactly(context) : closeWhole(context, 0n);
  if (amount < position.collateral) return closePart(context, amount);
  const maxAmount = formatUnitsPlain(position.collateral, token.decimals);
  throw new LimitExceededError(
    `amount is above the ${maxAmount} ${token.symbol} of the position. Send less, or leave it out to close the whole position.`,
    { field: 'amount', value: input.amount?.toFixed() ?? '', limit: { maxAmount } },
  );
}

/** Close what was read but for the least that can stay behind with what a stranger adds; one unit of that is there in the simulation already. */
async function closeExactly(context: ManageContext): Promise<VerbDraft> {
  const { chain, market, position, binding } = context;
  const { amount, isImmune } = immuneAmount(context);
  const draft = await (amount < position.collateral ? closePart(context, amount) : closeWhole(context, amount));
  const { conclude } = draft;
  const notes = [exactNote(isImmune)];
  return {
    ...draft,
    overrides: isImmune ? withAddedUnits(chain, [{ ...position, market, holder: binding.proxy }]) : undefined,
    notes: [...(draft.notes ?? []), ...notes],
    conclude: (outcome) => {
      const concluded = conclude?.(outcome) ?? {};
      // A rest of some base units is no position to preview.
      return { ...concluded, preview: undefined, notes: [...(concluded.notes ?? []), ...notes] };
    },
  };
}

/** @param named the amount in the calldata, collateral base units; 0 = all that is there when it is executed */
async function closeWhole(context: ManageContext, named: bigint): Promise<VerbDraft> {
  const { market, position, live } = context;
  const debtLater = debtOf(live, position.borrowShares, SENT_WITHIN_SEC);
  requireCovered(liquidityNeeds([closingFlows(market, debtLater)], [liquidityOf(market, live)]), () => ({
    maxAmount: formatUnitsPlain(largestPart(context), market.collateral.decimals),
  }));
  const { before, swap: quoted } = await quoteSale(context, position.collateral);
  const { expectedOut } = quoted;
  const value = collateralValueInLoan(position.collateral, live.price);
  const held = { debt: position.debt, value, isRepayable: true };
  requireCoversDebt(quoted, held, 'Selling all collateral', { field: 'action', value: 'close' });
  const swap = withMinimum(quoted, position.debt);
  const slippage = heldSlippage(context.slippage, [{ before, after: swap }]);
  const impact = sellImpactPct(position.collateral, expectedOut, live.price);
  try {
    requireSaleWithin(context, quoted, { field: 'action', value: 'close' });
  } catch (error) {
    throw error instanceof LimitExceededError ? await withPart(context, error, impact) : error;
  }
  const restOf = (sold: bigint, debt: bigint) => (sold > debt ? sold - debt : 0n);
  const feeOf = (rest: bigint) => yieldFeeOnReturn(rest, position.basis, context.deployment.yieldFee);
  const [rest, least] = [restOf(expectedOut, position.debt), restOf(worstOutput(swap), debtLater)];
  const fee = feeOf(rest);
  const feeNotes = (amount: bigint) =>
    amount === 0n ? [] : [`The contract keeps about ${formatAmount(amount, market.loan)} of the yield as its fee.`];
  return {
    ...saleDraft(context, named, swap),
    amounts: { token: market.collateral, smallest: 'quotes', largest: position.collateral },
    slippage,
    issues: [
      ...slippageIssues(heldSlippage(context.slippage, [{ before: quoted, after: swap }])),
      ...saleIssues(context, quoted),
    ],
    fees: contractFees('YIELD_FEE', fee, market),
    leastPaidOut: least - feeOf(least),
    amountFlashLoan: position.debt > 0n ? position.debt : undefined,
    debtChange: position.debt > 0n ? -position.debt : undefined,
    notes: [
      `The swap loses ${formatPercent(impact)} against the oracle's price. After repaying ${formatAmount(position.debt, market.loan)} about ${formatAmount(rest - fee, market.loan)} is paid out.`,
      ...feeNotes(fee),
    ],
    conclude: (outcome) => ({
      fees: contractFees('YIELD_FEE', simulatedFee(outcome), market),
      notes: [
        `The swap loses ${formatPercent(impact)} against the oracle's price. ${receivedNote({ token: market.loan, amount: outcome.received.loan })}`,
        ...feeNotes(simulatedFee(outcome)),
      ],
    }),
  };
}

/** Share of the size that a loss proportional to it would allow: the rest is for fees that do not shrink with it. */
const PART_SHARE: Decimal = new Decimal('0.8');
const PART_DIGITS = 3;

/** Add a part of the collateral whose sale would pass to the refusal of the whole sale. */
async function withPart(
  context: ManageContext,
  refused: LimitExceededError,
  impactPct: Decimal,
): Promise<LimitExceededError> {
  const { details, message } = refused;
  const { position, market } = context;
  // The share of the equity that is lost does not shrink with the part.
  if (details?.limit.maxPriceImpactPct === undefined || !impactPct.gt(0)) return refused;
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
