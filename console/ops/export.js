import { FILTERS, filterOf } from './address.js';
import { ask, KeyRefused } from './api.js';
import { el } from './dom.js';
import { FILE_COLUMNS } from './file-columns.js';
import { rowOf, withParts } from './items.js';
import { ITEMS } from './queries.js';
import { csvOf, fileName, jsonOf } from './table-file.js';

const TYPES = { csv: 'text/csv;charset=utf-8', json: 'application/json' };
/** With one loop of each vault the largest page stays within the limit of a query. */
const PAGE_SIZE = 500;
/** Pages of different readings may repeat or lack a row: they are asked again. */
const ATTEMPTS = 3;
const DEFAULT_WAIT_SEC = 5;

/** Send a query, and wait as long as the rate limit requires. */
async function askPatiently(query, variables, tell) {
  for (;;) {
    try {
      const { ops } = await ask(query, variables);
      return ops.page;
    } catch (error) {
      if (error.code !== 'rate_limited') throw error;
      const waitSec = error.retryAfterSec || DEFAULT_WAIT_SEC;
      tell(`Waiting ${waitSec} s for the rate limit…`);
      await new Promise((resolve) => setTimeout(resolve, waitSec * 1_000));
    }
  }
}

/** Ask for every page of a list, of one reading if possible. */
export async function allPages(query, variables, tell, nodesOf = ({ nodes }) => nodes) {
  for (let attempt = 1; ; attempt += 1) {
    const rows = [];
    const times = new Set();
    let after = null;
    do {
      const page = await askPatiently(query, { ...variables, first: PAGE_SIZE, after }, tell);
      times.add(page.asOf);
      rows.push(...(await nodesOf(page, after, times)));
      tell(`${rows.length} of ${page.totalCount}…`);
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null && (times.size === 1 || attempt === ATTEMPTS));
    if (times.size === 1 || attempt === ATTEMPTS) return { rows, asOf: [...times].filter(Boolean).toSorted() };
  }
}

/** Ask for all positions, each vault followed by all its loops. */
export async function allItems(variables, tell) {
  const wholeNodes = async ({ edges }, after, times) => {
    const nodes = edges.map(({ node }) => node);
    for (const [i, { loops }] of nodes.entries()) {
      if (!loops || loops.totalCount <= loops.nodes.length) continue;
      const before = i === 0 ? after : edges[i - 1].cursor;
      const size = { first: 1, loops: Math.min(loops.totalCount, PAGE_SIZE) };
      const page = await askPatiently(ITEMS, { ...variables, ...size, after: before }, tell);
      times.add(page.asOf);
      const [same] = page.edges;
      if (same?.cursor === edges[i].cursor) nodes[i] = same.node;
    }
    return nodes;
  };
  const { rows, asOf } = await allPages(ITEMS, { ...variables, loops: 1 }, tell, wholeNodes);
  return { rows: withParts(rows.map(rowOf)), asOf };
}

function download(text, name, type) {
  const href = URL.createObjectURL(new Blob([text], { type: TYPES[type] }));
  const link = el('a', { href, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has taken the content with the click.
  setTimeout(() => URL.revokeObjectURL(href));
}

/**
 * Add buttons that save a table as a file: all rows with the present filters and order.
 * @param sources by table: how its rows are loaded, and its order
 * @param onRefused called when the key has no access any more
 */
export function offerExports(sources, onRefused) {
  for (const place of document.querySelectorAll('[data-export]')) {
    const table = place.dataset.export;
    const state = el('span', { class: 'sub', role: 'status' });
    const buttons = Object.keys(TYPES).map((type) => {
      const label = `Export ${place.dataset.name} as ${type.toUpperCase()}`;
      const button = el('button', { type: 'button', class: 'quiet small', 'aria-label': label }, type.toUpperCase());
      button.addEventListener('click', () => save(type));
      return button;
    });
    place.replaceChildren(state, ...buttons);

    const tell = (text) => {
      state.textContent = text;
    };
    let isBusy = false;
    const save = async (type) => {
      if (isBusy) return;
      isBusy = true;
      const filters = Object.fromEntries(FILTERS.map((name) => [name, filterOf(name)]).filter(([, value]) => value));
      const chain = filterOf('chain');
      const { load, order } = sources[table];
      const orderedBy = order?.() ?? null;
      try {
        const { rows, asOf } = await load(tell);
        const exportedAt = new Date().toISOString();
        const columns = FILE_COLUMNS[table];
        const about = { table, filters, order: orderedBy, asOf, exportedAt };
        const text = type === 'csv' ? csvOf(columns, rows) : jsonOf(columns, rows, about);
        download(text, fileName({ table, chain, at: exportedAt, type }), type);
        const mixed = asOf.length > 1 ? ' They are of several readings, because the numbers changed meanwhile.' : '';
        tell(`${rows.length} rows saved.${mixed}`);
      } catch (error) {
        tell(error instanceof KeyRefused ? '' : error.message);
        if (error instanceof KeyRefused) onRefused();
      } finally {
        isBusy = false;
      }
    };
  }
}
