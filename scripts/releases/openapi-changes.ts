import { type DocumentNode, entriesIn, isNode, listIn, nodeIn, resolved } from './document-node.ts';
import { type Comparison, compareSchemas, isOver, isSame, type Side } from './schema-changes.ts';

/**
 * List the changes of an OpenAPI document that can break a client of the earlier one, generated ones included: removed or
 * renamed operations, schemas, answers, headers, fields and enum values, other keys and servers, new required inputs, narrower
 * inputs and other defaults, and answers that may be absent, null or of another type or range. Additions to answers are none:
 * answers are open.
 */
export function breakingOpenApiChanges(before: DocumentNode, after: DocumentNode, today: string): readonly string[] {
  const comparison: Comparison = { before, after, today, changes: [], compared: new Set() };
  const pathsAfter = nodeIn(after, 'paths');
  for (const [path, methods] of entriesIn(nodeIn(before, 'paths'))) {
    for (const [method, operation] of entriesIn(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      const next = nodeIn(pathsAfter, path)[method];
      if (isNode(next)) compareOperations(comparison, name, operation, next);
      else if (!isOver(comparison, operation)) comparison.changes.push(`${name}: removed`);
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
    for (const part of ['type', 'scheme', 'in', 'name']) {
      if (scheme[part] !== found[part]) {
        changes.push(`security scheme ${name}: ${part} ${scheme[part]} became ${found[part]}`);
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
  compareParameters(comparison, name, before, after);
  compareBodies(comparison, name, before, after);
  for (const [status, response] of entriesIn(nodeIn(before, 'responses'))) {
    const next = nodeIn(after, 'responses')[status];
    if (isNode(next)) compareAnswers(comparison, `${name} ${status}`, response, next);
    else changes.push(`${name} ${status}: removed`);
  }
}

/** Every way to authenticate has to stay, if any is needed. Those of the document are for operations that name none. */
function compareSecurity(comparison: Comparison, name: string, before: DocumentNode, after: DocumentNode): void {
  const { changes } = comparison;
  const waysOf = (document: DocumentNode, operation: DocumentNode) =>
    listIn(operation.security === undefined ? document : operation, 'security');
  const [ways, next] = [waysOf(comparison.before, before), waysOf(comparison.after, after)];
  if (next.length === 0) return;
  if (ways.length === 0) changes.push(`${name}: needs a key`);
  for (const way of ways) {
    if (!next.some((other) => isSame(other, way))) changes.push(`${name}: security ${JSON.stringify(way)} removed`);
  }
}

function compareBodies(comparison: Comparison, name: string, before: DocumentNode, after: DocumentNode): void {
  const { changes } = comparison;
  const [body, next] = [before.requestBody, after.requestBody];
  const place = `${name} body`;
  if (isNode(next) && (isNode(body) ? body.required !== true && next.required === true : true)) {
    changes.push(`${place}: new required input`);
  }
  if (!isNode(body)) return;
  if (isNode(next)) compareContents(comparison, 'input', place, body, next);
  else changes.push(`${place}: removed`);
}

function compareAnswers(comparison: Comparison, place: string, before: DocumentNode, after: DocumentNode): void {
  compareContents(comparison, 'answer', place, before, after);
  for (const [name, header] of entriesIn(nodeIn(before, 'headers'))) {
    const next = nodeIn(after, 'headers')[name];
    if (!isNode(next)) {
      if (!isOver(comparison, header)) comparison.changes.push(`${place} header ${name}: removed`);
      continue;
    }
    const [known, found] = [resolved(comparison.before, header), resolved(comparison.after, next)];
    const [schema, schemaNext] = [nodeIn(known, 'schema'), nodeIn(found, 'schema')];
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

function compareParameters(comparison: Comparison, name: string, before: DocumentNode, after: DocumentNode): void {
  const { changes } = comparison;
  const byName = (operation: DocumentNode) =>
    new Map(listIn(operation, 'parameters').map((parameter) => [`${parameter.in}.${parameter.name}`, parameter]));
  const [known, next] = [byName(before), byName(after)];
  for (const [place, parameter] of known) {
    const found = next.get(place);
    if (found === undefined) {
      changes.push(`${name} ${place}: removed`);
      continue;
    }
    for (const part of ['style', 'explode', 'allowReserved']) {
      if (parameter[part] !== found[part]) {
        changes.push(`${name} ${place}: ${part} ${parameter[part]} became ${found[part]}`);
      }
    }
    compareSchemas(comparison, 'input', `${name} ${place}`, nodeIn(parameter, 'schema'), nodeIn(found, 'schema'));
  }
  // The same parameters as one schema, which the types of the client are made of.
  const [whole, wholeNext] = [before[QUERY_SCHEMA], after[QUERY_SCHEMA]];
  if (isNode(whole) && isNode(wholeNext)) compareSchemas(comparison, 'input', `${name} query`, whole, wholeNext);
  else if (isNode(whole)) changes.push(`${name} query: schema removed`);
  for (const [place, { required }] of next) {
    if (required === true && known.get(place)?.required !== true) {
      changes.push(`${name} ${place}: new required input`);
    }
  }
}
