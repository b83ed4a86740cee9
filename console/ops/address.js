/** The state of the page in its address: filters and orders, never the key. */

export const FILTERS = ['chain', 'status', 'market', 'drift', 'wallet', 'minValue', 'maxHeadroom'];
/** Order of each table while the address names none. */
const ORDERS = {
  items: { by: 'HEADROOM', direction: 'asc' },
  markets: { by: 'netValue', direction: 'desc' },
  fresh: { by: 'state', direction: 'asc' },
};

function read() {
  return new URLSearchParams(location.search);
}

/** Add an entry to the history of the tab, unless nothing changed. */
function write(params, replacing = false) {
  const query = params.toString();
  const next = query === '' ? location.pathname : `${location.pathname}?${query}`;
  if (next !== location.pathname + location.search) history[replacing ? 'replaceState' : 'pushState'](null, '', next);
}

/** Read a filter; an absent one is empty. */
export function filterOf(name) {
  return (read().get(name) ?? '').trim();
}

/** Store filters; empty ones leave the address. */
export function storeFilters(values, replacing) {
  const params = read();
  for (const name of FILTERS) {
    if (values[name]) params.set(name, values[name]);
    else params.delete(name);
  }
  write(params, replacing);
}

/** Read the order of a table, of the columns that it has. An unknown one counts as absent. */
export function orderOf(table, known) {
  const text = read().get(`sort.${table}`) ?? '';
  const by = text.replace(/^-/, '');
  return known.includes(by) ? { by, direction: text.startsWith('-') ? 'desc' : 'asc' } : ORDERS[table];
}

/** Order a table by a column; the second time the other way round. */
export function storeOrder(table, by, known) {
  const present = orderOf(table, known);
  const descending = present.by === by && present.direction === 'asc';
  const params = read();
  params.set(`sort.${table}`, `${descending ? '-' : ''}${by}`);
  write(params);
}

/** The address of the page with these filters alone. */
export function hrefOf(values) {
  return `${location.pathname}?${new URLSearchParams(values)}`;
}
