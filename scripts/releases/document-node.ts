/** A node of an OpenAPI document. */
export type DocumentNode = Readonly<Record<string, unknown>>;

export function isNode(value: unknown): value is DocumentNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function nodeIn(node: DocumentNode, name: string): DocumentNode {
  const part = node[name];
  return isNode(part) ? part : {};
}

export function listIn(node: DocumentNode, name: string): readonly DocumentNode[] {
  const part = node[name];
  return Array.isArray(part) ? part.filter(isNode) : [];
}

export function entriesIn(node: DocumentNode): readonly (readonly [string, DocumentNode])[] {
  return Object.entries(node).flatMap(([name, part]) => (isNode(part) ? [[name, part] as const] : []));
}

/** Find a named part of a document; a part without `$ref` is itself. */
export function resolved(document: DocumentNode, part: DocumentNode): DocumentNode {
  if (typeof part.$ref !== 'string') return part;
  const [, ...names] = part.$ref.split('/');
  return names.reduce(nodeIn, document);
}

/** The name at the end of a reference; `undefined` for a part without one. */
export function nameOf({ $ref }: DocumentNode): string | undefined {
  return typeof $ref === 'string' ? $ref.replace(/^.*\//, '') : undefined;
}
