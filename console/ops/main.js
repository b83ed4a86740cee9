import { FILTERS, filterOf, orderOf, storeFilters, storeOrder } from './address.js';
import { showAdvice } from './advice.js';
import { showAlertJobs, shownAlertJobs } from './alert-jobs.js';
import { ask, KeyRefused, keyStore, readHealth } from './api.js';
import { drawHeadroom, drawPnl } from './charts.js';
import { at, el } from './dom.js';
import { showDrift, showGone } from './drift.js';
import { allItems, allPages, offerExports } from './export.js';
import { DRIFT_WORDS } from './format.js';
import { showIndexers, shownEvents, shownIndexers, shownPast, showPast } from './history.js';
import { ITEM_ORDERS, rowOf, showItems } from './items.js';
import { nameChains } from './links.js';
import { DRIFT, GONE, ITEMS, KNOCK, LEGS, OVERVIEW } from './queries.js';
import { marketValue, showAttention, showFreshness, showMarkets, shownRows, showTotals, tell } from './sections.js';
import { showStress } from './stress.js';

const REFRESH_MS = 60_000;
const PAGE_SIZE = 50;
const DRIFT_SIZE = 200;
/** Loops that are shown of a vault. */
const SHOWN_LOOPS = 5;
/** Enough for the charts; the list has more pages. */
const CHARTED = 500;
const REFUSED = 'This key is not valid for the ops page. Use a valid key on the ops tier; a partner key is not enough.';

const filters = at('filters');
/** The lists that are loaded page by page. */
const lists = {
  items: { query: ITEMS, variables: () => itemsQuery(), more: 'more', rows: [], next: null, show: showItemRows },
  gone: { query: GONE, variables: () => goneQuery(), more: 'more-gone', rows: [], next: null, show: showGone },
};
/** Times of the shown reports. */
let reportTimes = [];
let latest = 0;
let timer;

/** Read the filters of the address, which every section and number of the page follows. */
function chosen() {
  const listed = (name) => (filterOf(name) === '' ? null : [filterOf(name)]);
  const chainIds = filterOf('chain') === '' ? null : [Number(filterOf('chain'))];
  const [marketId, kind] = filterOf('market').split(' ');
  const items = dropEmpty({
    statuses: listed('status'),
    marketIds: kind === 'market' ? [marketId] : null,
    vaultIds: kind === 'vault' ? [`equity-${marketId}`] : null,
    driftKinds: listed('drift'),
    wallets: listed('wallet'),
    minValueUsd: filterOf('minValue') || null,
    maxHeadroomPct: filterOf('maxHeadroom') || null,
  });
  return { chainIds, items };
}

/** Show the filters of the address in the form. A value that a list does not offer is removed from the address. */
function showFilters() {
  const market = filters.elements.namedItem('market');
  const wanted = filterOf('market');
  if (/^0x[0-9a-f]{64} (market|vault)$/.test(wanted) && ![...market.options].some(({ value }) => value === wanted)) {
    market.append(el('option', { value: wanted }, wanted.slice(0, 10)));
  }
  for (const name of FILTERS) filters.elements.namedItem(name).value = filterOf(name);
  storeForm(true);
}

function storeForm(replacing = false) {
  storeFilters(Object.fromEntries([...new FormData(filters)].map(([name, value]) => [name, value.trim()])), replacing);
}

/** The positions are ordered by the service. */
function itemsQuery() {
  const { by, direction } = orderOf('items', ITEM_ORDERS);
  const orderBy = { field: by, direction: direction.toUpperCase() };
  const { chainIds, items: filter } = chosen();
  return { chainIds, filter, orderBy, first: PAGE_SIZE, loops: SHOWN_LOOPS };
}

/** A disagreement that is gone has no status, value or headroom of its own: the other filters hold for it. */
function goneQuery() {
  const { chainIds, items } = chosen();
  const { driftKinds: kinds, wallets, marketIds, vaultIds } = items;
  return { chainIds, filter: { kinds, wallets, marketIds, vaultIds }, first: PAGE_SIZE };
}

function sortItems(by) {
  storeOrder('items', by, ITEM_ORDERS);
  load();
}

function dropEmpty(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

/** Load the data of the filters; an outdated answer is not shown. */
async function load() {
  const turn = ++latest;
  clearTimeout(timer);
  document.body.setAttribute('aria-busy', 'true');
  const { chainIds, items } = chosen();
  const open = { ...items, statuses: items.statuses ?? ['OPEN'] };
  try {
    const [overview, list, near, disagreements] = await Promise.all([
      ask(OVERVIEW, { filter: items, chainIds }),
      ask(ITEMS, itemsQuery()),
      ask(LEGS, { chainIds, filter: open, first: CHARTED }),
      ask(DRIFT, { chainIds, filter: items, first: DRIFT_SIZE }),
    ]);
    // The readings of the lists above may just have found that something is gone.
    const gone = await ask(GONE, goneQuery()).catch((error) => {
      if (error instanceof KeyRefused) throw error;
      return null;
    });
    if (turn !== latest) return;
    showOverview(overview);
    showPage(lists.items, list.ops.page, []);
    if (gone === null) at('gone-count').textContent = 'could not be read; Refresh asks again';
    else showPage(lists.gone, gone.ops.page, []);
    showDrift(disagreements.ops.page, overview.ops.aggregates.byUnresolvedReason);
    drawHeadroom(at('headroom-chart'), chartRows(near.ops.items.nodes));
    const wallet = items.wallets?.length === 1 ? items.wallets[0] : undefined;
    const isLatest = () => turn === latest;
    await Promise.all([
      showAdvice(wallet, chainIds, isLatest),
      showStress(wallet, chainIds, isLatest),
      showPast(wallet, chainIds, isLatest),
      showJobs(chainIds, isLatest),
    ]);
  } catch (error) {
    if (turn !== latest) return;
    if (error instanceof KeyRefused) return leave(REFUSED);
    tell([[error.message]]);
  } finally {
    if (turn === latest) {
      document.body.removeAttribute('aria-busy');
      timer = setTimeout(() => (document.hidden ? undefined : load()), REFRESH_MS);
    }
  }
}

/** Show what the health page has of jobs beside requests. */
async function showJobs(chainIds, isLatest) {
  const health = await readHealth().catch(() => undefined);
  if (!isLatest()) return;
  showIndexers(health, chainIds);
  showAlertJobs(health);
}

function showOverview(overview) {
  const { ops, freshness } = overview;
  reportTimes = [...new Set(ops.reports.items.map((report) => report.freshness.asOf))].toSorted();
  showTotals(ops);
  showFreshness(freshness);
  showMarkets(ops.aggregates.byMarket);
  showAttention(overview);
  offerMarkets(ops.aggregates.byMarket);
  drawPnl(at('pnl-chart'), ops.history);
}

/** A vault counts at the headroom of its stock leg with that leg's value; its loops count at their own. */
function chartRows(nodes) {
  return nodes
    .map(({ position, equityPosition, loops, pnl }) => ({
      headroom: (position ?? equityPosition?.stock)?.ltvHeadroomPct ?? null,
      value: pnl.netValueUsd,
      inside: loops?.nodes ?? [],
    }))
    .filter(({ headroom, value }) => headroom !== null && value !== null)
    .map(({ headroom, value, inside }) => ({
      headroom: Number(headroom),
      value: inside.reduce((rest, loop) => rest - Number(loop.pnl.netValueUsd ?? 0), Number(value)),
    }));
}

function showItemRows(nodes, totalCount) {
  showItems(nodes.map(rowOf), totalCount, sortItems);
}

function showPage(list, { edges, nodes = edges.map(({ node }) => node), totalCount, pageInfo }, before) {
  list.rows = [...before, ...nodes];
  list.next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  list.show(list.rows, totalCount);
  at(list.more).hidden = list.next === null;
}

async function showMore(list) {
  const turn = latest;
  try {
    const { ops } = await ask(list.query, { ...list.variables(), after: list.next });
    if (turn === latest) showPage(list, ops.page, list.rows);
  } catch (error) {
    tell([[error.message]]);
  }
}

/** Fill the list of markets; the chosen one remains without a match. */
function offerMarkets(byMarket) {
  const select = filters.elements.namedItem('market');
  const { value, selectedOptions } = select;
  const options = byMarket.map((market) => ({
    value: marketValue(market),
    name: market.isVault ? `${market.name} vault` : (market.name ?? market.marketId.slice(0, 10)),
  }));
  if (value !== '' && !options.some((option) => option.value === value)) {
    options.push({ value, name: selectedOptions[0]?.textContent ?? value });
  }
  options.sort((a, b) => a.name.localeCompare(b.name));
  select.replaceChildren(
    el('option', { value: '' }, 'All'),
    ...options.map((option) => el('option', { value: option.value }, option.name)),
  );
  select.value = value;
}

async function enter(key) {
  const { chains } = await ask(KNOCK, {}, key);
  keyStore.set(key);
  nameChains(chains);
  const select = filters.elements.namedItem('chain');
  select.replaceChildren(
    el('option', { value: '' }, 'All'),
    ...chains.map(({ chainId, name }) => el('option', { value: String(chainId) }, name)),
  );
  showFilters();
  at('sign-in').hidden = true;
  at('board').hidden = false;
  at('actions').hidden = false;
  await load();
}

function leave(message = '') {
  latest += 1;
  clearTimeout(timer);
  keyStore.clear();
  at('board').hidden = true;
  at('actions').hidden = true;
  at('sign-in').hidden = false;
  at('key-error').textContent = message;
  at('moment').textContent = '';
  at('key').focus();
}

async function tryKey(key) {
  at('key-error').textContent = '';
  try {
    await enter(key);
  } catch (error) {
    leave(error instanceof KeyRefused ? REFUSED : error.message);
  }
}

at('key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const input = at('key');
  const key = input.value.trim();
  input.value = '';
  if (key !== '') tryKey(key);
});
at('refresh').addEventListener('click', () => load());
at('leave').addEventListener('click', () => leave());
for (const list of Object.values(lists)) at(list.more).addEventListener('click', () => showMore(list));

const shownWhole = (name) => ({
  load: async () => ({ rows: shownRows(name), asOf: reportTimes }),
  order: () => new URLSearchParams(location.search).get(`sort.${name}`),
});
offerExports(
  {
    positions: {
      load: (progress) => allItems(itemsQuery(), progress),
      order: () => itemsQuery().orderBy,
    },
    drift: {
      load: (progress) => {
        const { chainIds, items: filter } = chosen();
        return allPages(DRIFT, { chainIds, filter }, progress);
      },
    },
    'drift-gone': { load: (progress) => allPages(GONE, goneQuery(), progress) },
    markets: shownWhole('markets'),
    freshness: shownWhole('fresh'),
    past: { load: async () => ({ rows: shownPast(), asOf: reportTimes }) },
    events: { load: async () => ({ rows: shownEvents(), asOf: reportTimes }) },
    indexers: { load: async () => ({ rows: shownIndexers(), asOf: reportTimes }) },
    'alert-jobs': { load: async () => ({ rows: shownAlertJobs(), asOf: reportTimes }) },
  },
  () => leave(REFUSED),
);

let typing;
filters.addEventListener('submit', (event) => event.preventDefault());
filters.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(filterAgain, 250);
});
filters.addEventListener('reset', () => setTimeout(filterAgain));
function filterAgain() {
  storeForm();
  load();
}

const isOpen = () => keyStore.get() !== null && !at('board').hidden;
function showAddress() {
  clearTimeout(typing);
  if (!isOpen()) return;
  showFilters();
  load();
}
addEventListener('popstate', showAddress);
// A link to other filters changes the address without a new page.
at('content').addEventListener('click', (event) => {
  const link = event.target.closest('a[data-filters]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  showAddress();
  at('filters').scrollIntoView();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && isOpen()) load();
});

filters.elements
  .namedItem('drift')
  .append(...Object.entries(DRIFT_WORDS).map(([kind, words]) => el('option', { value: kind }, words)));

const storedKey = keyStore.get();
if (storedKey !== null) tryKey(storedKey);
