import { zeroAddress } from 'viem';
import type { Address } from '../../shared/ids.ts';
import type { MorphoEvent, RecordedLog } from './types.ts';

/**
 * The payer: the owner through the product's contracts, the owner at the lending protocol itself, which the product's contract does
 * not record, or another account.
 */
export type Payer = 'owner' | 'owner_directly' | 'other';

/** A position, the tokens of its market, and the contracts of the product. */
export interface PayerInput {
  readonly key: { readonly account: Address; readonly wallet: Address };
  readonly collateral: Address;
  readonly loan: Address;
  readonly flashLeverage: Address;
  readonly flashLeverageRouter: Address;
}

/** The logs of one event of a position. */
export interface PaidLogs {
  readonly legs: Readonly<Partial<Record<MorphoEvent, RecordedLog>>>;
  /** Events of the product's contract. */
  readonly notes: readonly RecordedLog[];
  readonly transfers: readonly RecordedLog[];
}

/**
 * Find who paid. Only the owner can open, increase and sell; anybody can add collateral and repay, at the lending protocol and
 * through the router. A payment through the router in a native token, or in one outside the catalog, leaves no recorded transfer
 * and counts as the owner's.
 */
export function payerOf(input: PayerInput, { legs, notes, transfers }: PaidLogs): Payer {
  const { flashLeverage, flashLeverageRouter: router, key } = input;
  const leg = legs.SupplyCollateral ?? legs.Repay;
  if (notes.length === 0) {
    const caller = leg?.sender ?? flashLeverage;
    if (caller === key.wallet) return 'owner_directly';
    return caller === key.account || caller === flashLeverage ? 'owner' : 'other';
  }
  const isOwnersAlone = legs.Borrow !== undefined || legs.WithdrawCollateral !== undefined;
  const isPassedOn = transfers.some(({ sender, receiver }) => sender === router && receiver === flashLeverage);
  if (isOwnersAlone || !isPassedOn) return 'owner';
  // A swap gives the router the token of the market; the router was given another token for it.
  const token = legs.SupplyCollateral ? input.collateral : input.loan;
  const given = transfers.find((log) => log.receiver === router && log.token !== token && log.sender !== zeroAddress);
  return given === undefined || given.sender === key.wallet ? 'owner' : 'other';
}

/** Find who paid for a stock leg. @param payingContracts contracts of the product that pay for their caller alone */
export function stockPayerOf(
  { sender }: Pick<RecordedLog, 'sender'>,
  wallet: Address,
  payingContracts: readonly Address[],
): Payer {
  return sender === null || sender === wallet || payingContracts.includes(sender) ? 'owner' : 'other';
}
