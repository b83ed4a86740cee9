import { maxUint256 } from 'viem';
import { beforeDepositFee, depositFeeOf } from '../../domain/leverage/fees.ts';
import { Decimal, formatUnitsPlain, fromUnits } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { buildApprovals } from '../build/approvals.ts';
import { swapDataOf } from '../build/call.ts';
import { buildRepay } from '../build/flash-leverage.ts';
import { buildSwapAndRepay } from '../build/flash-leverage-router.ts';
import { tokenUsdPrices } from '../deps.ts';
import { LimitExceededError, NotEligibleError } from '../errors.ts';
import { baseUnits } from '../input.ts';
import { formatAmount } from '../messages.ts';
import { contractFees } from '../preview/costs.ts';
import { previewPosition } from '../preview/position.ts';
import { requireLossWithin } from '../quote/bounds.ts';
import { worstOutput } from '../quote/planned.ts';
import { heldSlippage } from '../quote/slippage.ts';
import { debtOf } from '../read/market-state.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { PayToken, PlannedSwap } from '../types.ts';
import { quoteAction } from './swap.ts';
import type { ManageContext, VerbDraft } from './types.ts';

/** A full repayment brings the interest of this long after it was built: approvals take their time. The rest comes back. */
const FULL_AHEAD_SEC = 1_800n;
/** What a full repayment swaps beyond the debt at reference prices, for fee and impact; the rest comes back. */
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
  return token.address === market.loan.address ? repayDirectly(context, token) : repaySwapped(context, token);
}

function repayDirectly(context: ManageContext, token: PayToken): VerbDraft {
  const { chain, market, position, live, input, rates, wallet } = context;
  const { contracts } = chain;
  const isFull = input.full === true;
  const { depositFee } = context.deployment;
  const debtLater = beforeDepositFee(debtOf(live, position.borrowShares, FULL_AHEAD_SEC), depositFee);
  const debtNow = beforeDepositFee(position.debt, depositFee);
  const asked = input.amount && baseUnits(input.amount, token);
  if (asked !== undefined && !isFull && asked > debtNow) {
    throw new LimitExceededError(
      `amount is above the debt of ${formatAmount(position.debt, token)}${depositFee === 0n ? '' : ` and the deposit fee, together ${formatAmount(debtNow, token)}`}. Send at most that, or full: true.`,
      {
        field: 'amount',
        value: input.amount?.toFixed() ?? '',
        limit: { maxAmount: formatUnitsPlain(debtNow, token.decimals) },
      },
    );
  }
  if (isFull && asked !== undefined && asked < debtNow) throw tooLittle(asked, debtLater, token);
  const amount = isFull || asked === undefined ? debtLater : asked;
  const debt = isFull ? 0n : position.debt - (amount - depositFeeOf(amount, depositFee));
  return {
    path: 'repay',
    approvals: buildApprovals({
      token,
      spender: contracts.flashLeverage,
      amount,
      allowance: wallet.allowances.get(contracts.flashLeverage) ?? 0n,
    }),
    tx: buildRepay(contracts, {
      user: input.user,
      positionId: BigInt(position.id),
      amountRepay: amount,
      borrowShares: isFull ? maxUint256 : 0n,
    }),
    swaps: [],
    pays: { token, amount },
    fees: contractFees('DEPOSIT_FEE', depositFeeOf(amount, depositFee), market),
    debtChange: debt - position.debt,
    preview: previewPosition({
      price: live.price,
      after: { collateral: position.collateral, debt },
      basis: position.basis + position.debt - debt,
      rates,
    }),
    notes: isFull
      ? [
          ...feeNote(context, amount),
          `The whole debt of ${formatAmount(position.debt, token)} is repaid; what is sent covers the interest of half an hour more, and what the debt does not need of it comes back.`,
        ]
      : feeNote(context, amount),
  };
}

async function repaySwapped(context: ManageContext, token: PayToken): Promise<VerbDraft> {
  const { chain, market, position, live, input, rates, wallet } = context;
  const { contracts } = chain;
  const loan = payTokenOf(market.loan);
  const isFull = input.full === true;
  const { depositFee } = context.deployment;
  const debtLater = beforeDepositFee(debtOf(live, position.borrowShares, FULL_AHEAD_SEC), depositFee);
  const debtNow = beforeDepositFee(position.debt, depositFee);
  const amount = input.amount ? baseUnits(input.amount, token) : amountFor(context, token, debtLater);
  const { swap, before, issues } = await quoteAction(context, {
    tokenIn: token,
    tokenOut: loan,
    amountIn: amount,
    executor: contracts.flashLeverageRouter,
    feeBps: 0,
  });
  requireLossWithin({
    swaps: [{ swap }],
    // What is paid in: of the whole position a small payment could lose everything.
    equity: swap.reference ?? swap.expectedOut,
    boundsTotal: false,
    maxSwapLossPct: context.maxSwapLossPct,
    largestPct: context.largestPct,
    requested: { field: 'amount', value: formatUnitsPlain(amount, token.decimals) },
  });
  if (isFull && worstOutput(swap) < debtNow) {
    throw tooLittle(amount, amountCovering(swap, debtLater), token);
  }
  const left = (sent: bigint) =>
    isFull || sent >= debtNow ? 0n : position.debt - (sent - depositFeeOf(sent, depositFee));
  const after = (repaid: bigint) => ({ collateral: position.collateral, debt: left(repaid) });
  const fees = (sent: bigint) => contractFees('DEPOSIT_FEE', depositFeeOf(sent, depositFee), market);
  return {
    path: 'swapAndRepay',
    approvals: buildApprovals({
      token,
      spender: contracts.flashLeverageRouter,
      amount,
      allowance: wallet.allowances.get(contracts.flashLeverageRouter) ?? 0n,
    }),
    tx: buildSwapAndRepay(contracts, {
      user: input.user,
      positionId: BigInt(position.id),
      marketId: market.id,
      tokenIn: token.address,
      amountIn: amount,
      swapData: swapDataOf(swap),
      minTokenOut: swap.minOut,
      borrowShares: isFull ? maxUint256 : 0n,
    }),
    swaps: [swap],
    pays: { token, amount },
    fees: fees(swap.expectedOut),
    conclude: ({ fills }) => ({ fees: fees(fills.at(-1)?.received ?? swap.expectedOut) }),
    debtChange: left(swap.expectedOut) - position.debt,
    preview: previewPosition({
      price: live.price,
      after: after(swap.expectedOut),
      worst: after(worstOutput(swap)),
      basis: position.basis + position.debt - left(swap.expectedOut),
      rates,
      ...context.impactOf(swap),
    }),
    notes: [...restNote(swap, debtNow, loan), ...feeNote(context, swap.expectedOut)],
    slippage: heldSlippage(context.slippage, [{ before, after: swap }]),
    issues,
  };
}

/** Size the pay token so that the least output covers the debt. @throws BadRequestError when nothing prices the token */
function amountFor({ deps, chain, market, slippage }: ManageContext, token: PayToken, debt: bigint): bigint {
  const usdOf = tokenUsdPrices(deps, chain);
  const usdIn = usdOf(token.address);
  const usdOut = usdOf(market.loan.address);
  if (!usdIn || !usdOut) {
    throw new BadRequestError(
      `No price of ${token.symbol} is known here. Send amount as well; what is left over comes back.`,
      {
        field: 'amount',
      },
    );
  }
  const atReference = fromUnits(debt, market.loan.decimals).times(usdOut).div(usdIn);
  const amount = atReference.times(FULL_MARGIN.plus(1)).div(new Decimal(1).minus(slippage.value));
  return BigInt(amount.shiftedBy(token.decimals).integerValue(Decimal.ROUND_CEIL).toFixed(0));
}

/**
 * Scale what is paid so that the least output covers the debt, with the margin: a larger swap gives less for each unit.
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

/** What the contract takes of the loan tokens that are sent, on an uncorrelated market. */
function feeNote({ deployment, market }: ManageContext, sent: bigint): readonly string[] {
  const fee = depositFeeOf(sent, deployment.depositFee);
  return fee === 0n ? [] : [`The contract takes about ${formatAmount(fee, market.loan)} of it as its deposit fee.`];
}

function tooLittle(amount: bigint, needed: bigint | undefined, token: PayToken): LimitExceededError {
  const minAmount = needed === undefined ? undefined : formatUnitsPlain(needed, token.decimals);
  return new LimitExceededError(
    `${formatAmount(amount, token)} does not cover the whole debt. Send ${minAmount === undefined ? 'more' : `at least ${minAmount}`}, or leave amount out.`,
    {
      field: 'amount',
      value: formatUnitsPlain(amount, token.decimals),
      limit: minAmount === undefined ? {} : { minAmount },
    },
  );
}
