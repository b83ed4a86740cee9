import { isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createOpenApi } from '../../src/rest/openapi/document.ts';
import { createRoutes } from '../../src/rest/routes/index.ts';
import { INTERFACE_VERSION } from '../../src/rest/types.ts';
import { sharedSchema } from '../../src/schema/index.ts';
import type { Json } from '../support/service.ts';

/* Descriptions are written once, in the schema, and are true on both surfaces: those that /v1 shows name nothing that it lacks. */

const schema = sharedSchema();
const routes = createRoutes({ schema, chainIds: [1, 4663], equityChainIds: [4663] });
const document = createOpenApi({ routes, version: INTERFACE_VERSION }) as Json;

/** The names of types, fields, arguments and values of the graph. */
function graphNames(): Set<string> {
  const names = new Set<string>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    names.add(type.name);
    if (isEnumType(type)) for (const { name } of type.getValues()) names.add(name);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      names.add(field.name);
      for (const { name } of 'args' in field ? field.args : []) names.add(name);
    }
  }
  return names;
}

/** The names of properties, parameters, values and operations of the document, and its descriptions by place. */
function readDocument(): { names: Set<string>; descriptions: Map<string, string> } {
  const names = new Set<string>();
  const descriptions = new Map<string, string>();
  const visit = (node: Json, place: string): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      for (const [i, part] of node.entries()) visit(part, `${place}/${i}`);
      return;
    }
    if (typeof node.description === 'string') descriptions.set(place, node.description);
    for (const name of Object.keys(node.properties ?? {})) names.add(name);
    for (const value of [node.operationId, node.const, node.default, ...(Array.isArray(node.enum) ? node.enum : [])]) {
      if (typeof value === 'string') names.add(value);
    }
    if (typeof node.in === 'string') names.add(node.name);
    for (const [name, part] of Object.entries<Json>(node)) {
      if (name !== 'example' && name !== 'examples') visit(part, `${place}/${name}`);
    }
  };
  visit({ paths: document.paths, schemas: document.components.schemas }, '');
  return { names, descriptions };
}

const graph = graphNames();
const { names, descriptions } = readDocument();

/** The words of a text that are names of the graph and of nothing in /v1: in backticks, or in camelCase. */
function foreignNames(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.match(/[A-Za-z_]\w*/g) ?? []);
  const camel = text.match(/\b[a-z]+[A-Z]\w*/g) ?? [];
  return [...new Set([...quoted, ...camel])].filter((word) => graph.has(word) && !names.has(word));
}

describe('descriptions of openapi.json', () => {
  test('default: they name nothing of the graph that /v1 lacks', () => {
    const foreign = [...descriptions].flatMap(([place, text]) =>
      foreignNames(text).map((name) => `${name} at ${place}: ${text}`),
    );
    expect(foreign).toEqual([]);
    expect(descriptions.size).toBeGreaterThan(500);
  });

  test('default: gaps are named only where the answer has some', () => {
    const unfounded: string[] = [];
    let count = 0;
    const visit = (node: Json, place: string, hasGaps: boolean, around: readonly string[]): void => {
      const name = node.$ref?.split('/').at(-1);
      if (name !== undefined && around.includes(name)) return;
      const schema = name === undefined ? node : { ...document.components.schemas[name], ...node };
      const has = hasGaps || schema.properties?.gaps !== undefined || schema.properties?.gap !== undefined;
      if (/`gaps?`/.test(schema.description ?? '')) {
        count += 1;
        if (!has) unfounded.push(`${place}: ${schema.description}`);
      }
      const inside = name === undefined ? around : [...around, name];
      for (const [key, part] of Object.entries<Json>(schema.properties ?? {}))
        visit(part, `${place}.${key}`, has, inside);
      for (const part of [
        schema.items,
        schema.additionalProperties,
        ...(schema.anyOf ?? []),
        ...(schema.oneOf ?? []),
      ]) {
        if (typeof part === 'object') visit(part, place, has, inside);
      }
    };
    for (const [path, operations] of Object.entries<Json>(document.paths)) {
      for (const [method, { responses = {} }] of Object.entries<Json>(operations)) {
        const answer = responses[200] ?? responses[201];
        for (const { schema } of Object.values<Json>(answer?.content ?? {}))
          visit(schema, `${method} ${path}`, false, []);
      }
    }
    expect(unfounded).toEqual([]);
    expect(count).toBeGreaterThan(0);
  });

  test('behavior: a name in backticks or camelCase is found, a word is not', () => {
    const text = 'As `manageLeveragePlan` takes it; see equityCurve and `Strategy.visibility`.';
    expect(foreignNames(text)).toEqual(['manageLeveragePlan', 'Strategy', 'visibility', 'equityCurve']);
    expect(foreignNames('The nodes of a chain, by `strategyId`.')).toEqual([]);
  });
});
