import { readdirSync, readFileSync } from 'node:fs';
import { isNonNullType, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { conversions } from '../../src/rest/conversions/index.ts';
import { type Member, type Shape, shapeOf } from '../../src/rest/derive/shape.ts';
import { createOpenApi } from '../../src/rest/openapi/document.ts';
import { createRoutes, documents } from '../../src/rest/routes/index.ts';
import { type AnyRoute, INTERFACE_VERSION } from '../../src/rest/types.ts';
import { sharedSchema } from '../../src/schema/index.ts';
import type { Json } from '../support/service.ts';

/*
 * A property that every recorded answer has, and that the graph never leaves null, is required in the document. That required
 * ones are there is checked where answers are recorded.
 */

const schema = sharedSchema();
const routes = createRoutes({ schema, chainIds: [1, 4663], equityChainIds: [4663] });
const document = createOpenApi({ routes, version: INTERFACE_VERSION }) as Json;
const ANSWERS = new URL('../frozen/answers/', import.meta.url);

interface Seen {
  objects: number;
  readonly required: ReadonlySet<string>;
  readonly properties: Map<string, number>;
}

/** Count the properties of the objects of an answer, by their place in it. */
function count(seen: Map<string, Seen>, reference: Json, value: Json, place: string): void {
  const node = resolved(reference);
  const choices: Json[] | undefined = node.anyOf ?? node.oneOf;
  if (choices) {
    const choice = choices.find((one) => isOf(one, value));
    if (choice) count(seen, choice, value, place);
  } else if (Array.isArray(value)) {
    // The last item of a list that was cut says how long it is.
    for (const item of value) if (typeof item === 'object') count(seen, node.items ?? {}, item, `${place}[]`);
  } else if (typeof value === 'object' && value !== null && node.properties) {
    const known = seen.get(place) ?? { objects: 0, required: new Set(node.required), properties: new Map() };
    known.objects += 1;
    seen.set(place, known);
    for (const [name, part] of Object.entries<Json>(value)) {
      known.properties.set(name, (known.properties.get(name) ?? 0) + 1);
      if (node.properties[name]) count(seen, node.properties[name], part, dotted(place, name));
    }
  }
}

function resolved({ $ref, ...own }: Json): Json {
  return $ref === undefined ? own : { ...document.components.schemas[$ref.split('/').at(-1)], ...own };
}

function isOf(reference: Json, value: Json): boolean {
  const { type, properties, required = [] } = resolved(reference);
  if (type === 'null' || value === null) return type === 'null' && value === null;
  if (typeof value !== 'object' || Array.isArray(value) || properties === undefined) return true;
  return (
    required.every((name: string) => name in value) &&
    Object.entries<Json>(value).every(([name, part]) => properties[name] && (properties[name].const ?? part) === part)
  );
}

const dotted = (place: string, name: string) => (place === '' ? name : `${place}.${name}`);

/** The places of a body whose value the graph always has. */
function answeredPlaces({ members }: Shape, place: string, isRoot: boolean, found: Set<string>): Set<string> {
  for (const member of members) {
    const own = member.place ?? (isRoot ? [] : [member.name]);
    const at = own.reduce(dotted, place);
    const isThere = isAnswered(member);
    if (isThere && at !== place) found.add(at);
    const isList = String(member.field.type).startsWith('[');
    // Members of one that is placed in another object are there only with it.
    if (member.shape && (isThere || member.place === undefined || isRoot)) {
      answeredPlaces(member.shape, isList ? `${at}[]` : at, false, found);
    }
  }
  return found;
}

/** A member that some types lack is not in all recorded answers. */
function isAnswered({ field, isHidden, conversion, keepsNull }: Member): boolean {
  if (isHidden) return false;
  const { mayBeAbsent, takesNull } = (conversion && conversions[conversion]) || {};
  return !mayBeAbsent && (isNonNullType(field.type) || keepsNull === 'always' || takesNull === true);
}

function laxOf({ method, path, operation }: AnyRoute): string[] {
  const file = `${method} ${path}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
  const recorded: Json = JSON.parse(readFileSync(new URL(`${file}.json`, ANSWERS), 'utf8'));
  const seen = new Map<string, Seen>();
  const root = document.paths[path][method.toLowerCase()].responses['200'].content['application/json'].schema;
  for (const answers of Object.values<Json>(recorded)) {
    for (const { status, type, body } of Object.values<Json>(answers)) {
      if (status === 200 && type === undefined) count(seen, root, body, '');
    }
  }
  const { row } = (documents as Readonly<Record<string, { readonly row: string }>>)[operation] ?? { row: '' };
  const answered = answeredPlaces(shapeOf(schema, parse(row)), '', true, new Set());
  return [...seen].flatMap(([place, { objects, required, properties }]) =>
    [...properties]
      .filter(([name, times]) => times === objects && !required.has(name) && answered.has(dotted(place, name)))
      .map(([name]) => dotted(place, name)),
  );
}

describe('required', () => {
  test('behavior: all answers were recorded', () => {
    expect(readdirSync(ANSWERS).length).toBeGreaterThanOrEqual(routes.length);
  });

  test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s requires what it always answers',
    (_title, route) => {
      expect(laxOf(route)).toEqual([]);
    },
  );
});
