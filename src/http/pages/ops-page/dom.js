/** Find an element that the page has. */
export function at(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}`);
  return found;
}

/**
 * Make an element. Text is always text, never markup: the shown values come from chains and registers.
 * @param {string} tag
 * @param {Record<string, string | boolean | null | undefined>} [attributes]
 * @param {...(Node | string | null | undefined)} children
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/**
 * Fill a table: columns say their heading, whether they are numbers, how a row shows in them, and by which name they sort.
 * @param sorting The present order, and the action of a click on a heading.
 */
export function fillTable(table, caption, columns, rows, empty, { order = {}, onSort } = {}) {
  // A heading that was just clicked keeps the focus when the table is filled anew.
  const focused = table.contains(document.activeElement) ? document.activeElement.dataset.sort : undefined;
  const head = el(
    'thead',
    {},
    el(
      'tr',
      {},
      ...columns.map(({ name, numeric, sort }) => {
        if (!onSort || sort === undefined) return el('th', { scope: 'col', class: numeric ? 'num' : null }, name);
        const direction = order.by === sort ? order.direction : undefined;
        const button = el('button', { type: 'button', class: 'sort', 'data-sort': sort }, name);
        button.addEventListener('click', () => onSort(sort));
        const state = direction && (direction === 'asc' ? 'ascending' : 'descending');
        return el('th', { scope: 'col', class: numeric ? 'num' : null, 'aria-sort': state }, button);
      }),
    ),
  );
  const body = el(
    'tbody',
    {},
    ...rows.map((row) =>
      el(
        'tr',
        { class: row.partOf ? 'part' : null },
        ...columns.map(({ show, numeric }) => el('td', { class: numeric ? 'num' : null }, show(row))),
      ),
    ),
  );
  if (rows.length === 0) {
    body.append(el('tr', {}, el('td', { colspan: String(columns.length), class: 'none' }, empty)));
  }
  // A table that scrolls must be reachable with the keyboard.
  const scroll = table.parentElement;
  scroll?.setAttribute('tabindex', '0');
  scroll?.setAttribute('role', 'region');
  scroll?.setAttribute('aria-label', caption);
  table.replaceChildren(el('caption', { class: 'hidden' }, caption), head, body);
  if (focused !== undefined) table.querySelector(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
}

export const SEVERITY_TONES = { HIGH: 'bad', MEDIUM: 'warn', LOW: 'plain' };

export function badge(text, tone, title) {
  return el('span', { class: `badge ${tone}`, title }, text);
}

/** Colour of a result; zero and unknown have none. */
export function toneOf(value) {
  if (value === null || value === undefined || Number(value) === 0) return null;
  return Number(value) < 0 ? 'down' : 'up';
}
