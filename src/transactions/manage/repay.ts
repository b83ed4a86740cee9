import { maxUint256 } from 'viem';
import { beforeDepositFee, depositFeeOf } from '../../domain/leverage/fees.ts';
import { wholePrice } from '../../domain/position/valuation.ts';
import { Decimal, formatUnitsPlain, fromUnits } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { NAMES } from '../../shared/names.ts';
import { swapDataOf } from '../build/call.ts';
import { buildRepay } from '../build/flash-leverage.ts';
import { buildSwapAndRepay } from '../build/flash-leverage-router.ts';
import { tokenUsdPrices } from '../deps.ts';
import { LimitExceededError, NotEligibleError } from '../errors.ts';
import { baseUnits } from '../input.ts';
import { formatAmount } from '../messages.ts';
import { type CostItem, contractFees } from '../preview/costs.ts';
import { previewPosition } from '../preview/position.ts';
import { worstOutput } from '../quote/planned.ts';
import { debtOf } from '../read/market-state.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { PayToken, PlannedSwap } from '../types.ts';
import { depositFeeNote, payDirectly, paySwapped } from './paid.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/** A full repayment brings the interest of this long after it was built: approvals take their time. The rest comes back. */
const FULL_AHEAD_SEC = 1_800n;
/** A full repayment swaps this much more than the debt at reference prices, for fee and impact; the rest comes back. */
const FULL_MARGIN: Decimal = new Decimal('0.01');

/** Repay debt: with the loan token or, swapped, with any other; all of it by shares, so that no dust is left. */
export function repayDebt(context: ManageContext): VerbDraft | Promise<VerbDraft> {
  const { position, market, payToken: token } = context;
  if (!token) throw new Error('the fields of repay were not checked');
  if (position.debt === 0n) {
    throw new NotEligibleError(`Position ${position.id} has no debt: there is nothing to repay.`, {
      reason: 'nothing_to_do',
    });
  }
  const due = dueOf(context);
  return token.address === market.loan.address ? repayDirectly(context, token, due) : repaySwapped(context, token, due);
}

interface Due {
  /** Loan tokens that repay the whole debt with the deposit fee, base units: now, and when approvals have taken their time. */
  readonly now: bigint;
  readonly later: bigint;
  readonly borrowShares: bigint;
  feeOf(sent: bigint): bigint;
  feesOf(sent: bigint): readonly CostItem[];
  /** The debt that so many loan tokens leave. */
  left(sent: bigint): bigint;
}

function dueOf({ input, market, position, live, deployment: { depositFee } }: ManageContext): Due {
  const isFull = input.full === true;
  const now = beforeDepositFee(position.debt, depositFee);
  const feeOf = (sent: bigint) => depositFeeOf(sent, depositFee);
  return {
    now,
    later: beforeDepositFee(debtOf(live, position.borrowShares, FULL_AHEAD_SEC), depositFee),
    borrowShares: isFull ? maxUint256 : 0n,
    feeOf,
    feesOf: (sent) => contractFees('DEPOSIT_FEE', feeOf(sent), market),
    left: (sent) => (isFull || sent >= now ? 0n : position.debt - (sent - feeOf(sent))),
  };
}

/** The part of the draft that follows from the loan tokens that are sent, and at least sent. */
function repaid({ position, live, rates }: ManageContext, { left }: Due, sent: bigint, atLeast = sent) {
  const after = (amount: bigint) => ({ collateral: position.collateral, debt: left(amount) });
  return {
    debtChange: left(sent) - position.debt,
    preview: {
      price: live.price,
      after: after(sent),
      worst: after(atLeast),
      basis: position.basis + position.debt - left(sent),
      rates,
    },
  };
}

function repayDirectly(context: ManageContext, token: PayToken, due: Due): VerbDraft {
  const { chain, market, position, input, deployment } = context;
  const { flashLeverage } = chain.contracts;
  const isFull = input.full === true;
  const given = input.amount && baseUnits(input.amount, token);
  if (given !== undefined && !isFull && given > due.now) {
    const maxAmount = formatUnitsPlain(due.now, token.decimals);
    const withFee = deployment.depositFee === 0n ? '' : ` and the deposit fee, together ${maxAmount} ${token.symbol}`;
    throw new LimitExceededError(
      `amount is above the debt of ${formatAmount(position.debt, token)}${withFee}. Send at most that, or ${NAMES.repayAll}.`,
      { field: 'amount', value: input.amount?.toFixed() ?? '', limit: { maxAmount } },
    );
  }
  // With less, the interest until it is mined could make it revert.
  if (isFull && given !== undefined && given < due.later) throw tooLittle(given, due.later, token);
  const amount = isFull || given === undefined ? due.later : given;
  const { debtChange, preview } = repaid(context, due, amount);
  return {
    path: 'repay',
    ...payDirectly(context, token, amount, flashLeverage),
    amounts: {
      token,
      ...(isFull ? { smallest: due.later, largest: 'unlimited' } : { smallest: 1n, largest: due.now }),
    },
    tx: buildRepay(chain.contracts, {
      user: input.user,
      positionId: BigInt(position.id),
      amountRepay: amount,
      borrowShares: due.borrowShares,
    }),
    fees: due.feesOf(amount),
    debtChange,
    preview: previewPosition(preview),
    notes: [
      ...depositFeeNote(due.feeOf(amount), market.loan),
      ...(isFull
        ? [
            `The whole debt of ${formatAmount(position.debt, token)} is repaid; the amount covers the interest of half an hour more, and the rest comes back.`,
          ]
        : []),
    ],
  };
}

async function repaySwapped(context: ManageContext, token: PayToken, due: Due): Promise<VerbDraft> {
  const { chain, market, position, input } = context;
  const loan = payTokenOf(market.loan);
  const pay = (amountIn: bigint) =>
    paySwapped(context, { tokenIn: token, tokenOut: loan, amountIn, feeBps: 0, feesOf: due.feesOf });
  const enoughFor = ({ swap }: Awaited<ReturnType<typeof pay>>) => {
    const isShort = input.full === true && worstOutput(swap) < due.later;
    return isShort ? { amount: amountCovering(swap, due.later) } : undefined;
  };
  let amountIn = input.amount ? baseUnits(input.amount, token) : amountFor(context, token, due.later);
  let paid = await pay(amountIn);
  const enough = enoughFor(paid)?.amount;
  // The venue takes more than the margin, within the loss that is allowed: it is asked once more, for what covers the debt.
  if (input.amount === undefined && enough !== undefined) {
    amountIn = enough;
    paid = await pay(amountIn);
  }
  const short = enoughFor(paid);
  if (short) throw tooLittle(amountIn, short.amount, token, input.amount === undefined);
  const { swap, draft } = paid;
  const { debtChange, preview } = repaid(context, due, swap.expectedOut, worstOutput(swap));
  return {
    ...draft,
    path: 'swapAndRepay',
    tx: buildSwapAndRepay(chain.contracts, {
      user: input.user,
      positionId: BigInt(position.id),
      marketId: market.id,
      tokenIn: token.address,
      amountIn,
      swapData: swapDataOf(swap),
      minTokenOut: swap.minOut,
      borrowShares: due.borrowShares,
    }),
    debtChange,
    preview: previewPosition({ ...preview, ...context.impactOf(swap) }),
    notes: [...restNote(swap, due.now, loan), ...depositFeeNote(due.feeOf(swap.expectedOut), market.loan)],
  };
}

/** Size the pay token so that the least output covers the debt. @throws BadRequestError when nothing prices the token */
function amountFor(context: ManageContext, token: PayToken, debt: bigint): bigint {
  const { market, slippage } = context;
  const price = referencePrice(context, token);
  if (!price) {
    throw new BadRequestError(
      `The service has no price of ${token.symbol}. Send amount as well; the rest comes back.`,
      {
        field: 'amount',
      },
    );
  }
  const atReference = fromUnits(debt, market.loan.decimals).div(price);
  const amount = atReference.times(FULL_MARGIN.plus(1)).div(new Decimal(1).minus(slippage.value));
  return BigInt(amount.shiftedBy(token.decimals).integerValue(Decimal.ROUND_CEIL).toFixed(0));
}

/** Loan tokens per pay token, from where the quote's reference comes: by another source it would be sized too low or too high. */
function referencePrice({ deps, chain, market, live }: ManageContext, token: PayToken): Decimal | undefined {
  if (token.address === market.collateral.address) return wholePrice(live.price, market);
  const usdOf = tokenUsdPrices(deps, chain);
  const [usdIn, usdOut] = [usdOf(token.address), usdOf(market.loan.address)];
  return usdIn && usdOut?.gt(0) ? usdIn.div(usdOut) : undefined;
}

/**
 * Scale the payment so that the least output covers the debt, with the margin: a larger swap gives less for each unit.
 * `undefined` where rounding leaves nothing to scale.
 */
function amountCovering(swap: PlannedSwap, debt: bigint): bigint | undefined {
  const least = worstOutput(swap);
  if (least === 0n) return undefined;
  const scaled = new Decimal(((swap.quote.amountIn * debt) / least + 1n).toString()).times(FULL_MARGIN.plus(1));
  return BigInt(scaled.integerValue(Decimal.ROUND_CEIL).toFixed(0));
}

function restNote({ expectedOut }: PlannedSwap, debt: bigint, loan: PayToken): readonly string[] {
  const rest = expectedOut - debt;
  return rest > 0n ? [`About ${formatAmount(rest, loan)} is left over and comes back to the wallet.`] : [];
}

/** The least amount that passes depends on quotes that are not known, and grows by the block: `enough` passes, and less may. */
function tooLittle(amount: bigint, enough: bigint | undefined, token: PayToken, isSized = false): LimitExceededError {
  const sufficientAmount = enough === undefined ? undefined : formatUnitsPlain(enough, token.decimals);
  const send = sufficientAmount === undefined ? 'Send more' : `Send ${sufficientAmount}, which is enough`;
  return new LimitExceededError(
    `${formatAmount(amount, token)} does not cover the whole debt with the interest of half an hour. ${send}${isSized ? '' : ', or leave amount out'}.`,
    {
      field: 'amount',
      value: formatUnitsPlain(amount, token.decimals),
      limit: sufficientAmount === undefined ? {} : { sufficientAmount },
    },
  );
}
