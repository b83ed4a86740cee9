import type { Market } from '../../catalog/types.ts';
import { beforeDepositFee, depositFeeOf } from '../../domain/leverage/fees.ts';
import { Decimal } from '../../shared/decimal.ts';
import { LimitExceededError } from '../errors.ts';
import { noPart } from '../manage/close-part.ts';
import { formatAmount } from '../messages.ts';
import type { Plan } from '../plan.ts';
import { contractFees } from '../preview/costs.ts';
import { previewPosition } from '../preview/position.ts';
import type { ManagedState } from '../read/position.ts';
import type { PositionPreview } from '../types.ts';
import { correctedSale, excessDebt, ROUNDING } from './size.ts';

export interface SaleInput {
  readonly market: Market;
  readonly state: Pick<ManagedState, 'position' | 'live' | 'deployment'>;
  readonly targetLtvPct: Decimal;
  /** Interest of the debt until the second transaction expires, loan base units. */
  readonly interest: bigint;
  /** Collateral to sell at the oracle's price, base units; absent = no part is enough. */
  readonly sell: bigint | undefined;
  /** Build the sale of so much collateral, simulated. */
  build(amount: bigint): Promise<Plan>;
}

/** A sale of a part, and the repayment with its proceeds. */
export interface SoldPart {
  readonly sold: bigint;
  /** Proceeds that are repaid, loan base units. */
  readonly repaid: bigint;
  /** Whether they repay the whole rest of the debt. */
  readonly isFull: boolean;
  /** The sale with the position that both lead to. */
  readonly plan: Plan;
}

/** Sales that are built for one size: the first at the oracle's price, the others corrected by the output of the one before. */
const MAX_BUILDS = 4;

/**
 * Find the part of the collateral whose sale, with its proceeds repaid, ends at the target. A part repays the same share of the
 * debt, which leaves the LTV as it is: only the repayment with the proceeds lowers it.
 * @throws LimitExceededError when no part is enough; as `build`
 */
export async function sellAndRepay(input: SaleInput): Promise<SoldPart> {
  const { market, state, targetLtvPct, sell, build } = input;
  const { position, live } = state;
  const debt = position.debt + input.interest;
  const before = excessDebt({ position: { ...position, debt }, price: live.price, targetLtvPct });
  if (sell === undefined) throw tooLittle(input);
  let sold = sell;
  for (let i = 0; i < MAX_BUILDS; i += 1) {
    const part = repaidWith(input, sold, await build(sold));
    const excess = part.plan.preview ? excessAfter(input, part.plan.preview) : undefined;
    if (excess === undefined) throw tooLittle(input);
    if (excess <= 0n) return part;
    const next = correctedSale(before, { sold, excess });
    if (next === undefined || next >= position.collateral) throw unreachable(market, targetLtvPct);
    sold = next;
  }
  throw unreachable(market, targetLtvPct);
}

/** Debt above the target when the interest until the second transaction has been added, loan base units. */
function excessAfter(
  { state, targetLtvPct, interest }: SaleInput,
  { after: { collateral, debt } }: PositionPreview,
): bigint {
  const later = debt === 0n ? 0n : debt + interest;
  return excessDebt({ position: { collateral, debt: later }, price: state.live.price, targetLtvPct });
}

function repaidWith({ market, state, interest }: SaleInput, sold: bigint, sale: Plan): SoldPart {
  const { depositFee } = state.deployment;
  const { preview, received = [], leastPaidOut = 0n, fees = [] } = sale;
  const paidOut = received.find(({ token }) => token.address === market.loan.address)?.amount ?? 0n;
  const net = (sent: bigint) => sent - depositFeeOf(sent, depositFee);
  const debtAfter = (debt: bigint, sent: bigint) => (debt > net(sent) ? debt - net(sent) + ROUNDING : 0n);
  if (!preview) return { sold, repaid: paidOut, isFull: false, plan: sale };
  const { collateral, debt } = preview.after;
  const left = debtAfter(debt, paidOut);
  const isFull = left === 0n;
  // Proceeds beyond a full repayment stay with the wallet.
  const due = beforeDepositFee(debt + interest, depositFee);
  const repaid = isFull && due < paidOut ? due : paidOut;
  const next = isFull ? 'of the whole debt' : 'with the amount that it really paid out';
  const plan = {
    ...sale,
    preview: previewPosition({
      price: sale.live.price,
      after: { collateral, debt: left },
      worst: { collateral, debt: debtAfter(debt + interest, leastPaidOut) },
      basis: preview.basis === undefined ? undefined : preview.basis + debt - left,
      rates: preview.rates,
      swap: preview.swapSource && { source: preview.swapSource, priceImpactPct: preview.priceImpactPct },
    }),
    debtChange: left - state.position.debt,
    fees: [...fees, ...contractFees('DEPOSIT_FEE', depositFeeOf(repaid, depositFee), market)],
    leastPaidOut: undefined,
    notes: [
      ...sale.notes,
      `A part repays its share of the debt, which leaves the LTV as it is: repaying ${repaid < paidOut ? `${formatAmount(repaid, market.loan)} of ` : ''}the ${formatAmount(paidOut, market.loan)} that it pays out lowers it. Build the repayment ${next} when the sale has been mined.`,
    ],
  };
  return { sold, repaid, isFull, plan };
}

/** Refuse where no part is enough: the rest cannot be held, or the sale of everything would not be enough. */
function tooLittle({ market, state, targetLtvPct }: SaleInput): LimitExceededError {
  const { position, live } = state;
  const held = { market, position, live };
  const isHeld = excessDebt({ position, price: live.price, targetLtvPct: percentOf(market) }) < 0n;
  return isHeld ? unreachable(market, targetLtvPct) : noPart(held);
}

function percentOf({ lltv }: Market): Decimal {
  return new Decimal(lltv.toString()).shiftedBy(-16);
}

function unreachable({ collateral }: Market, targetLtvPct: Decimal): LimitExceededError {
  const value = targetLtvPct.toFixed();
  return new LimitExceededError(
    `No part of the ${collateral.displaySymbol} is enough for an LTV of ${value} %: the proceeds of a sale, after its loss and the fees of the contract, repay too little. Close the whole position, or repay or add collateral.`,
    { field: 'targetLtvPct', value, limit: {} },
  );
}
