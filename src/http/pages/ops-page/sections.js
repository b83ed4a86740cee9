import { at, el, fillTable } from './dom.js';
import { age, amount, DRIFT_WORDS, percent, points, REASON_WORDS, shortAddress, UNKNOWN, usd, when } from './format.js';

let chainNames = new Map();

export function nameChains(chains) {
  chainNames = new Map(chains.map(({ chainId, name }) => [chainId, name]));
}

const chainName = (chainId) => chainNames.get(chainId) ?? String(chainId);

const toneOf = (value) =>
  value === null || value === undefined || Number(value) === 0 ? null : Number(value) < 0 ? 'down' : 'up';

function address(value) {
  return el('span', { class: 'mono', title: value }, shortAddress(value));
}

function badge(text, tone) {
  return el('span', { class: `badge ${tone}` }, text);
}

/** Totals over all wallets. */
export function showTotals({ aggregates, reports }) {
  const { all } = aggregates;
  const drift = aggregates.byDriftKind.reduce((sum, { count }) => sum + count, 0);
  const high = aggregates.byDriftKind.reduce((sum, row) => sum + row.high, 0);
  const open = aggregates.byStatus.find(({ status }) => status === 'open')?.count ?? 0;
  const tile = (name, value, { note, tone } = {}) =>
    el(
      'div',
      { class: 'tile' },
      el('dt', {}, name),
      el('dd', { class: tone }, value),
      el('dd', { class: 'note' }, note ?? ''),
    );
  const unknown = ({ unknown: count }) => (count === 0 ? '' : `${count} unknown excluded`);
  at('totals').replaceChildren(
    tile('Net value', usd(all.netValueUsd.usd), { note: unknown(all.netValueUsd) }),
    tile('P&L', usd(all.totalUsd.usd, { signed: true }), {
      note: unknown(all.totalUsd),
      tone: toneOf(all.totalUsd.usd),
    }),
    tile('P&L after fee', usd(all.totalAfterFeeUsd.usd, { signed: true }), {
      note: unknown(all.totalAfterFeeUsd),
      tone: toneOf(all.totalAfterFeeUsd.usd),
    }),
    tile('Incentives', usd(all.incentivesUsd.usd, { signed: true }), { note: unknown(all.incentivesUsd) }),
    tile('Open', String(open), { note: `of ${all.count} positions` }),
    tile('Wallets', String(aggregates.wallets), {
      note: aggregates.failedWallets === 0 ? '' : `${aggregates.failedWallets} could not be read`,
      tone: aggregates.failedWallets === 0 ? null : 'down',
    }),
    tile('Drift', String(drift), {
      note: high === 0 ? '' : `${high} of high severity`,
      tone: high === 0 ? null : 'down',
    }),
  );
  showMoment(reports);
}

function showMoment(reports) {
  const oldest = reports.reduce(
    (first, report) => (report.computedAt < first ? report.computedAt : first),
    reports[0]?.computedAt,
  );
  at('moment').textContent = oldest === undefined ? '' : `As of ${when(oldest)}`;
  const lines = reports.flatMap((report) => {
    const name = chainName(report.chainId);
    if (report.failure) {
      const { provider, reason, since } = report.failure;
      return [
        `${name}: the latest reading failed (${provider}, ${reason}, since ${when(since)}). These are the last good numbers, ${age(report.ageSec)} old.`,
      ];
    }
    if (report.stale) return [`${name}: these numbers are ${age(report.ageSec)} old; newer ones are being computed.`];
    return report.failed.map((wallet) => `${name}: ${shortAddress(wallet.address)} is excluded. ${wallet.message}`);
  });
  tell(lines.join(' '));
}

/** Show or hide the notice at the top. */
export function tell(text) {
  const notice = at('notice');
  notice.textContent = text;
  notice.hidden = text === '';
}

/** One row shape for loops and vaults. */
export function rowOf(node) {
  if (node.__typename === 'PortfolioVault') {
    const { stock } = node.equityPosition ?? {};
    return {
      ...node,
      name: `${node.stockSymbol ?? 'unknown stock'} vault`,
      ltvPct: stock?.ltvPct,
      headroom: stock?.ltvHeadroomPct,
      inside: node.loops,
      drift: node.loops.find(({ drift }) => drift)?.drift ?? null,
    };
  }
  const { position } = node;
  return {
    ...node,
    chainId: position.chainId,
    wallet: position.wallet,
    status: position.status,
    name: `${position.collateralSymbol ?? '?'}/${position.loanSymbol ?? '?'} #${position.id}`,
    ltvPct: position.ltvPct,
    headroom: position.ltvHeadroomPct,
  };
}

const STATUS_TONES = { open: 'good', closed: 'plain', liquidated: 'bad' };
const SEVERITY_TONES = { high: 'bad', medium: 'warn', low: 'plain' };

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

/** Positions, least headroom first. */
export function showItems(rows, totalCount) {
  at('items-count').textContent = `${rows.length === totalCount ? totalCount : `${rows.length} of ${totalCount}`}`;
  const signed = (value) => el('span', { class: toneOf(value) }, usd(value, { signed: true }));
  const columns = [
    { name: 'Position', show: (row) => row.name },
    { name: 'Headroom, pts', numeric: true, show: headroomCell },
    { name: 'LTV', numeric: true, show: (row) => percent(row.ltvPct) },
    { name: 'Net value', numeric: true, show: (row) => usd(row.pnl.netValueUsd) },
    { name: 'P&L', numeric: true, show: (row) => signed(row.pnl.totalUsd) },
    { name: 'Return', numeric: true, show: (row) => percent(row.pnl.returnOnEquityPct) },
    { name: 'Status', show: (row) => badge(row.status, STATUS_TONES[row.status]) },
    { name: 'Wallet', show: (row) => address(row.wallet) },
    { name: 'Chain', show: (row) => chainName(row.chainId) },
    {
      name: 'Age',
      numeric: true,
      show: (row) => (row.openedAt ? age((Date.now() - Date.parse(row.openedAt)) / 1_000) : UNKNOWN),
    },
    {
      name: 'Drift',
      show: (row) => (row.drift ? badge(DRIFT_WORDS[row.drift.kind], SEVERITY_TONES[row.drift.severity]) : ''),
    },
  ];
  fillTable(at('items'), 'Positions, least headroom first', columns, rows, 'Nothing matches these filters.');
}

/** Disagreements with the evidence of both sides. */
export function showDrift({ totalCount, nodes }, byUnresolvedReason) {
  at('drift-count').textContent = String(totalCount);
  const side = (title, facts) =>
    el(
      'div',
      { class: 'side' },
      el('h4', {}, title),
      el('dl', {}, ...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])),
    );
  const entries = nodes.map((drift) =>
    el(
      'li',
      { class: `drift-entry ${drift.severity}` },
      el(
        'div',
        { class: 'drift-head' },
        badge(drift.severity, SEVERITY_TONES[drift.severity]),
        el('h3', {}, DRIFT_WORDS[drift.kind]),
        el(
          'span',
          { class: 'drift-where' },
          address(drift.wallet),
          ` · ${chainName(drift.chainId)} · #${drift.positionIndex}`,
        ),
        el('span', { class: 'drift-since' }, `since ${when(drift.firstSeen)}`),
      ),
      el('p', {}, drift.message),
      el(
        'div',
        { class: 'sides' },
        side('Chain', [
          ['Status', drift.chain.status],
          ['Net value', usd(drift.chain.netValueUsd)],
          ['Collateral', amount(drift.chain.collateral)],
          ['Debt', amount(drift.chain.debt)],
          ['Block', drift.chain.blockNumber],
        ]),
        drift.register
          ? side('Register', [
              ['Status', drift.register.isOpen ? 'open' : 'closed'],
              ['Deposited', usd(drift.register.depositedUsd)],
              ['Returned', usd(drift.register.returnedUsd)],
              ['Updated', when(drift.register.updatedAt)],
              ['Closed', when(drift.register.closedAt)],
            ])
          : side('Register', [['Row', 'none']]),
      ),
    ),
  );
  if (entries.length === 0) entries.push(el('li', { class: 'none' }, 'Register and chain agree.'));
  at('drift').replaceChildren(...entries);
  const reasons = byUnresolvedReason.filter(({ count }) => count > 0);
  at('unresolved').textContent =
    reasons.length === 0
      ? 'Every row of the register has a position on chain.'
      : `Rows of the register without a position: ${reasons.map(({ reason, count }) => `${count} ${REASON_WORDS[reason]}`).join(', ')}.`;
}

/** Sums per market. */
export function showMarkets(byMarket) {
  const known = (total, count, options) => {
    if (total.unknown === count) return UNKNOWN;
    return `${usd(total.usd, options)}${total.unknown === 0 ? '' : ` (${total.unknown} unknown excluded)`}`;
  };
  const columns = [
    {
      name: 'Market',
      show: (row) => (row.isVault ? `${row.symbols} vault` : (row.symbols ?? shortAddress(row.marketId))),
    },
    { name: 'Chain', show: (row) => chainName(row.chainId) },
    { name: 'Positions', numeric: true, show: (row) => String(row.count) },
    { name: 'Deposited', numeric: true, show: (row) => known(row.depositedUsd, row.count) },
    { name: 'Net value', numeric: true, show: (row) => known(row.netValueUsd, row.count) },
    { name: 'Incentives', numeric: true, show: (row) => known(row.incentivesUsd, row.count) },
    {
      name: 'P&L',
      numeric: true,
      show: (row) => el('span', { class: toneOf(row.totalUsd.usd) }, known(row.totalUsd, row.count, { signed: true })),
    },
  ];
  fillTable(at('markets'), 'Sums by market', columns, byMarket, 'Nothing matches these filters.');
}

const FRESH_TONES = { fresh: 'good', failing: 'warn', stale: 'bad', never: 'plain' };

/** Age of every group of facts, chain by chain. */
export function showFreshness(freshness) {
  at('freshness').replaceChildren(
    ...freshness.map(({ chain, ready, groups }) => {
      const table = el('table', {});
      const columns = [
        { name: 'Group', show: (row) => (row.apySource ? `${row.group} · ${row.apySource}` : row.group) },
        {
          name: 'State',
          show: (row) => badge(row.status.toLowerCase(), FRESH_TONES[row.status.toLowerCase()] ?? 'plain'),
        },
        { name: 'Age', numeric: true, show: (row) => age(row.ageSec) },
        { name: 'Budget', numeric: true, show: (row) => age(row.budgetSec) },
        {
          name: 'Items',
          numeric: true,
          show: (row) =>
            row.itemsAtLastGood === 0 ? String(row.items) : `${row.items} (${row.itemsAtLastGood} last good)`,
        },
      ];
      fillTable(table, `Freshness of ${chain.name}`, columns, groups, 'Nothing is measured yet.');
      return el(
        'div',
        {},
        el('h3', {}, chain.name, ' ', badge(ready ? 'ready' : 'not ready', ready ? 'good' : 'bad')),
        el('div', { class: 'scroll' }, table),
      );
    }),
  );
}
