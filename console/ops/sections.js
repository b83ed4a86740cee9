import { orderOf, storeOrder } from './address.js';
import { at, badge, el, fillTable, toneOf } from './dom.js';
import { age, shortAddress, UNKNOWN, usd, when, words } from './format.js';
import { chainName, filterLink } from './links.js';

/** Totals over all wallets. */
export function showTotals({ aggregates }) {
  const { totals } = aggregates;
  const drift = aggregates.byDriftKind.reduce((sum, { count }) => sum + count, 0);
  const high = aggregates.byDriftKind.reduce((sum, row) => sum + row.highCount, 0);
  const open = aggregates.byStatus.find(({ status }) => status === 'OPEN')?.totals.count ?? 0;
  const tile = (name, value, { note, tone } = {}) =>
    el(
      'div',
      { class: 'tile' },
      el('dt', {}, name),
      el('dd', { class: tone }, value),
      el('dd', { class: 'note' }, note ?? ''),
    );
  const unknown = ({ unknownCount: count }) => (count === 0 ? '' : `${count} unknown excluded`);
  at('totals').replaceChildren(
    tile('Net value', usd(totals.netValue.sumUsd), { note: unknown(totals.netValue) }),
    tile('P&L', usd(totals.total.sumUsd, { signed: true }), {
      note: unknown(totals.total),
      tone: toneOf(totals.total.sumUsd),
    }),
    tile('P&L after fee', usd(totals.totalAfterFee.sumUsd, { signed: true }), {
      note: unknown(totals.totalAfterFee),
      tone: toneOf(totals.totalAfterFee.sumUsd),
    }),
    tile('Incentives', usd(totals.incentives.sumUsd, { signed: true }), { note: unknown(totals.incentives) }),
    tile('Open', String(open), { note: `of ${totals.count} positions` }),
    tile('Wallets', String(aggregates.walletCount), {
      note: aggregates.failedWalletCount === 0 ? '' : `${aggregates.failedWalletCount} could not be read`,
      tone: aggregates.failedWalletCount === 0 ? null : 'down',
    }),
    tile('Drift', String(drift), {
      note: high === 0 ? '' : `${high} of high severity`,
      tone: high === 0 ? null : 'down',
    }),
  );
}

function momentLines({ items: reports, missingChains }) {
  const times = reports.map(({ freshness }) => freshness.asOf).toSorted();
  const oldest = times[0];
  at('moment').textContent = oldest === undefined ? '' : `As of ${when(oldest)}`;
  const lines = reports.flatMap((report) => {
    const name = chainName(report.chainId);
    return [...ageLines(report, name), ...report.failedWallets.map((failed) => failedLine(failed, name))];
  });
  const missing = missingChains.map(({ chainId, message }) => `${chainName(chainId)} is missing: ${message}`);
  return [...missing, ...lines];
}

function ageLines({ failure, freshness }, name) {
  if (failure) {
    const { provider, reason, since } = failure;
    return [
      `${name}: the latest reading failed (${provider}, ${words(reason)}, since ${when(since)}). These are the last good numbers, ${age(freshness.ageSec)} old.`,
    ];
  }
  if (freshness.status !== 'STALE') return [];
  return [`${name}: these numbers are ${age(freshness.ageSec)} old; newer ones are being computed.`];
}

function failedLine({ wallet, message }, name) {
  return `${name}: ${shortAddress(wallet)} is excluded. ${message}`;
}

const unresolvedCount = ({ byUnresolvedReason }) => byUnresolvedReason.reduce((sum, { count }) => sum + count, 0);

/** Name stale and unresolved data at the top, with links to the sections that show it. */
function attention({ ops: { aggregates }, freshness }) {
  const unresolved = unresolvedCount(aggregates);
  const drift = aggregates.byDriftKind.reduce((sum, { count }) => sum + count, 0);
  const link = (section, text) => [el('a', { href: `#${section}` }, text)];
  return [
    ...freshness.flatMap(({ chain, ready, groups }) => {
      const late = groups.filter((group) => isLate(group));
      const names = [...new Set(late.map(({ group }) => words(group)))].join(', ');
      return [
        ...(ready ? [] : [link('fresh-title', `${chain.name} is not ready.`)]),
        ...(late.length === 0 ? [] : [link('fresh-title', `${chain.name}: stale ${names}.`)]),
      ];
    }),
    ...(drift === 0 ? [] : [link('drift-title', `${counted(drift, 'disagreement')} between register and chain.`)]),
    ...(unresolved === 0 ? [] : [link('unresolved', `${counted(unresolved, 'row')} of the register unresolved.`)]),
  ];
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Show the items that need attention, and put the freshness first while a group is stale. */
export function showAttention(overview) {
  const isStale = overview.freshness.some(({ ready, groups }) => !ready || groups.some(isLate));
  const [board, fresh] = [at('board'), at('fresh-section')];
  const place = isStale ? at('filters') : null;
  if (fresh.nextElementSibling !== place) board.insertBefore(fresh, place);
  tell([...momentLines(overview.ops.reports).map((line) => [line]), ...attention(overview)]);
}

/** Show or hide the notice at the top: one line per entry, each a list of texts and links. */
export function tell(lines) {
  const notice = at('notice');
  notice.replaceChildren(...lines.map((parts) => el('li', {}, ...parts)));
  notice.hidden = lines.length === 0;
}

export const marketName = (row) => (row.isVault ? `${row.name} vault` : (row.name ?? shortAddress(row.marketId)));

/** Sums per market. */
export function showMarkets(byMarket) {
  const known = (total, count, options) => {
    if (total.unknownCount === count) return UNKNOWN;
    return `${usd(total.sumUsd, options)}${total.unknownCount === 0 ? '' : ` (${total.unknownCount} unknown excluded)`}`;
  };
  const sum =
    (name) =>
    ({ totals }) =>
      totals[name].unknownCount === totals.count ? null : Number(totals[name].sumUsd);
  const columns = [
    {
      name: 'Market',
      sort: 'market',
      value: marketName,
      show: (row) => filterLink({ chain: row.chainId, market: marketValue(row) }, {}, marketName(row)),
    },
    { name: 'Chain', sort: 'chain', value: ({ chainId }) => chainId, show: (row) => chainName(row.chainId) },
    {
      name: 'Positions',
      sort: 'count',
      numeric: true,
      value: ({ totals }) => totals.count,
      show: ({ totals }) => String(totals.count),
    },
    ...[
      ['Deposited', 'deposited'],
      ['Net value', 'netValue'],
      ['Incentives', 'incentives'],
    ].map(([name, sort]) => ({
      name,
      sort,
      numeric: true,
      value: sum(sort),
      show: ({ totals }) => known(totals[sort], totals.count),
    })),
    {
      name: 'P&L',
      sort: 'total',
      numeric: true,
      value: sum('total'),
      show: ({ totals: { total, count } }) =>
        el('span', { class: toneOf(total.sumUsd) }, known(total, count, { signed: true })),
    },
  ];
  showSorted(at('markets'), 'markets', 'Sums by market', columns, byMarket, 'Nothing matches these filters.');
}

/** A market of the filter. */
export const marketValue = ({ marketId, isVault }) => `${marketId} ${isVault ? 'vault' : 'market'}`;

/** Fill a table that is loaded as a whole, in the order of the address. */
function showSorted(table, name, caption, columns, rows, empty) {
  const known = columns.map(({ sort }) => sort);
  const order = orderOf(name, known);
  const { value } = columns.find(({ sort }) => sort === order.by);
  const onSort = (by) => {
    storeOrder(name, by, known);
    for (const { redraw } of tables.values()) redraw();
  };
  const sorted = rows.toSorted((a, b) => compare(value(a), value(b), order.direction));
  const redraw = () => table.isConnected && showSorted(table, name, caption, columns, rows, empty);
  tables.set(table, { name, sorted, redraw });
  fillTable(table, caption, columns, sorted, empty, { order, onSort });
}

/** The tables that are loaded as a whole. */
const tables = new Map();

/** The rows of a table, or of several of one name, as they are shown. */
export function shownRows(name) {
  return [...tables].flatMap(([table, one]) => (one.name === name && table.isConnected ? one.sorted : []));
}

/** Unknown values come last in both directions. */
function compare(a, b, direction) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  const order = a < b ? -1 : 1;
  return direction === 'asc' ? order : -order;
}

const FRESH_TONES = { FRESH: 'good', FAILING: 'warn', STALE: 'bad', NEVER: 'plain' };

/** Order of the states, the worst first. */
const FRESH_RANKS = ['STALE', 'NEVER', 'FAILING', 'FRESH'];
const rankOf = ({ freshness }) => FRESH_RANKS.indexOf(freshness.status);
const isLate = ({ freshness: { status } }) => status === 'STALE' || status === 'NEVER';
export const groupName = (row) => (row.apySource ? `${words(row.group)} · ${words(row.apySource)}` : words(row.group));

/** Age of every group of facts, chain by chain; the chain with the worst state first. */
export function showFreshness(freshness) {
  const worst = ({ ready, groups }) => (ready ? Math.min(...groups.map(rankOf), FRESH_RANKS.length) : -1);
  tables.clear();
  const parts = freshness
    .toSorted((a, b) => worst(a) - worst(b))
    .map(({ chain, ready, groups }) => {
      const table = el('table', {});
      const head = el('h3', {}, chain.name, ' ', badge(ready ? 'ready' : 'not ready', ready ? 'good' : 'bad'));
      const scroll = el('div', { class: 'scroll' }, table);
      return { part: el('div', {}, head, scroll), table, chain, groups: groups.map((group) => ({ ...group, chain })) };
    });
  at('freshness').replaceChildren(...parts.map(({ part }) => part));
  for (const { table, chain, groups } of parts) {
    showSorted(table, 'fresh', `Freshness of ${chain.name}`, FRESH_COLUMNS, groups, 'Nothing is measured yet.');
  }
}

const FRESH_COLUMNS = [
  { name: 'Group', sort: 'group', value: groupName, show: groupName },
  {
    name: 'State',
    sort: 'state',
    value: rankOf,
    show: ({ freshness: { status } }) => badge(words(status), FRESH_TONES[status] ?? 'plain'),
  },
  {
    name: 'Age',
    sort: 'age',
    numeric: true,
    value: (row) => row.freshness.ageSec,
    show: (row) => age(row.freshness.ageSec),
  },
  {
    name: 'Budget',
    sort: 'budget',
    numeric: true,
    value: (row) => row.freshness.staleAfterSec,
    show: (row) => age(row.freshness.staleAfterSec),
  },
  {
    name: 'Items',
    sort: 'items',
    numeric: true,
    value: (row) => row.itemCount,
    show: (row) =>
      row.lastGoodCount === 0 ? String(row.itemCount) : `${row.itemCount} (${row.lastGoodCount} last good)`,
  },
];
