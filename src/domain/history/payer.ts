import { zeroAddress } from 'viem';
import type { Address } from '../../shared/ids.ts';
import type { MorphoEvent, RecordedLog } from './types.ts';

/**
 * The payer: the owner through the product's contracts, the owner at the lending protocol itself, which the product's contract does
 * not record, another account, or not known.
 */
export type Payer = 'owner' | 'owner_directly' | 'other' | 'unknown';

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
 * through the router.
 */
export function payerOf(input: PayerInput, logs: PaidLogs): Payer {
  const { flashLeverage, flashLeverageRouter: router, key } = input;
  const { legs, notes, transfers } = logs;
  const leg = legs.SupplyCollateral ?? legs.Repay;
  if (notes.length === 0) {
    const caller = leg?.sender ?? flashLeverage;
    if (caller === key.wallet) return 'owner_directly';
    return caller === key.account || caller === flashLeverage ? 'owner' : 'other';
  }
  const isOwnersAlone = legs.Borrow !== undefined || legs.WithdrawCollateral !== undefined;
  const isPassedOn = transfers.some(({ sender, receiver }) => sender === router && receiver === flashLeverage);
  if (isOwnersAlone || !isPassedOn) return 'owner';
  const payer = payerOfSwap(input, logs) ?? callerOf(notes);
  if (payer === null) return 'unknown';
  return payer === key.wallet ? 'owner' : 'other';
}

/**
 * The account that gave the router exactly the amount that it has swapped; `null` = none, as for a native token or one outside the
 * catalog, or several. Anybody may give the router any other amount in the same transaction.
 */
function payerOfSwap(
  { flashLeverageRouter: router, ...input }: PayerInput,
  { legs, transfers }: PaidLogs,
): Address | null {
  // The router swaps another token into the token of the market.
  const token = legs.SupplyCollateral ? input.collateral : input.loan;
  const others = transfers.filter((log) => log.token !== token && log.sender !== zeroAddress);
  const swapped = new Set(others.flatMap((log) => (log.sender === router ? [`${log.token} ${log.assets}`] : [])));
  const givers = others.filter((log) => log.receiver === router && swapped.has(`${log.token} ${log.assets}`));
  const payers = new Set(givers.map(({ sender }) => sender));
  const [payer = null] = payers;
  return payers.size === 1 ? payer : null;
}

/** The account that called the product's contracts itself; `null` = through another contract, or not recorded. */
function callerOf(notes: readonly RecordedLog[]): Address | null {
  return notes.find(({ event }) => event === 'CollateralSupplied' || event === 'LoanRepaid')?.sender ?? null;
}

/** Find who paid for a stock leg. @param payingContracts contracts of the product that pay for their caller alone */
export function stockPayerOf(
  { sender }: Pick<RecordedLog, 'sender'>,
  wallet: Address,
  payingContracts: readonly Address[],
): Payer {
  return sender === null || sender === wallet || payingContracts.includes(sender) ? 'owner' : 'other';
}
