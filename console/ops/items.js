import { orderOf } from './address.js';
import { at, badge, el, fillTable, SEVERITY_TONES, toneOf } from './dom.js';
import { age, DRIFT_SHORT, DRIFT_WORDS, percent, points, UNKNOWN, usd, words } from './format.js';
import { chainName, positionLink, walletLink } from './links.js';

/** One row shape for loops and vaults. */
export function rowOf(node) {
  if (node.position === undefined) {
    const { stock } = node.equityPosition ?? {};
    const partOf = `${node.stockToken?.displaySymbol ?? 'unknown stock'} vault`;
    const inside = node.loops.nodes.map((loop) => ({ ...rowOf(loop), partOf }));
    const more = node.loops.totalCount - inside.length;
    return {
      ...node,
      name: `${partOf}${more > 0 ? ` (${more} more loops)` : ''}`,
      market: `${node.vaultId.replace(/^equity-/, '')} vault`,
      ltvPct: stock?.ltvPct,
      headroom: node.leastLtvHeadroomPct,
      inside,
      drift: node.loops.nodes.find(({ drift }) => drift)?.drift ?? null,
    };
  }
  const { position } = node;
  return {
    ...node,
    ...position,
    name: `${position.collateralToken?.displaySymbol ?? '?'}/${position.loanToken?.displaySymbol ?? '?'} #${position.positionIndex}`,
    market: `${position.marketId} market`,
    headroom: position.ltvHeadroomPct,
    inside: [],
  };
}

const STATUS_TONES = { OPEN: 'good', CLOSED: 'plain', LIQUIDATED: 'bad' };

function headroomCell(row) {
  if (row.headroom === null || row.headroom === undefined) return UNKNOWN;
  const value = Number(row.headroom);
  const tone = value < 1 ? 'bad' : value < 2 ? 'warn' : 'good';
  const meter = el('meter', {
    min: '0',
    max: '20',
    low: '1',
    high: '2',
    optimum: '20',
    value: String(Math.max(0, Math.min(20, value))),
    'aria-hidden': 'true',
  });
  return el('span', { class: `headroom ${tone}` }, meter, points(row.headroom));
}

const signed = (value) => el('span', { class: toneOf(value) }, usd(value, { signed: true }));

const COLUMNS = [
  { name: 'Position', sort: 'NAME', show: (row) => positionLink(row, row.name) },
  { name: 'Headroom, pts', sort: 'HEADROOM', numeric: true, show: headroomCell },
  { name: 'LTV', sort: 'LTV', numeric: true, show: (row) => percent(row.ltvPct) },
  { name: 'Net value', sort: 'VALUE_USD', numeric: true, show: (row) => usd(row.pnl.netValueUsd) },
  { name: 'P&L', sort: 'PNL_USD', numeric: true, show: (row) => signed(row.pnl.totalUsd) },
  { name: 'Return', sort: 'RETURN_ON_EQUITY', numeric: true, show: (row) => percent(row.pnl.returnOnEquityPct) },
  { name: 'Status', sort: 'STATUS', show: (row) => badge(words(row.status), STATUS_TONES[row.status]) },
  { name: 'Wallet', sort: 'WALLET', show: (row) => walletLink(row.chainId, row.wallet) },
  { name: 'Chain', sort: 'CHAIN', show: (row) => chainName(row.chainId) },
  {
    name: 'Opened',
    sort: 'OPENED_AT',
    numeric: true,
    show: (row) => (row.openedAt ? `${age((Date.now() - Date.parse(row.openedAt)) / 1_000)} ago` : UNKNOWN),
  },
  {
    name: 'Drift',
    sort: 'DRIFT_SEVERITY',
    show: ({ drift }) =>
      drift ? badge(DRIFT_SHORT[drift.kind], SEVERITY_TONES[drift.severity], DRIFT_WORDS[drift.kind]) : '',
  },
];
export const ITEM_ORDERS = COLUMNS.map(({ sort }) => sort);

/** Each vault followed by its loops. */
export const withParts = (rows) => rows.flatMap((row) => [row, ...row.inside]);

/** Positions; the loops of a vault are not counted again. */
export function showItems(rows, totalCount, onSort) {
  at('items-count').textContent = `${rows.length === totalCount ? totalCount : `${rows.length} of ${totalCount}`}`;
  const sorting = { order: orderOf('items', ITEM_ORDERS), onSort };
  fillTable(at('items'), 'Positions', COLUMNS, withParts(rows), 'Nothing matches these filters.', sorting);
}
