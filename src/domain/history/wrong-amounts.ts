import { formatUnitsPlain } from '../../shared/decimal.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { isPossiblePrice } from '../market/oracle-range.ts';
import type { Operation } from './operations.ts';
import type { HistoryInput, RecordedLog } from './types.ts';

/** The oracle may be updated in the block of an opening after it, and a contract may take its fees before or after it counts. */
const DEPOSIT_TOLERANCE_PCT = 10n;

/** The contract's event of an opening has the deposit in both tokens, which shows a wrong price or a wrong deposit. */
export function wrongDeposit(input: HistoryInput): Gap | undefined {
  const opening = ownLogs(input).find(({ event }) => event === 'LeveragePositionOpened');
  const mark = input.recorded.marks.find(({ blockNumber }) => blockNumber === opening?.blockNumber);
  if (!opening || !mark) return undefined;
  const value = (opening.collateral * mark.price) / 10n ** 36n;
  if (!isBeyond(value, opening.assets, opening.assets)) return undefined;
  return gap(
    '',
    'IMPLAUSIBLE',
    `The deposit of its opening at block ${opening.blockNumber} and the price of the oracle there contradict each other: a node has answered one of them wrong. An operator can have both read anew.`,
  );
}

/** A price at an event that the tokens of the market cannot have. */
export function wrongPrice(
  { recorded, market }: Pick<HistoryInput, 'recorded' | 'market'>,
  operations: readonly Operation[],
): Gap | undefined {
  const blocks = new Set(operations.map(({ blockNumber }) => blockNumber));
  const wrong = recorded.marks.find(
    ({ blockNumber, price }) => blocks.has(blockNumber) && !isPossiblePrice(price, market),
  );
  return (
    wrong &&
    gap(
      '',
      'IMPLAUSIBLE',
      `The price of the oracle at block ${wrong.blockNumber} is impossible: a node has answered it wrong. An operator can have the prices read anew.`,
    )
  );
}

/**
 * Compare the deposits of all events with the deposit basis that the contract keeps, which another reading has answered: both
 * amounts of an opening may be wrong together. The value of collateral that was withdrawn is not in the events, and the share of
 * the basis that a partial sale takes is the contract's, as are the events of such a sale, so after any withdrawal from the
 * lending protocol that does not close the position the basis is only bounded from above.
 */
export function wrongBasis(input: HistoryInput): Gap | undefined {
  const { held, market } = input;
  const { depositedAssets } = held;
  if (depositedAssets === undefined) return undefined;
  const logs = ownLogs(input).filter(({ blockNumber }) => blockNumber <= held.blockNumber);
  const isReduced = isTakenFrom(input);
  let [added, basis] = [0n, 0n];
  for (const { event, assets } of logs) {
    if (ADDING.includes(event)) [added, basis] = [added + assets, basis + assets];
    if (event === 'AdditionalBorrowed') basis = basis > assets ? basis - assets : 0n;
  }
  const isWrong = isReduced
    ? depositedAssets > added && isBeyond(depositedAssets, added, added)
    : isBeyond(depositedAssets, basis, added);
  if (!isWrong) return undefined;
  const amount = (assets: bigint) => `${formatUnitsPlain(assets, market.loan.decimals)} ${market.loan.symbol}`;
  return gap(
    '',
    'IMPLAUSIBLE',
    `Its events have deposits of ${amount(isReduced ? added : basis)}${isReduced ? ' at most' : ''}, and the contract has recorded ${amount(depositedAssets)}: a node has answered one of them wrong. An operator can have the events read anew.`,
  );
}

/** Whether collateral was withdrawn or sold up to the block of the holdings, and the position went on. */
function isTakenFrom({ key, recorded, held }: HistoryInput): boolean {
  const closing = new Set(
    ownLogs({ key, recorded }).flatMap(({ event, txHash }) => (event === 'LeveragePositionClosed' ? [txHash] : [])),
  );
  return recorded.logs.some(
    ({ event, account, marketId, txHash, blockNumber }) =>
      event === 'WithdrawCollateral' &&
      account === key.account &&
      marketId === key.marketId &&
      blockNumber <= held.blockNumber &&
      !closing.has(txHash),
  );
}

const ADDING: readonly RecordedLog['event'][] = ['LeveragePositionOpened', 'CollateralSupplied', 'LoanRepaid'];

/** The product contract's own events of the position, in the order of the chain. */
function ownLogs({ key, recorded }: Pick<HistoryInput, 'key' | 'recorded'>): readonly RecordedLog[] {
  return recorded.logs.filter(
    ({ wallet, positionIndex }) => wallet === key.wallet && positionIndex === key.positionIndex,
  );
}

/** Whether amounts differ by more than the tolerance, and by more than rounding to a unit of the loan token. */
function isBeyond(one: bigint, other: bigint, of: bigint): boolean {
  const difference = one > other ? one - other : other - one;
  return difference > 1n && difference * 100n > of * DEPOSIT_TOLERANCE_PCT;
}
