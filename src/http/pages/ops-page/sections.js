import { at, el, fillTable } from './dom.js';
import {
  age,
  amount,
  DRIFT_WORDS,
  percent,
  points,
  REASON_WORDS,
  shortAddress,
  UNKNOWN,
  usd,
  when,
  words,
} from './format.js';

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
  showMoment(reports);
}

function showMoment({ items: reports, missingChains }) {
  const times = reports.map(({ freshness }) => freshness.asOf).toSorted();
  const oldest = times[0];
  at('moment').textContent = oldest === undefined ? '' : `As of ${when(oldest)}`;
  const lines = reports.flatMap((report) => {
    const name = chainName(report.chainId);
    if (report.failure) {
      const { provider, reason, since } = report.failure;
      return [
        `${name}: the latest reading failed (${provider}, ${words(reason)}, since ${when(since)}). These are the last good numbers, ${age(report.freshness.ageSec)} old.`,
      ];
    }
    if (report.freshness.status === 'STALE')
      return [`${name}: these numbers are ${age(report.freshness.ageSec)} old; newer ones are being computed.`];
    return report.failedWallets.map(
      (failed) => `${name}: ${shortAddress(failed.wallet)} is excluded. ${failed.message}`,
    );
  });
  const missing = missingChains.map(({ chainId, message }) => `${chainName(chainId)} is missing: ${message}`);
  tell([...missing, ...lines].join(' '));
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
      name: `${node.stockToken?.displaySymbol ?? 'unknown stock'} vault`,
      ltvPct: stock?.ltvPct,
      headroom: stock?.ltvHeadroomPct,
      inside: node.loops.nodes,
      drift: node.loops.nodes.find(({ drift }) => drift)?.drift ?? null,
    };
  }
  const { position } = node;
  return {
    ...node,
    chainId: position.chainId,
    wallet: position.wallet,
    status: position.status,
    name: `${position.collateralToken?.displaySymbol ?? '?'}/${position.loanToken?.displaySymbol ?? '?'} #${position.id}`,
    ltvPct: position.ltvPct,
    headroom: position.ltvHeadroomPct,
  };
}

const STATUS_TONES = { OPEN: 'good', CLOSED: 'plain', LIQUIDATED: 'bad' };
const SEVERITY_TONES = { HIGH: 'bad', MEDIUM: 'warn', LOW: 'plain' };

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
    { name: 'Status', show: (row) => badge(words(row.status), STATUS_TONES[row.status]) },
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
      { class: `drift-entry ${words(drift.severity)}` },
      el(
        'div',
        { class: 'drift-head' },
        badge(words(drift.severity), SEVERITY_TONES[drift.severity]),
        el('h3', {}, DRIFT_WORDS[drift.kind]),
        el(
          'span',
          { class: 'drift-where' },
          address(drift.wallet),
          ` · ${chainName(drift.chainId)} · #${drift.positionIndex}`,
        ),
        el('span', { class: 'drift-since' }, `since ${when(drift.firstSeenAt)}`),
      ),
      el('p', {}, drift.message),
      el(
        'div',
        { class: 'sides' },
        side('Chain', [
          ['Status', words(drift.onChain.status)],
          ['Net value', usd(drift.onChain.netValueUsd)],
          ['Collateral', amount(drift.onChain.collateralAmount)],
          ['Debt', amount(drift.onChain.debtAmount)],
          ['Block', drift.onChain.readAt.blockNumber],
        ]),
        drift.inRegister
          ? side('Register', [
              ['Status', drift.inRegister.isOpen ? 'open' : 'closed'],
              ['Deposited', usd(drift.inRegister.depositedUsd)],
              ['Returned', usd(drift.inRegister.returnedUsd)],
              ['Updated', when(drift.inRegister.updatedAt)],
              ['Closed', when(drift.inRegister.closedAt)],
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
    if (total.unknownCount === count) return UNKNOWN;
    return `${usd(total.sumUsd, options)}${total.unknownCount === 0 ? '' : ` (${total.unknownCount} unknown excluded)`}`;
  };
  const columns = [
    {
      name: 'Market',
      show: (row) => (row.isVault ? `${row.symbols} vault` : (row.symbols ?? shortAddress(row.marketId))),
    },
    { name: 'Chain', show: (row) => chainName(row.chainId) },
    { name: 'Positions', numeric: true, show: ({ totals }) => String(totals.count) },
    { name: 'Deposited', numeric: true, show: ({ totals }) => known(totals.deposited, totals.count) },
    { name: 'Net value', numeric: true, show: ({ totals }) => known(totals.netValue, totals.count) },
    { name: 'Incentives', numeric: true, show: ({ totals }) => known(totals.incentives, totals.count) },
    {
      name: 'P&L',
      numeric: true,
      show: ({ totals: { total, count } }) =>
        el('span', { class: toneOf(total.sumUsd) }, known(total, count, { signed: true })),
    },
  ];
  fillTable(at('markets'), 'Sums by market', columns, byMarket, 'Nothing matches these filters.');
}

const FRESH_TONES = { FRESH: 'good', FAILING: 'warn', STALE: 'bad', NEVER: 'plain' };

/** Age of every group of facts, chain by chain. */
export function showFreshness(freshness) {
  at('freshness').replaceChildren(
    ...freshness.map(({ chain, ready, groups }) => {
      const table = el('table', {});
      const columns = [
        {
          name: 'Group',
          show: (row) => (row.apySource ? `${words(row.group)} · ${words(row.apySource)}` : words(row.group)),
        },
        {
          name: 'State',
          show: ({ freshness: { status } }) => badge(words(status), FRESH_TONES[status] ?? 'plain'),
        },
        { name: 'Age', numeric: true, show: (row) => age(row.freshness.ageSec) },
        { name: 'Budget', numeric: true, show: (row) => age(row.freshness.staleAfterSec) },
        {
          name: 'Items',
          numeric: true,
          show: (row) =>
            row.lastGoodCount === 0 ? String(row.itemCount) : `${row.itemCount} (${row.lastGoodCount} last good)`,
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
