import { ask, KeyRefused } from './api.js';
import { at, el, fillTable, toneOf } from './dom.js';
import { percent, points, UNKNOWN, usd } from './format.js';
import { STRESS } from './queries.js';

const SCENARIOS = {
  TODAY: 'Today',
  COLLATERAL_PRICE: 'Collateral price',
  LOAN_PRICE: 'Loan token price',
  BORROW_RATE: 'Borrow rate',
  FULL_UTILIZATION: 'Utilization at 100 %',
  MARKET_BELOW_ORACLE: 'Sold below the oracle',
  EXIT_AT_MEASURED_SLIPPAGE: 'Sold at the measured loss',
  NO_EXIT: 'No buyer',
};
const NO_POSITION = 'The wallet has no open position.';
const ENDS = { LIQUIDATION: 'liquidation', NO_EXIT: 'no exit', CARRY: 'carry', NOTHING: 'nothing' };

function headroom({ headroomPct }) {
  if (headroomPct === null) return UNKNOWN;
  const value = String(Math.max(0, Math.min(20, Number(headroomPct))));
  const attributes = { min: '0', max: '20', low: '1', high: '2', optimum: '20', value, 'aria-hidden': 'true' };
  return el('span', { class: 'headroom' }, el('meter', attributes), points(headroomPct));
}

const COLUMNS = [
  { name: 'Scenario', show: ({ scenario }) => SCENARIOS[scenario] },
  { name: 'Change', numeric: true, show: ({ changePct }) => (changePct === null ? '' : percent(changePct)) },
  { name: 'LTV', numeric: true, show: ({ ltvPct }) => percent(ltvPct) },
  { name: 'Least headroom, pts', numeric: true, show: headroom },
  {
    name: 'Equity',
    numeric: true,
    show: ({ equityUsd }) => el('span', { class: toneOf(equityUsd) }, usd(equityUsd)),
  },
  { name: 'Net APY', numeric: true, show: ({ netApyPct }) => percent(netApyPct) },
  { name: 'Ends by', show: ({ endsBy }) => (endsBy === null ? UNKNOWN : ENDS[endsBy]) },
  { name: 'Liquidated', numeric: true, show: ({ endedPositions }) => String(endedPositions) },
];

const RECORD_COLUMNS = [
  { name: 'Worst of', show: ({ windowDays }) => `${windowDays} ${windowDays === 1 ? 'day' : 'days'}` },
  { name: 'Windows', numeric: true, show: ({ windowCount }) => String(windowCount) },
  { name: 'Samples', numeric: true, show: ({ sampleCount }) => String(sampleCount) },
  { name: 'Doubted', numeric: true, show: ({ doubtedSamples }) => String(doubtedSamples) },
  { name: 'Hours missing', numeric: true, show: ({ missingHours }) => String(missingHours) },
  { name: 'Price fall', numeric: true, show: ({ worstFallPct }) => percent(worstFallPct) },
  { name: 'Interest', numeric: true, show: ({ worstInterestPct }) => percent(worstInterestPct) },
  { name: 'Rise of the LTV', numeric: true, show: ({ worstLtvRisePct }) => percent(worstLtvRisePct) },
  {
    name: 'Survived',
    show: ({ survived, gaps }) =>
      survived === null ? el('span', { title: gaps[0]?.message }, UNKNOWN) : survived ? 'yes' : 'no',
  },
];

/**
 * Show the stress table of the wallet that is filtered by; without one wallet there is none.
 * @param isLatest whether the answer is still wanted when it comes
 * @throws KeyRefused
 */
export async function showStress(wallet, chainIds, isLatest) {
  const card = at('stress-card');
  card.hidden = wallet === undefined;
  if (wallet === undefined) return;
  try {
    const { wallet: found } = await ask(STRESS, { wallet, chainIds });
    if (!isLatest()) return;
    const { positionCount, rows, recordedMoves } = found.stress;
    at('stress-count').textContent = String(positionCount);
    fillTable(at('stress'), 'Stress', COLUMNS, rows, NO_POSITION);
    fillTable(at('recorded'), 'Recorded moves', RECORD_COLUMNS, recordedMoves, NO_POSITION);
  } catch (error) {
    if (error instanceof KeyRefused) throw error;
    if (!isLatest()) return;
    at('stress-count').textContent = 'could not be read; Refresh asks again';
  }
}
