import { z } from 'zod';
import { deprecationSentence } from '../../shared/contract/deprecation.ts';
import { ERROR_CODES, type ErrorCode } from '../../shared/errors.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import { deprecatedMeta, deprecationsOf } from '../row-deprecation.ts';
import { errorEnvelopeOf } from '../schemas/errors.ts';
import type { AnyRoute, RouteExample } from '../types.ts';
import { ERROR_MEANINGS, errorsByStatus } from './errors.ts';
import { type JsonSchema, type SchemaCollector, typedText } from './json-schema.ts';
import { samplesOf } from './samples.ts';

type OpenApiObject = Record<string, unknown>;

/** Describe one row as an OpenAPI operation. */
export function operationOf(route: AnyRoute, schemas: SchemaCollector): OpenApiObject {
  const operationId = `${route.operation.charAt(0).toLowerCase()}${route.operation.slice(1)}`;
  const [example = { summary: '' }] = route.examples;
  const parameters = [...parametersOf(route, schemas), ...headersOf(route, schemas)];
  const sent = { ...example.params, ...example.query };
  const numbers = parameters
    .filter(({ name, schema }) => typeof typedText(sent[name] ?? '', schema) === 'number')
    .map(({ name }) => name);
  return {
    operationId,
    tags: [route.surface],
    summary: route.summary,
    description: route.deprecation
      ? `${route.description} ${deprecationSentence(route.deprecation)}`
      : route.description,
    ...deprecatedMeta(route.deprecation),
    security: route.surface === 'Public' ? [] : [{ apiKey: [] }],
    ...withoutUndefined({ parameters: parameters.length === 0 ? undefined : parameters }),
    ...withoutUndefined({ 'x-query-schema': route.queryForms && schemas.convert(route.queryForms, 'input') }),
    requestBody: route.body === undefined ? undefined : bodyOf(route, route.body, schemas),
    responses: {
      200: {
        description: `${route.summary}.`,
        headers: headerRefs(
          'RateLimit-Policy',
          'RateLimit',
          'x-correlation-id',
          ...(hasTag(route) ? ['ETag'] : []),
          ...(isCached(route) ? ['Ignored-Parameters', 'Warning'] : []),
          ...(route.csv ? ['Content-Disposition'] : []),
          ...(deprecationsOf(route).length > 0 ? ['Deprecation', 'Sunset', 'Link'] : []),
        ),
        content: withoutUndefined({
          'application/json': { schema: schemas.answer(route.response) },
          'text/csv': route.csv && { schema: CSV },
        }),
      },
      ...withoutUndefined({
        304: hasTag(route) ? { description: 'Nothing has changed since the ETag sent as `If-None-Match`.' } : undefined,
      }),
      ...Object.fromEntries([...errorsByStatus(route)].map(([status, codes]) => [status, errorOf(codes, schemas)])),
    },
    'x-code-samples': samplesOf({ ...route, operationId, example, numbers }),
  };
}

/** Whether answers are the same for every caller and have an ETag. */
function isCached({ surface, method }: AnyRoute): boolean {
  return surface === 'Public' && method === 'GET';
}

function hasTag(route: AnyRoute): boolean {
  return isCached(route) || route.csv !== undefined;
}

const CSV = { type: 'string', description: 'A file by RFC 4180, in UTF-8, with a header row.' };

function schemaDescription(schema: z.ZodType): string | undefined {
  return z.globalRegistry.get(schema)?.description;
}

function errorOf(codes: readonly ErrorCode[], schemas: SchemaCollector): OpenApiObject {
  const bodies = codes.map((code) => schemas.convert(errorEnvelopeOf(code), 'output'));
  const retryable = codes.some((code) => ERROR_CODES[code].retryable);
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code]}`).join('\n\n'),
    headers: headerRefs('x-correlation-id', ...(retryable ? ['Retry-After'] : [])),
    content: { 'application/json': { schema: bodies.length === 1 ? bodies[0] : { anyOf: bodies } } },
  };
}

export function headerRefs(...names: readonly string[]): OpenApiObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function parametersOf(route: AnyRoute, schemas: SchemaCollector) {
  if (!(route.params instanceof z.ZodObject)) throw new Error(`${route.path}: params is not an object schema.`);
  const { properties = {}, required = [] } = schemas.convert(route.params, 'input') as {
    properties?: Record<string, JsonSchema> | undefined;
    required?: readonly string[] | undefined;
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property;
    const inPath = route.path.includes(`{${name}}`);
    const examples = route.examples.flatMap((example) => {
      const value = (inPath ? example.params : example.query)?.[name];
      return value === undefined
        ? []
        : [[exampleName(example), { summary: example.summary, value: typedText(value, schema) }]];
    });
    return {
      name,
      in: inPath ? 'path' : 'query',
      required: inPath || required.includes(name),
      description,
      schema,
      examples: examples.length === 0 ? undefined : Object.fromEntries(examples),
    };
  });
}

/** Headers that are part of the input of a row. */
function headersOf({ headers }: AnyRoute, schemas: SchemaCollector) {
  if (headers === undefined) return [];
  const { properties = {} } = schemas.convert(headers, 'input') as {
    properties?: Record<string, JsonSchema> | undefined;
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name: name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    in: 'header',
    required: false,
    description,
    schema,
    examples: undefined,
  }));
}

function bodyOf(route: AnyRoute, body: z.ZodType, schemas: SchemaCollector): OpenApiObject {
  const examples = route.examples.flatMap((example) =>
    example.body === undefined ? [] : [[exampleName(example), { summary: example.summary, value: example.body }]],
  );
  return {
    required: true,
    description: schemaDescription(body) ?? 'JSON, at most 64 KiB.',
    content: {
      'application/json': {
        schema: schemas.convert(route.bodyForms ?? body, 'input'),
        examples: examples.length === 0 ? undefined : Object.fromEntries(examples),
      },
    },
  };
}

/** Name of an example, the same in all places of an operation, so that tools group its values. */
export function exampleName({ summary }: RouteExample): string {
  return summary.replace(/[^A-Za-z0-9]+(.?)/g, (_all, next: string) => next.toUpperCase());
}
