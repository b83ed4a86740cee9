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

const SVG = 'http://www.w3.org/2000/svg';
const LINE = { width: 96, height: 22, margin: 2 };

/**
 * Draw values over time as a line without axes, for a cell of a table.
 * @param {readonly (readonly [number, number])[]} points Times and values, oldest first, at least two.
 * @param {string} label What the line shows, for those who cannot see it.
 */
export function sparkline(points, label) {
  const { width, height, margin } = LINE;
  const scale = (values, length) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return (value) => margin + (most === least ? 0.5 : (value - least) / (most - least)) * (length - 2 * margin);
  };
  const x = scale(
    points.map(([time]) => time),
    width,
  );
  const y = scale(
    points.map(([, value]) => value),
    height,
  );
  const line = document.createElementNS(SVG, 'polyline');
  line.setAttribute(
    'points',
    points.map(([time, value]) => `${x(time).toFixed(1)},${(height - y(value)).toFixed(1)}`).join(' '),
  );
  const drawn = document.createElementNS(SVG, 'svg');
  const attributes = {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'img',
    'aria-label': label,
    class: 'sparkline',
  };
  for (const [name, value] of Object.entries(attributes)) drawn.setAttribute(name, String(value));
  const title = document.createElementNS(SVG, 'title');
  title.textContent = label;
  drawn.append(title, line);
  return drawn;
}
