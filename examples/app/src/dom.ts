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

/** A list of names and values; a missing value is said to be unknown. */
export function facts(rows: readonly (readonly [string, string | null | undefined])[]): HTMLElement {
  return el(
    'dl',
    { class: 'facts' },
    ...rows.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value ?? 'unknown'))),
  );
}

/** The text of an error that is shown to a person. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function alertOf(error: unknown): HTMLElement {
  return el('p', { class: 'error', role: 'alert' }, textOf(error));
}
