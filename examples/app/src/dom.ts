type Child = Node | string | null | undefined;
type Value = string | number | boolean | null | undefined;

/** Make an element. Text is always text, never markup. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return node;
}

export function svg(
  tag: string,
  attributes: Readonly<Record<string, Value>>,
  ...children: readonly Node[]
): SVGElement {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

function setAttributes(node: Element, attributes: Readonly<Record<string, Value>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? '' : String(value));
  }
}

export function button(
  text: string,
  attributes: Readonly<Record<string, Value>>,
  onClick: () => void,
): HTMLButtonElement {
  const node = el('button', { type: 'button', ...attributes }, text);
  node.addEventListener('click', onClick);
  return node;
}

export type Row = readonly [name: string, value: Node | string];

/** Names and values. */
export function facts(rows: readonly Row[], kind: 'grid' | 'lines' = 'grid'): HTMLElement {
  return el(
    'dl',
    { class: kind === 'grid' ? 'facts' : 'lines' },
    ...rows.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
  );
}

/** Replace the text of a node where it differs: an equal text is not announced again. */
export function write(node: Element | null | undefined, text: string): void {
  if (node && node.textContent !== text) node.textContent = text;
}
