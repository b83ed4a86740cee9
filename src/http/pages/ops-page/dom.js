/** Find an element that the page has. */
export function at(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}`);
  return found;
}

/**
 * Make an element. Text is always text, never markup: what is shown comes from chains and registers.
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

/** Fill a table: columns say their heading, whether they are numbers, and how a row shows in them. */
export function fillTable(table, caption, columns, rows, empty) {
  const head = el(
    'thead',
    {},
    el(
      'tr',
      {},
      ...columns.map(({ name, numeric }) => el('th', { scope: 'col', class: numeric ? 'num' : null }, name)),
    ),
  );
  const body = el(
    'tbody',
    {},
    ...rows.map((row) =>
      el('tr', {}, ...columns.map(({ show, numeric }) => el('td', { class: numeric ? 'num' : null }, show(row)))),
    ),
  );
  if (rows.length === 0) {
    body.append(el('tr', {}, el('td', { colspan: String(columns.length), class: 'none' }, empty)));
  }
  table.replaceChildren(el('caption', { class: 'hidden' }, caption), head, body);
}
