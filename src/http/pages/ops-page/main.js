import { ask, KeyRefused, keyStore } from './api.js';
import { drawHeadroom, drawPnl } from './charts.js';
import { at, el } from './dom.js';
import { DRIFT_WORDS } from './format.js';
import { DRIFT, ITEMS, KNOCK, OVERVIEW } from './queries.js';
import { nameChains, rowOf, showDrift, showFreshness, showItems, showMarkets, showTotals, tell } from './sections.js';

const REFRESH_MS = 60_000;
const PAGE_SIZE = 50;
/** Enough for the charts; the list has more pages. */
const CHARTED = 500;
const REFUSED = 'This key is not valid for the ops page. Use a valid key on the ops tier; a partner key is not enough.';

const filters = at('filters');
let rows = [];
let nextPage = null;
let latest = 0;
let timer;

function chosen() {
  const form = new FormData(filters);
  const text = (name) => String(form.get(name) ?? '').trim();
  const chainIds = text('chain') === '' ? null : [Number(text('chain'))];
  const [marketId, kind] = text('market').split(' ');
  return {
    chainIds,
    items: dropEmpty({
      chainIds,
      statuses: text('status') === '' ? null : [text('status')],
      marketIds: kind === 'market' ? [marketId] : null,
      strategyIds: kind === 'vault' ? [`equity-${marketId}`] : null,
      driftKinds: text('drift') === '' ? null : [text('drift')],
      minValueUsd: text('minValue') === '' ? null : text('minValue'),
      maxLtvHeadroomPct: text('maxHeadroom') === '' ? null : text('maxHeadroom'),
    }),
    drift: dropEmpty({
      chainIds,
      kinds: text('drift') === '' ? null : [text('drift')],
      marketIds: kind === 'market' ? [marketId] : null,
    }),
  };
}

function dropEmpty(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

/** Load the data of the filters; an outdated answer is not shown. */
async function load() {
  const turn = ++latest;
  clearTimeout(timer);
  document.body.setAttribute('aria-busy', 'true');
  const { chainIds, items, drift } = chosen();
  const open = { ...items, statuses: items.statuses ?? ['OPEN'] };
  try {
    const [overview, list, near, disagreements] = await Promise.all([
      ask(OVERVIEW, { filter: items, chainIds }),
      ask(ITEMS, { filter: items, first: PAGE_SIZE }),
      ask(ITEMS, { filter: open, first: CHARTED }),
      ask(DRIFT, { filter: drift }),
    ]);
    if (turn !== latest) return;
    showOverview(overview);
    showPage(list.ops.items, []);
    showDrift(disagreements.ops.drift, overview.ops.aggregates.byUnresolvedReason);
    drawHeadroom(at('headroom-chart'), chartRows(near.ops.items.nodes));
  } catch (error) {
    if (turn !== latest) return;
    if (error instanceof KeyRefused) return leave(REFUSED);
    tell(error.message);
  } finally {
    if (turn === latest) {
      document.body.removeAttribute('aria-busy');
      timer = setTimeout(() => (document.hidden ? undefined : load()), REFRESH_MS);
    }
  }
}

function showOverview({ ops, freshness }) {
  showTotals(ops);
  showMarkets(ops.aggregates.byMarket);
  showFreshness(freshness);
  offerMarkets(ops.aggregates.byMarket);
  drawPnl(at('pnl-chart'), ops.history);
}

/** A vault counts at the headroom of its stock leg with that leg's value; its loops count at their own. */
function chartRows(nodes) {
  return nodes
    .map(rowOf)
    .filter(({ headroom, pnl }) => headroom !== null && headroom !== undefined && pnl.netValueUsd !== null)
    .map(({ headroom, pnl, inside = [] }) => ({
      headroom: Number(headroom),
      value: inside.reduce((rest, loop) => rest - Number(loop.pnl.netValueUsd ?? 0), Number(pnl.netValueUsd)),
    }));
}

function showPage({ nodes, totalCount, pageInfo }, before) {
  rows = [...before, ...nodes.map(rowOf)];
  nextPage = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  showItems(rows, totalCount);
  at('more').hidden = nextPage === null;
}

/** Fill the list of markets; the chosen one remains without a match. */
function offerMarkets(byMarket) {
  const select = filters.elements.namedItem('market');
  const { value, selectedOptions } = select;
  const options = byMarket.map(({ marketId, symbols, isVault }) => ({
    value: `${marketId} ${isVault ? 'vault' : 'market'}`,
    name: isVault ? `${symbols} vault` : (symbols ?? marketId.slice(0, 10)),
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
at('more').addEventListener('click', async () => {
  const turn = latest;
  try {
    const { ops } = await ask(ITEMS, { filter: chosen().items, first: PAGE_SIZE, after: nextPage });
    if (turn === latest) showPage(ops.items, rows);
  } catch (error) {
    tell(error.message);
  }
});

let typing;
filters.addEventListener('submit', (event) => event.preventDefault());
filters.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(load, 250);
});
filters.addEventListener('reset', () => setTimeout(load));
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && keyStore.get() !== null && !at('board').hidden) load();
});

filters.elements
  .namedItem('drift')
  .append(...Object.entries(DRIFT_WORDS).map(([kind, words]) => el('option', { value: kind }, words)));

const storedKey = keyStore.get();
if (storedKey !== null) tryKey(storedKey);
