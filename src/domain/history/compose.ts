import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { isPossiblePrice } from '../market/oracle-range.ts';
import type { ReadAt } from '../position/types.ts';
import { type Operation, operationsOf } from './operations.ts';
import { stockOperationsOf } from './stock-leg.ts';
import type { HistoryInput, MarketMark } from './types.ts';
import { wrongBasis, wrongDeposit, wrongPrice } from './wrong-amounts.ts';

/** An event of a position, and the position right after it. Base units. */
export interface PositionEvent extends Operation {
  readonly collateralAfter: bigint;
  /** Place in the history, from 0. */
  readonly rank: number;
  /** Of the oracle at the end of the block, times 1e36; `null` = not known. */
  readonly price: bigint | null;
  /** With interest, at the end of the block; `null` = not known. */
  readonly debtAfter: bigint | null;
}

/** Everything that is known of the past of a position. */
export interface PositionHistory {
  /** Oldest first. */
  readonly events: readonly PositionEvent[];
  readonly marks: readonly MarketMark[];
  /** Block from which no event is missing; `null` = none was read. */
  readonly completeFrom: ReadAt | null;
  /** Newest block that was read. */
  readonly readTo: ReadAt | null;
  /** Why the events are not all from the opening until now; absent: they are. */
  readonly incomplete?: Gap | undefined;
}

/** Compose the history of a position from its recorded logs. */
export function composePositionHistory(asRead: HistoryInput): PositionHistory {
  const input = withPossibleMarks(asRead);
  const { key, market, contracts, recorded } = input;
  const operations = operationsOf({
    morphoBlue: contracts.morphoBlue,
    flashLeverage: contracts.flashLeverage,
    flashLeverageRouter: contracts.flashLeverageRouter,
    key,
    collateral: market.collateral.address,
    loan: market.loan.address,
    logs: recorded.logs,
  });
  const isOpened = operations.some(({ kind }) => kind === 'opened');
  const history = composed(input, operations, isOpened);
  return {
    ...history,
    incomplete: history.incomplete ?? wrongDeposit(asRead) ?? wrongPrice(asRead, operations) ?? wrongBasis(input),
  };
}

/**
 * Compose the history of a stock leg from its recorded logs: of all times at which the wallet held it, because an exit and a new
 * deposit continue one position of the lending protocol.
 */
export function composeStockHistory(asRead: HistoryInput): PositionHistory {
  const input = withPossibleMarks(asRead);
  const { key, recorded, contracts } = input;
  const payingContracts = contracts.equityRouter ? [contracts.equityRouter] : [];
  const leg = { wallet: key.wallet, marketId: key.marketId, payingContracts, logs: recorded.logs };
  const operations = stockOperationsOf({ ...leg, startsEmpty: false });
  const isWhole = recorded.range?.isWhole === true;
  const startsEmpty = isWhole || (operations.length > 0 && isAllOf(input.held, sumsOf(upTo(input.held, operations))));
  const history = composed(input, startsEmpty ? stockOperationsOf({ ...leg, startsEmpty }) : operations, startsEmpty);
  return { ...history, incomplete: history.incomplete ?? wrongPrice(asRead, operations) };
}

/** Leave out marks with an impossible price: an earlier version has stored them. */
function withPossibleMarks(input: HistoryInput): HistoryInput {
  const marks = input.recorded.marks.filter(({ price }) => isPossiblePrice(price, input.market));
  return { ...input, recorded: { ...input.recorded, marks } };
}

type Sums = Pick<HistoryInput['held'], 'collateral' | 'borrowShares'>;

function sumsOf(operations: readonly Operation[]): Sums {
  return operations.reduce(
    ({ collateral, borrowShares }, { collateralChange, sharesChange }) => ({
      collateral: collateral + collateralChange,
      borrowShares: borrowShares + sharesChange,
    }),
    { collateral: 0n, borrowShares: 0n },
  );
}

/** The operations of the block of the holdings and before it. */
function upTo<T extends Operation>(
  { blockNumber: last }: HistoryInput['held'],
  operations: readonly T[],
): readonly T[] {
  return operations.filter(({ blockNumber }) => blockNumber <= last);
}

function isAllOf(held: Sums, sums: Sums): boolean {
  return sums.collateral === held.collateral && sums.borrowShares === held.borrowShares;
}

/** @param isFromStart whether the operations begin with the opening */
function composed(
  input: Pick<HistoryInput, 'recorded' | 'held'>,
  operations: readonly Operation[],
  isFromStart: boolean,
): PositionHistory {
  const { range } = input.recorded;
  const marks = new Map(input.recorded.marks.map((mark) => [mark.blockNumber, mark] as const));
  let [collateral, shares] = [0n, 0n];
  const events = operations.map((operation, rank): PositionEvent => {
    collateral += operation.collateralChange;
    shares += operation.sharesChange;
    const mark = marks.get(operation.blockNumber);
    return {
      ...operation,
      rank,
      collateralAfter: collateral,
      price: mark?.price ?? null,
      debtAfter: shares === 0n ? 0n : mark ? debtAt({ shares, mark }) : null,
    };
  });
  const opening = isFromStart ? events.find(({ kind }) => kind === 'opened') : undefined;
  return {
    events,
    marks: input.recorded.marks,
    completeFrom: opening
      ? { blockNumber: opening.blockNumber, blockTimeMs: opening.atMs }
      : range && { blockNumber: range.fromBlock, blockTimeMs: range.fromMs },
    readTo: range && { blockNumber: range.toBlock, blockTimeMs: range.toMs },
    incomplete: incompleteness(input, events, isFromStart),
  };
}

/** Debt of borrow shares at a mark, rounded up as the protocol does. */
export function debtAt({ shares, mark }: { readonly shares: bigint; readonly mark: MarketMark }): bigint {
  const above = shares * (mark.totalBorrowAssets + 1n);
  const below = mark.totalBorrowShares + 1_000_000n;
  return (above + below - 1n) / below;
}

function incompleteness(
  { recorded: { range, isCut }, held }: Pick<HistoryInput, 'recorded' | 'held'>,
  events: readonly PositionEvent[],
  isFromStart: boolean,
): Gap | undefined {
  if (!range) return NOT_READ;
  if (isCut) return TOO_MANY;
  if (!isFromStart) {
    return gap(
      '',
      'NOT_MEASURED',
      `Its opening is not among the blocks that were read, which begin at ${range.fromBlock}.`,
    );
  }
  if (!isAllOf(held, sumsOf(upTo(held, events)))) {
    return held.blockNumber > range.toBlock
      ? gap('', 'NOT_MEASURED', `Blocks after ${range.toBlock} have not been read yet.`)
      : gap(
          '',
          'IMPLAUSIBLE',
          'The events do not add up to the holdings of the position: a node has left some out, or has answered wrong ones. An operator can have them read anew.',
        );
  }
  const newest = events.at(-1);
  if (newest && newest.blockNumber > held.blockNumber) {
    return gap(
      '',
      'NOT_MEASURED',
      `The holdings are of block ${held.blockNumber}, older than its newest event at block ${newest.blockNumber}. Ask again.`,
    );
  }
  const unexplained = events.find(({ isUnexplained }) => isUnexplained);
  return (
    unexplained &&
    gap('', 'IMPLAUSIBLE', `The transfers of the transaction ${unexplained.txHash} do not explain its event.`)
  );
}

const NOT_READ = gap('', 'NOT_MEASURED', 'No block of the chain has been read yet.');
const TOO_MANY = gap('', 'NOT_MEASURED', 'It has more events than are read.');
