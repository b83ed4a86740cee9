import type { Chain, Market } from '../../catalog/types.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import type { ReadAt } from '../position/types.ts';
import { type Operation, operationsOf } from './operations.ts';
import { debtAt, type HeldNow, segmentsOf } from './pnl-split.ts';
import { stockOperationsOf } from './stock-leg.ts';
import type { MarketMark, PositionKey, RecordedPosition } from './types.ts';

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

/** Equity of a position at a time, loan base units. */
export interface EquityPoint {
  readonly atMs: number;
  readonly collateral: bigint;
  readonly debt: bigint;
  /** Of the oracle, times 1e36. */
  readonly price: bigint;
  /** Collateral less debt; negative under water. */
  readonly equity: bigint;
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

export interface HistoryInput {
  readonly key: PositionKey;
  readonly market: Market;
  readonly contracts: Pick<Chain['contracts'], 'morphoBlue' | 'flashLeverage' | 'flashLeverageRouter' | 'equityRouter'>;
  readonly recorded: RecordedPosition;
  /** The position as the chain holds it now, and the block of that reading. */
  readonly held: { readonly collateral: bigint; readonly borrowShares: bigint; readonly blockNumber: bigint };
}

/** Compose the history of a position from its recorded logs. */
export function composePositionHistory(input: HistoryInput): PositionHistory {
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
  return { ...history, incomplete: history.incomplete ?? wrongDeposit(input) };
}

/**
 * Compose the history of a stock leg from its recorded logs: of all times at which the wallet held it, because an exit and a new
 * deposit continue one position of the lending protocol.
 */
export function composeStockHistory(input: HistoryInput): PositionHistory {
  const { key, recorded, contracts } = input;
  const payingContracts = contracts.equityRouter ? [contracts.equityRouter] : [];
  const leg = { wallet: key.wallet, marketId: key.marketId, payingContracts, logs: recorded.logs };
  const operations = stockOperationsOf({ ...leg, startsEmpty: false });
  const isWhole = recorded.range?.isWhole === true;
  const startsEmpty = isWhole || (operations.length > 0 && isAllOf(input.held, sumsOf(upTo(input.held, operations))));
  return composed(input, startsEmpty ? stockOperationsOf({ ...leg, startsEmpty }) : operations, startsEmpty);
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

/** The equity of a position at its events and at the samples between them, oldest first. */
export function equityCurve(
  { events, marks }: Pick<PositionHistory, 'events' | 'marks'>,
  now: HeldNow,
): readonly EquityPoint[] {
  const points = segmentsOf({ operations: events, marks, now }).map((segment): EquityPoint => {
    const { collateral, mark } = segment;
    return pointOf(segment.fromMs, collateral, debtAt(segment), mark.price);
  });
  if (now.price === null || events.length === 0) return points;
  return [...points, pointOf(now.atMs, now.collateral, now.debt, now.price)];
}

function pointOf(atMs: number, collateral: bigint, debt: bigint, price: bigint): EquityPoint {
  return { atMs, collateral, debt, price, equity: (collateral * price) / 10n ** 36n - debt };
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

/** The oracle may be updated in the block of an opening after it. */
const DEPOSIT_TOLERANCE_PCT = 10n;

/** The contract's event of an opening has the deposit in both tokens, which shows a wrong price or a wrong deposit. */
function wrongDeposit({ key, recorded: { logs, marks } }: HistoryInput): Gap | undefined {
  const opening = logs.find(
    ({ event, wallet, positionIndex }) =>
      event === 'LeveragePositionOpened' && wallet === key.wallet && positionIndex === key.positionIndex,
  );
  const mark = marks.find(({ blockNumber }) => blockNumber === opening?.blockNumber);
  if (!opening || !mark) return undefined;
  const value = (opening.collateral * mark.price) / 10n ** 36n;
  const difference = value > opening.assets ? value - opening.assets : opening.assets - value;
  // Rounding down to a unit of the loan token.
  if (difference <= 1n || difference * 100n <= opening.assets * DEPOSIT_TOLERANCE_PCT) return undefined;
  return gap(
    '',
    'IMPLAUSIBLE',
    `The deposit of its opening at block ${opening.blockNumber} and the price of the oracle there contradict each other: a node has answered one of them wrong. An operator can have both read anew.`,
  );
}

const NOT_READ = gap('', 'NOT_MEASURED', 'No block of the chain has been read yet.');
const TOO_MANY = gap('', 'NOT_MEASURED', 'It has more events than are read.');
