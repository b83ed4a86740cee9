import { type DocumentNode, entriesIn, isNode, listIn, nodeIn, resolved } from './document-node.ts';
import { compareSchemas, isOver } from './schema-changes.ts';
import { type Comparison, isSame, type Side } from './schema-values.ts';

/**
 * List the changes of an OpenAPI document that can break a client of the earlier one, generated ones included: removed or
 * renamed operations, schemas, answers, headers, fields and enum values, other keys and servers, new required inputs, narrower
 * inputs, other and new defaults, and answers that may be absent, null or of another type, form or range. Further fields of
 * answers are none: answers are open.
 */
export function breakingOpenApiChanges(before: DocumentNode, after: DocumentNode, today: string): readonly string[] {
  const comparison: Comparison = { before, after, today, changes: [], compared: new Set() };
  const pathsAfter = nodeIn(after, 'paths');
  for (const [path, methods] of entriesIn(nodeIn(before, 'paths'))) {
    for (const [method, operation] of entriesIn(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      const next = nodeIn(pathsAfter, path)[method];
      if (isNode(next)) {
        compareOperations(comparison, name, operation, next);
        compareParameters(
          comparison,
          name,
          parametersOf(before, methods, operation),
          parametersOf(after, nodeIn(pathsAfter, path), next),
        );
        compareQueries(comparison, name, operation, next);
      } else if (!isOver(comparison, operation)) comparison.changes.push(`${name}: removed`);
    }
  }
  compareServers(comparison);
  compareComponents(comparison);
  return [...new Set(comparison.changes)].sort();
}

const QUERY_SCHEMA = 'x-query-schema';

/** Clients add the paths of the document to that of a server. */
function compareServers({ before, after, changes }: Comparison): void {
  const pathsOf = (document: DocumentNode) =>
    new Set(listIn(document, 'servers').map(({ url }) => new URL(String(url), 'http://localhost').pathname));
  const next = pathsOf(after);
  for (const path of pathsOf(before)) if (!next.has(path)) changes.push(`server path ${path} removed`);
}

/** Generated clients have a type of each named schema. */
function compareComponents(comparison: Comparison): void {
  const { before, after, changes } = comparison;
  const [components, next] = [nodeIn(before, 'components'), nodeIn(after, 'components')];
  for (const [name, schema] of entriesIn(nodeIn(components, 'schemas'))) {
    const isKept = isNode(nodeIn(next, 'schemas')[name]);
    if (!isKept && !isOver(comparison, schema)) changes.push(`schema ${name}: removed`);
  }
  for (const [name, scheme] of entriesIn(nodeIn(components, 'securitySchemes'))) {
    const found = nodeIn(nodeIn(next, 'securitySchemes'), name);
    for (const part of ['type', 'scheme', 'in', 'name', 'openIdConnectUrl', 'flows']) {
      if (!isSame(scheme[part], found[part])) {
        changes.push(`security scheme ${name}: ${part} ${textOf(scheme[part])} became ${textOf(found[part])}`);
      }
    }
  }
}

function compareOperations(comparison: Comparison, name: string, before: DocumentNode, after: DocumentNode): void {
  const { changes } = comparison;
  if (before.operationId !== undefined && before.operationId !== after.operationId) {
    changes.push(`${name}: operationId ${before.operationId} became ${after.operationId}`);
  }
  compareSecurity(comparison, name, before, after);
  compareBodies(comparison, name, before, after);
  const [responses, responsesNext] = [nodeIn(before, 'responses'), nodeIn(after, 'responses')];
  for (const [status, response] of entriesIn(responses)) {
    const next = responsesNext[status];
    if (isNode(next)) compareAnswers(comparison, `${name} ${status}`, status, response, next);
    else changes.push(`${name} ${status}: removed`);
  }
  // Errors may be added. Another success is one that clients do not expect.
  for (const status of Object.keys(responsesNext)) {
    if (status.startsWith('2') && responses[status] === undefined) changes.push(`${name} ${status}: added`);
  }
}

/** Every way to authenticate has to stay, if any is needed. Those of the document are for operations that name none. */
function compareSecurity(comparison: Comparison, name: string, before: DocumentNode, after: DocumentNode): void {
  const { changes } = comparison;
  const waysOf = (document: DocumentNode, operation: DocumentNode) =>
    listIn(operation.security === undefined ? document : operation, 'security');
  const [ways, next] = [waysOf(comparison.before, before), waysOf(comparison.after, after)];
  // An empty way is that without a key.
  const isNamed = (way: DocumentNode) => Object.keys(way).length > 0;
  if (!next.some(isNamed)) return;
  const wasOpen = ways.length === 0 || !ways.every(isNamed);
  if (wasOpen && next.every(isNamed)) changes.push(`${name}: needs a key`);
  for (const way of ways.filter(isNamed)) {
    const isKept = next.some((other) => isNamed(other) && isEnough(way, other));
    if (!isKept) changes.push(`${name}: security ${JSON.stringify(way)} removed`);
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Whether the keys and scopes of a client satisfy a way to authenticate. */
function isEnough(keys: DocumentNode, way: DocumentNode): boolean {
  const scopesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  return Object.entries(way).every(
    ([name, scopes]) => name in keys && scopesOf(scopes).every((scope) => scopesOf(keys[name]).includes(scope)),
  );
}

function compareBodies(comparison: Comparison, name: string, before: DocumentNode, after: DocumentNode): void {
  const { changes } = comparison;
  const [body, next] = [bodyOf(comparison.before, before), bodyOf(comparison.after, after)];
  const place = `${name} body`;
  if (next?.required === true && body?.required !== true) changes.push(`${place}: new required input`);
  if (!isNode(body)) return;
  if (isNode(next)) compareContents(comparison, 'input', place, body, next);
  else changes.push(`${place}: removed`);
}

function bodyOf(document: DocumentNode, { requestBody }: DocumentNode): DocumentNode | undefined {
  return isNode(requestBody) ? resolved(document, requestBody) : undefined;
}

function compareAnswers(
  comparison: Comparison,
  place: string,
  status: string,
  before: DocumentNode,
  after: DocumentNode,
): void {
  const [response, responseNext] = [resolved(comparison.before, before), resolved(comparison.after, after)];
  compareContents(comparison, /^[45]/.test(status) ? 'error' : 'answer', place, response, responseNext);
  for (const [name, header] of entriesIn(nodeIn(response, 'headers'))) {
    const next = nodeIn(responseNext, 'headers')[name];
    if (!isNode(next)) {
      if (!isOver(comparison, header)) comparison.changes.push(`${place} header ${name}: removed`);
      continue;
    }
    const [known, found] = [resolved(comparison.before, header), resolved(comparison.after, next)];
    const [schema, schemaNext] = [nodeIn(known, 'schema'), nodeIn(found, 'schema')];
    if (known.required === true && found.required !== true)
      comparison.changes.push(`${place} header ${name}: may be absent`);
    compareSchemas(comparison, 'answer', `${place} header ${name}`, schema, schemaNext);
  }
}

/** Compare the content types of a body or an answer. */
function compareContents(
  comparison: Comparison,
  side: Side,
  place: string,
  before: DocumentNode,
  after: DocumentNode,
): void {
  for (const [type, content] of entriesIn(nodeIn(before, 'content'))) {
    const next = nodeIn(after, 'content')[type];
    const here = type === 'application/json' ? place : `${place} ${type}`;
    if (isNode(next)) compareSchemas(comparison, side, here, nodeIn(content, 'schema'), nodeIn(next, 'schema'));
    else comparison.changes.push(`${place} ${type}: removed`);
  }
}

/** The parameters of an operation and those of its path, each under its place and name. */
function parametersOf(document: DocumentNode, path: DocumentNode, operation: DocumentNode) {
  const parameters = [...listIn(path, 'parameters'), ...listIn(operation, 'parameters')];
  return new Map(
    parameters.map((parameter) => {
      const found = resolved(document, parameter);
      return [`${found.in}.${found.name}`, found] as const;
    }),
  );
}

function compareParameters(
  comparison: Comparison,
  name: string,
  known: ReadonlyMap<string, DocumentNode>,
  next: ReadonlyMap<string, DocumentNode>,
): void {
  const { changes } = comparison;
  for (const [place, parameter] of known) {
    const found = next.get(place);
    if (found === undefined) {
      changes.push(`${name} ${place}: removed`);
      continue;
    }
    for (const part of ['style', 'explode', 'allowReserved', 'allowEmptyValue']) {
      if (parameter[part] !== found[part]) {
        changes.push(`${name} ${place}: ${part} ${parameter[part]} became ${found[part]}`);
      }
    }
    compareContents(comparison, 'input', `${name} ${place}`, parameter, found);
    compareSchemas(comparison, 'input', `${name} ${place}`, nodeIn(parameter, 'schema'), nodeIn(found, 'schema'));
    if (isNode(parameter.schema) && !isNode(found.schema)) changes.push(`${name} ${place}: schema removed`);
  }
  for (const [place, { required }] of next) {
    if (required === true && known.get(place)?.required !== true) {
      changes.push(`${name} ${place}: new required input`);
    }
  }
}

/** Compare the parameters as one schema, which the types of the client are made of. */
function compareQueries(comparison: Comparison, name: string, before: DocumentNode, after: DocumentNode): void {
  const [whole, wholeNext] = [before[QUERY_SCHEMA], after[QUERY_SCHEMA]];
  if (isNode(whole) && isNode(wholeNext)) compareSchemas(comparison, 'input', `${name} query`, whole, wholeNext);
  else if (isNode(whole)) comparison.changes.push(`${name} query: schema removed`);
}
