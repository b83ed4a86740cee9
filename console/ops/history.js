import { ask, KeyRefused } from './api.js';
import { at, badge, el, fillTable, sparkline, toneOf } from './dom.js';
import { amount, UNKNOWN, when, words } from './format.js';
import { chainName, explorerLink, positionLink } from './links.js';
import { PAST } from './queries.js';

/** Positions and events that are shown; the rows of the API have all. */
const POSITIONS = 20;
const EVENTS = 20;
const NOT_READ = 'could not be read; Refresh asks again';

const TONES = {
  following: 'good',
  backfilling: 'plain',
  behind: 'warn',
  unknown: 'bad',
  stopped: 'bad',
  failing: 'bad',
  never: 'plain',
};
const LATE = ['failing', 'unknown', 'stopped', 'behind'];
const block = (place) => (place ? `${place.blockNumber} · ${when(place.blockTime)}` : UNKNOWN);

const INDEXER_COLUMNS = [
  { name: 'Chain', show: ({ chainId }) => chainName(chainId) },
  { name: 'State', show: ({ status }) => badge(words(status), TONES[status] ?? 'plain') },
  { name: 'Read to', numeric: true, show: ({ readTo }) => block(readTo) },
  { name: 'Head', numeric: true, show: ({ headBlock }) => headBlock ?? UNKNOWN },
  { name: 'Behind, blocks', numeric: true, show: ({ blocksBehind }) => blocksBehind ?? UNKNOWN },
  { name: 'Complete from', numeric: true, show: ({ completeFrom }) => block(completeFrom) },
  {
    name: 'Found',
    numeric: true,
    show: ({ found, expected, whole }) => `${found} of ${expected ?? UNKNOWN}${whole ? ', whole' : ''}`,
  },
  { name: 'Latest run', numeric: true, show: ({ lastRun }) => when(lastRun) },
  {
    name: 'Failure',
    show: ({ statusReason, failure, failingSince }) =>
      failure === undefined ? (statusReason ?? 'none') : `${words(failure)} since ${when(failingSince)}`,
  },
];

let indexers = [];
let positions = [];

/** The shown rows, for files. */
export const shownIndexers = () => indexers;
export const shownPast = () => positions;
export const shownEvents = () =>
  positions.flatMap(({ events, ...position }) => events.map((event) => ({ ...position, event })));

/** Show how far the logs of positions are read, as the health page has it; absent = it could not be read. */
export function showIndexers(health, chainIds) {
  const chains = (health?.chains ?? []).filter(({ chainId }) => chainIds === null || chainIds.includes(chainId));
  indexers = chains.flatMap(({ chainId, positionHistory }) =>
    positionHistory ? [{ chainId, ...positionHistory }] : [],
  );
  const late = indexers.filter(({ status }) => LATE.includes(status));
  const lateCount = late.length === 0 ? '' : `${late.length} of ${indexers.length} late`;
  at('indexers-count').textContent = indexers.length === 0 ? NOT_READ : lateCount;
  fillTable(at('indexers'), 'Reading by chain', INDEXER_COLUMNS, indexers, 'No chain is read.');
}

const part =
  (name) =>
  ({ split }) => {
    const value = split?.[name]?.amount;
    return value === undefined ? UNKNOWN : el('span', { class: toneOf(value) }, amount(value));
  };
const plain =
  (name) =>
  ({ split }) =>
    amount(split?.[name]?.amount);

/** The equity at events, samples and now as a line, with its first and last value in words. */
function curveOf({ curve, loan }) {
  const [first] = curve;
  const last = curve.at(-1);
  if (!first || curve.length < 2) return UNKNOWN;
  const label = `${amount(first.equityAmount)} ${loan} on ${when(first.at)}, ${amount(last.equityAmount)} ${loan} on ${when(last.at)}`;
  return sparkline(
    curve.map(({ at: time, equityAmount }) => [Date.parse(time), Number(equityAmount)]),
    label,
  );
}

const PAST_COLUMNS = [
  { name: 'Position', show: (row) => placeOf(row) },
  { name: 'Chain', show: ({ chainId }) => chainName(chainId) },
  {
    name: 'Events',
    numeric: true,
    show: ({ eventCount, isComplete, gap }) =>
      el('span', { title: gap }, `${eventCount}${isComplete ? '' : ', not complete'}`),
  },
  { name: 'Loan token', show: ({ loan }) => loan },
  { name: 'Equity over time', show: curveOf },
  { name: 'Paid', numeric: true, show: plain('paid') },
  { name: 'Received', numeric: true, show: plain('received') },
  { name: 'Net value', numeric: true, show: plain('netValue') },
  { name: 'Yield and price', numeric: true, show: part('yieldAndPrice') },
  { name: 'Interest', numeric: true, show: part('borrowCost') },
  { name: 'Fees', numeric: true, show: part('fees') },
  { name: 'Swaps', numeric: true, show: part('slippage') },
  { name: 'Liquidation', numeric: true, show: part('liquidation') },
  { name: 'Paid by others', numeric: true, show: part('paidByOthers') },
  { name: 'Result', numeric: true, show: part('result') },
];

const EVENT_COLUMNS = [
  { name: 'Time', show: ({ event }) => when(event.at) },
  { name: 'Event', show: ({ event }) => words(event.kind) },
  { name: 'Position', show: (row) => placeOf(row) },
  {
    name: 'Collateral',
    numeric: true,
    show: ({ event, collateral }) => `${amount(event.collateralChange)} ${collateral}`,
  },
  { name: 'Debt', numeric: true, show: ({ event, loan }) => `${amount(event.debtChange)} ${loan}` },
  { name: 'Oracle price', numeric: true, show: ({ event }) => amount(event.oraclePrice) },
  {
    name: 'Transaction',
    show: ({ event, chainId }) =>
      el('span', {}, `${event.txHash.slice(0, 10)}…`, explorerLink(chainId, ['tx', event.txHash], 'Transaction')),
  },
];

function placeOf(row) {
  if (row.positionIndex === null) return row.name;
  return positionLink({ ...row, market: `${row.marketId} market` }, row.name);
}

function rowOf({ history, pnlSplit, ...position }, { collateral, loan, name }) {
  return {
    ...position,
    ...{ collateral, loan, name, split: pnlSplit },
    events: history?.events.nodes ?? [],
    eventCount: history?.events.totalCount ?? UNKNOWN,
    curve: history?.equityCurve ?? [],
    isComplete: history?.isComplete ?? false,
    completeFrom: history?.completeFrom ?? null,
    gap: history?.gaps[0]?.message,
  };
}

function rowsOf({ positions: plainOnes, equityPositions }) {
  const loop = (position) => {
    const [collateral, loan] = [position.collateralToken?.symbol ?? '?', position.loanToken?.symbol ?? '?'];
    return rowOf(position, { collateral, loan, name: `${collateral}/${loan} #${position.positionIndex}` });
  };
  const vaults = equityPositions.flatMap(({ stockToken, depositToken, stockLeg, yieldLoops }) => {
    const [collateral, loan] = [stockToken.symbol, depositToken.symbol];
    const leg = rowOf(
      { ...stockLeg, positionIndex: null },
      { collateral, loan, name: `${collateral} vault: stock leg` },
    );
    return [leg, ...yieldLoops.map(loop)];
  });
  return [...plainOnes.nodes.map(loop), ...vaults];
}

/** Show the past of the wallet that is filtered by; without one wallet there is none. @throws KeyRefused */
export async function showPast(wallet, chainIds, isLatest) {
  const card = at('past-card');
  card.hidden = wallet === undefined;
  positions = [];
  if (wallet === undefined) return;
  try {
    const { wallet: found } = await ask(PAST, { wallet, chainIds, positions: POSITIONS, events: EVENTS });
    if (!isLatest()) return;
    positions = rowsOf(found);
    const { totalCount, nodes } = found.positions;
    at('past-count').textContent =
      nodes.length < totalCount ? `${nodes.length} of ${totalCount} loops` : String(positions.length);
    fillTable(at('past'), 'Profit and loss by position', PAST_COLUMNS, positions, 'The wallet has no position.');
    const events = shownEvents().toSorted((a, b) => Date.parse(b.event.at) - Date.parse(a.event.at));
    at('events-count').textContent = String(events.length);
    fillTable(at('events'), 'Latest events', EVENT_COLUMNS, events, 'No event was read.');
  } catch (error) {
    if (error instanceof KeyRefused) throw error;
    if (isLatest()) at('past-count').textContent = NOT_READ;
  }
}
