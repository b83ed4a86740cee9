import type { Address, MarketId } from '../../shared/ids.ts';
import { type Amounts, isMorpho, NOTHING, type Operation, type PositionEventKind } from './operations.ts';
import { stockPayerOf } from './payer.ts';
import type { MorphoEvent, RecordedLog } from './types.ts';

/** A stock leg: collateral and debt of a wallet itself on the stock market of a vault. */
export interface StockLegInput {
  readonly wallet: Address;
  readonly marketId: MarketId;
  /** Contracts of the product that pay for their caller alone. */
  readonly payingContracts: readonly Address[];
  /** In the order of the chain; those of other accounts and markets are left out. */
  readonly logs: readonly RecordedLog[];
  /** Whether nothing was held before the first log. */
  readonly startsEmpty: boolean;
}

/**
 * Find the events of a stock leg, oldest first. The lending protocol's own amounts are the payments and receipts of the wallet: a swap
 * before or after, and the loop that the loan went into, are not part of it. A deposit (stock and loan) and an exit (repayment
 * and stock) are one event each.
 */
export function stockOperationsOf({
  wallet,
  marketId,
  payingContracts,
  logs,
  startsEmpty,
}: StockLegInput): readonly Operation[] {
  const own = logs.filter(
    ({ event, ...log }) => isMorpho(event) && log.account === wallet && log.marketId === marketId,
  );
  const operations: Operation[] = [];
  let held: Held = { collateral: 0n, shares: 0n, isKnown: startsEmpty };
  for (let i = 0; i < own.length; i += 1) {
    const [log, following] = [own[i], own[i + 1]];
    if (!log) break;
    const isPair = following?.txHash === log.txHash && PAIRS[log.event] === following.event;
    const legs = isPair ? [log, following] : [log];
    if (isPair) i += 1;
    const operation = { ...operationOf(log, legs, held), payer: stockPayerOf(log, wallet, payingContracts) };
    held = after(held, operation);
    operations.push(operation);
  }
  return operations;
}

/** Legs that one transaction makes together. */
const PAIRS: Readonly<Record<string, MorphoEvent>> = { SupplyCollateral: 'Borrow', Repay: 'WithdrawCollateral' };

interface Held {
  readonly collateral: bigint;
  readonly shares: bigint;
  /** Whether the sums are all that is held. */
  readonly isKnown: boolean;
}

type Changes = Pick<Operation, 'collateralChange' | 'debtChange' | 'sharesChange' | 'badDebt'>;

function operationOf(first: RecordedLog, legs: readonly RecordedLog[], held: Held): Omit<Operation, 'payer'> {
  const changes = legs.map(changesOf).reduce((sum, change) => ({
    collateralChange: sum.collateralChange + change.collateralChange,
    debtChange: sum.debtChange + change.debtChange,
    sharesChange: sum.sharesChange + change.sharesChange,
    badDebt: sum.badDebt + change.badDebt,
  }));
  const isLiquidation = first.event === 'Liquidate';
  const amounts = (sign: 1n | -1n): Amounts =>
    isLiquidation
      ? NOTHING
      : { collateral: positive(sign * changes.collateralChange), loan: positive(-sign * changes.debtChange) };
  return {
    ...changes,
    kind: kindOf(first, legs.length === 2, held, after(held, changes)),
    blockNumber: first.blockNumber,
    atMs: first.atMs,
    txHash: first.txHash,
    logIndex: first.logIndex,
    paid: amounts(1n),
    received: amounts(-1n),
    fee: NOTHING,
    swap: null,
    isUnexplained: false,
  };
}

function kindOf({ event }: RecordedLog, isPair: boolean, before: Held, now: Held): PositionEventKind {
  switch (event) {
    case 'SupplyCollateral':
      if (isEmpty(before)) return 'opened';
      return isPair ? 'increased' : 'supplied';
    case 'Borrow':
      return 'borrowed';
    case 'Repay':
      if (!isPair) return 'repaid';
      return isEmpty(now) ? 'closed' : 'partly_closed';
    case 'WithdrawCollateral':
      return isEmpty(now) ? 'closed' : 'withdrawn';
    default:
      return 'liquidated';
  }
}

function changesOf({ event, assets, shares, collateral, badDebt, badDebtShares }: RecordedLog): Changes {
  const none = { collateralChange: 0n, debtChange: 0n, sharesChange: 0n, badDebt: 0n };
  switch (event) {
    case 'SupplyCollateral':
      return { ...none, collateralChange: collateral };
    case 'WithdrawCollateral':
      return { ...none, collateralChange: -collateral };
    case 'Borrow':
      return { ...none, debtChange: assets, sharesChange: shares };
    case 'Repay':
      return { ...none, debtChange: -assets, sharesChange: -shares };
    default:
      return {
        collateralChange: -collateral,
        debtChange: -assets,
        sharesChange: -shares - badDebtShares,
        badDebt,
      };
  }
}

function after(
  held: Held,
  { collateralChange, sharesChange }: Pick<Changes, 'collateralChange' | 'sharesChange'>,
): Held {
  return { ...held, collateral: held.collateral + collateralChange, shares: held.shares + sharesChange };
}

function isEmpty({ collateral, shares, isKnown }: Held): boolean {
  return isKnown && collateral === 0n && shares === 0n;
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
