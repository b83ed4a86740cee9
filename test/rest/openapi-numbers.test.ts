import { describe, expect, test } from 'vitest';
import { createOpenApi } from '../../src/rest/openapi/document.ts';
import { createRoutes } from '../../src/rest/routes/index.ts';
import { INTERFACE_VERSION } from '../../src/rest/types.ts';
import { sharedSchema } from '../../src/schema/index.ts';
import type { Json } from '../support/service.ts';

const routes = createRoutes({ schema: sharedSchema(), chainIds: [1, 4663], equityChainIds: [4663] });
const document = createOpenApi({ routes, version: INTERFACE_VERSION }) as Json;

/** The units of the document, and the things that whole numbers count. */
const UNIT =
  /percent|fraction|\bratio\b|basis points|\bUSD\b|multiple of the equity|whole (\w+ )?tokens?|base units|tokens? per (\w+ )*token|shares|\bwei\b|\bWAD\b|1e36|seconds|milliseconds|\bdays?\b|bytes|gas units|units of gas|points|number of|units of the timeframe|units per bucket|index of|\bindexes\b|chain id|chain of|the chain|value in the requested currency|in the unit of|version of|status of/i;
/** A range that a keyword or a pattern of JSON Schema cannot express. */
const RANGE = /negative|signed|\b\d+ or more|above \d|from \d+ to \d+|the field that has it/i;
const TAGGED = /\/(ExactDecimal|ExactInteger)$/;

const types = (schema: Json): string[] => [schema.type].flat().filter((type) => type !== undefined);
const isNumber = (schema: Json) => types(schema).some((type) => type === 'integer' || type === 'number');
const isNumberText = (schema: Json) =>
  typeof schema.pattern === 'string' && /^\^(-\?)?\\d/.test(schema.pattern) && !schema.pattern.includes('-(');
const isTagged = (schema: Json) => typeof schema.$ref === 'string' && TAGGED.test(schema.$ref);

function hasRange(schema: Json, description: string): boolean {
  if (RANGE.test(description) || Array.isArray(schema.enum) || schema.const !== undefined) return true;
  if (isNumber(schema)) return schema.minimum !== undefined || schema.exclusiveMinimum !== undefined;
  return isNumberText(schema) && schema.pattern.startsWith('^\\d');
}

/** The numbers of a document that lack a unit or a range, by their place. */
function vagueNumbers(root: Json): { seen: number; vague: string[] } {
  const vague: string[] = [];
  let seen = 0;
  const visit = (node: Json, place: string, around: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const description = node.description ?? around;
    if (isNumber(node) || isNumberText(node) || isTagged(node)) {
      seen += 1;
      const lacks = [
        ...(UNIT.test(description) || /the field that has it/i.test(description) ? [] : ['unit']),
        ...(hasRange(node, description) ? [] : ['range']),
      ];
      if (lacks.length > 0) vague.push(`${place} has no ${lacks.join(' and no ')}: ${description}`);
    }
    for (const [name, part] of Object.entries<Json>(node)) {
      if (name !== 'example' && name !== 'examples' && name !== 'default' && name !== 'enum') {
        visit(part, `${place}/${name}`, description);
      }
    }
  };
  visit(root.components.schemas, '', '');
  visit(root.paths, '', '');
  return { seen, vague };
}

/** The words of descriptions by which a value has a format. Conformance tests compare the formats with real answers. */
const FORMATS = {
  uri: /^(Page|Link|URL)\b|^The owner\.$|in the client app|at the lending protocol|^Its owner\.$|^The contract that holds|^The block of the reading\.$/,
  date: /YYYY-MM-DD/,
  int64:
    /\bunix\b|^Number of (its newest block|blocks in|the block\.$)|gas units|version of the facts|^Its chain id; null/i,
} as const;
const FREE_TEXT: readonly unknown[] = [undefined, 'uri', 'date'];

/** The fields whose format does not fit their description, by their place, and how often each format occurs. */
function wrongFormats(root: Json): { seen: Record<string, number>; wrong: string[] } {
  const seen: Record<string, number> = {};
  const wrong: string[] = [];
  const visit = (node: Json, place: string, around: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const description = node.description ?? around;
    const { format, pattern } = node;
    if (typeof format === 'string') seen[format] = (seen[format] ?? 0) + 1;
    const isInteger = types(node).includes('integer');
    const isText = types(node).includes('string') && pattern === undefined && FREE_TEXT.includes(format);
    const wide = FORMATS.int64.test(description) ? 'int64' : 'int32';
    const text = FORMATS.uri.test(description) ? 'uri' : FORMATS.date.test(description) ? 'date' : undefined;
    if ((isInteger && format !== wide) || (isText && format !== text)) wrong.push(`${place} ${format}: ${description}`);
    for (const [name, part] of Object.entries<Json>(node)) {
      if (name !== 'example' && name !== 'examples' && name !== 'default' && name !== 'enum') {
        visit(part, `${place}/${name}`, description);
      }
    }
  };
  visit(root.components.schemas, '', '');
  visit(root.paths, '', '');
  return { seen, wrong };
}

describe('formats of openapi.json', () => {
  test('default: addresses of pages, days and the width of whole numbers', () => {
    const { seen, wrong } = wrongFormats(document);
    expect(wrong).toEqual([]);
    expect(Object.keys(seen).sort()).toEqual(['date', 'date-time', 'int32', 'int64', 'uri', 'uuid']);
    expect(seen.uri).toBeGreaterThan(10);
  });

  test.each([
    ['a link without its format', { type: 'string', description: 'Page of the campaign.' }],
    ['a day without its format', { type: 'string', description: 'Maturity, YYYY-MM-DD.' }],
    ['a time of 32 bits', { type: 'integer', format: 'int32', description: 'Unix milliseconds.' }],
    ['an integer without a width', { type: 'integer', description: 'Number of markets.' }],
    ['a name that is called a link', { type: 'string', format: 'uri', description: 'Name.' }],
  ])('behavior: finds %s', (_what, schema) => {
    expect(wrongFormats({ components: { schemas: { Market: schema } }, paths: {} }).wrong).toHaveLength(1);
  });
});

describe('numbers of openapi.json', () => {
  test('default: every number has a unit and a range', () => {
    const { seen, vague } = vagueNumbers(document);
    expect(vague).toEqual([]);
    expect(seen).toBeGreaterThan(400);
  });

  test.each([
    ['a number without a range', { type: 'number', description: 'Price, USD.' }],
    ['a number without a unit', { type: 'number', minimum: 0, description: 'Price.' }],
    ['a signed text without saying it', { type: 'string', pattern: '^-?\\d+$', description: 'Profit, USD.' }],
    ['a tagged number without a unit', { $ref: '#/components/schemas/ExactDecimal', description: 'Price, 0 or more.' }],
  ])('behavior: finds %s', (_what, schema) => {
    expect(vagueNumbers({ components: { schemas: { Price: schema } }, paths: {} }).vague).toHaveLength(1);
  });
});
