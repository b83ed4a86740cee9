import { ask, KeyRefused } from './api.js';
import { at, el, fillTable } from './dom.js';
import { percent, UNKNOWN, usd } from './format.js';
import { positionLink } from './links.js';
import { ADVICE, NEAR_LIMITS } from './queries.js';

/** Positions that are asked about: each costs as much as three previews. */
const ASKED = 5;
/** Points of LTV left up to which a position is asked about: the safe LTV is 1 to 3.25 points below liquidation, by the contract's buffer. */
const NEAR_POINTS = 4;
const POSITIONS = 100;

const WAYS = { REPAY: 'Repay debt', ADD_COLLATERAL: 'Add collateral', CLOSE: 'Sell a part and repay' };
const STEPS = { REPAY: 'repay', ADD_COLLATERAL: 'add', CLOSE: 'sell' };
const PAID = {
  AFFORDABLE: 'wallet',
  NOT_AFFORDABLE: 'wallet, which holds less',
  NOTHING_TO_PAY: 'position',
  UNKNOWN: 'wallet, balance unknown',
};

const step = ({ action, token, amount, isFull, fromProceeds }) =>
  `${STEPS[action]} ${isFull ? 'all debt, about ' : ''}${amount} ${token.symbol}${fromProceeds ? ' of the proceeds' : ''}`;
/** One line for each transaction. */
const amountsOf = (steps) =>
  steps.length === 0
    ? UNKNOWN
    : el('div', {}, ...steps.map((one, i) => el('div', {}, `${step(one)}${i < steps.length - 1 ? ', then' : ''}`)));
/** In USD with the 4 places of the service: gas often costs less than a cent. */
const gasOf = ({ simulatedGas, gasUsd }) =>
  simulatedGas === null ? UNKNOWN : `${simulatedGas}, ${gasUsd === null ? 'not priced' : `$${gasUsd}`}`;
const ifPossible = (show) => (row) => (row.option.unavailable === null ? show(row) : '–');

const COLUMNS = [
  {
    name: 'Position',
    show: ({ position, name }) => positionLink({ ...position, market: `${position.marketId} market` }, name),
  },
  { name: 'LTV, safe', numeric: true, show: ({ found }) => `${percent(found.ltvPct)}, ${percent(found.safeLtvPct)}` },
  { name: 'What', show: ({ option }) => WAYS[option.action] },
  { name: 'Amounts', show: ({ option }) => amountsOf(option.steps) },
  { name: 'Cost', numeric: true, show: ifPossible(({ option }) => usd(option.costUsd)) },
  { name: 'Gas', numeric: true, show: ifPossible(({ option }) => gasOf(option)) },
  {
    name: 'LTV after',
    numeric: true,
    show: ({ option }) =>
      option.preview ? percent(option.preview.position.ltvPct) : `not possible: ${option.unavailable?.message ?? ''}`,
  },
  { name: 'Paid by', show: ifPossible(({ option }) => PAID[option.affordability]) },
];

/**
 * Show what to do about the positions of the wallet that is filtered by and that are near their limits; without one wallet, and
 * without such a position, nothing is shown.
 * @throws KeyRefused
 */
export async function showAdvice(wallet, chainIds, isLatest) {
  const card = at('advice-card');
  if (wallet === undefined) {
    card.hidden = true;
    return;
  }
  try {
    const { wallet: held } = await ask(NEAR_LIMITS, { wallet, chainIds, first: POSITIONS });
    const near = nearOf(held);
    if (!isLatest()) return;
    card.hidden = near.length === 0;
    if (near.length === 0) return;
    const asked = near.slice(0, ASKED);
    const answers = await Promise.allSettled(asked.map((position) => rowsOf(position)));
    const refused = answers.find(({ reason }) => reason instanceof KeyRefused);
    if (refused) throw refused.reason;
    if (!isLatest()) return;
    const failed = answers.filter(({ status }) => status === 'rejected').length;
    at('advice-count').textContent = [
      ...(asked.length === near.length ? [] : [`${asked.length} of ${near.length} positions`]),
      ...(failed === 0 ? [] : [`${failed} ${UNREAD}`]),
    ].join('; ');
    const rows = answers.flatMap(({ value = [] }) => value);
    note(answers.flatMap(({ value = [] }) => value.slice(0, 1)));
    fill(rows, failed === 0 ? 'No position is above its safe LTV: nothing has to be done.' : `${failed} ${UNREAD}`);
  } catch (error) {
    if (error instanceof KeyRefused) throw error;
    if (!isLatest()) return;
    at('advice-count').textContent = UNREAD;
    // The rows may be of another wallet.
    note([]);
    fill([], UNREAD);
  }
}

const UNREAD = 'could not be read; Refresh asks again';

/** Show of each position whose debt is above the value of its collateral what a payment into it loses. */
function note(rows) {
  const under = rows.filter(({ found }) => found.underWater !== null);
  const list = at('advice-notes');
  list.hidden = under.length === 0;
  list.replaceChildren(...under.map(({ name, found }) => el('li', {}, `${name}: ${found.underWater.message}`)));
}

function fill(rows, empty) {
  fillTable(at('advice'), 'Ways to the safe LTV', COLUMNS, rows, empty);
}

/** Open positions with few points left, loops of vaults too, the nearest first. */
function nearOf({ positions, equityPositions }) {
  return [...positions.nodes, ...equityPositions.flatMap(({ yieldLoops }) => yieldLoops)]
    .filter(({ status, ltvHeadroomPct }) => status === 'OPEN' && ltvHeadroomPct !== null)
    .filter(({ ltvHeadroomPct }) => Number(ltvHeadroomPct) <= NEAR_POINTS)
    .sort((a, b) => Number(a.ltvHeadroomPct) - Number(b.ltvHeadroomPct));
}

async function rowsOf(position) {
  const { wallet, positionIndex, positionId: id, collateralToken, loanToken } = position;
  const { position: read } = await ask(ADVICE, { wallet, id });
  const found = read?.deleverageOptions;
  const name = `${collateralToken?.symbol ?? '?'}/${loanToken?.symbol ?? '?'} #${positionIndex}`;
  return (found?.options ?? []).map((option) => ({ position, name, found, option }));
}
