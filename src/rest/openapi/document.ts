import { deprecationsOf } from '../row-deprecation.ts';
import type { AnyRoute } from '../types.ts';
import { createSchemaCollector, type JsonSchema } from './json-schema.ts';
import { operationOf } from './operation.ts';
import { LOCAL_SERVER } from './samples.ts';
import { statusPaths } from './status.ts';

export interface OpenApiOptions {
  readonly routes: readonly AnyRoute[];
  /** Version of the interface, not of the software. */
  readonly version: string;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: Readonly<Record<string, unknown>> & { readonly schemas: Readonly<Record<string, JsonSchema>> };
  readonly [section: string]: unknown;
}

const DESCRIPTION = `Composed lending-market data for leveraged yield positions, and unsigned transactions for them.

Numbers are composed from warm caches. While a source fails, the last good value is served with its visible age. An unknown value is absent, never zero.

**Limits.** Every client has a budget of cost points per minute (key, else address); \`RateLimit-Policy\` and \`RateLimit\` have its state, 429 carries \`Retry-After\`. A public read costs 1 point (chart and candles 5), a partner or ops request 10.

**Additions.** Answers are open: a later version of this interface may add fields, rows and error details, and clients ignore those that they do not know. Request bodies are closed: an unknown field is refused, because the caller expects an effect of it. \`null\` in an optional field of a body is the same as leaving it out.

**Samples.** Each operation has its first example as code (\`x-code-samples\`), for a local development server and its sample keys. The page of this service puts its own address and the entered key there.

**Deprecation.** A part that will be removed is marked \`deprecated\` for at least six months before, and its answers carry \`Deprecation\`, \`Sunset\` and a \`Link\`.

**Errors.** One envelope with a stable \`code\`, the \`details\` of that code, and the \`correlationId\` of the header \`x-correlation-id\`.`;

const TAGS = [
  { name: 'Public', description: 'Reads. No key.' },
  { name: 'Partner', description: 'Previews and unsigned transactions. Any key. The service never signs or sends.' },
  { name: 'Ops', description: 'Internal monitoring. A key on the `ops` tier.' },
  { name: 'Status', description: 'Liveness and readiness. No key, and no cost points.' },
];

const HEADERS = {
  'RateLimit-Policy': {
    description: 'The budget: name of the tier, `q` = cost points per window, `w` = window in seconds.',
    schema: { type: 'string', examples: ['"partner";q=3000;w=60'] },
  },
  RateLimit: {
    description: 'State of the budget: `r` = remaining points, `t` = seconds until the window ends.',
    schema: { type: 'string', examples: ['"partner";r=2990;t=42'] },
  },
  ETag: {
    description: 'Tag of this answer; send it as `If-None-Match` to get 304 while the answer is unchanged.',
    schema: { type: 'string' },
  },
  'Content-Disposition': {
    description: 'Name of the file; on answers in `text/csv`.',
    schema: { type: 'string', examples: ['attachment; filename="statement-chain-1-0x90F7.csv"'] },
  },
  'Ignored-Parameters': {
    description:
      'Percent-encoded names of query parameters that the path does not have, the first 10; `""` for one without a name. Absent when there are none.',
    schema: { type: 'string', examples: ['utm_source'] },
  },
  Warning: {
    description:
      'The key that was sent is not valid: the answer is that to a request without a key. In the form of RFC 7234, with the code 299. Absent otherwise.',
    schema: { type: 'string', examples: ['299 - "The API key is not valid: …"'] },
  },
  'Retry-After': { description: 'Seconds until a retry may succeed.', schema: { type: 'integer', minimum: 0 } },
  'x-correlation-id': {
    description: 'Identifies the request in logs; taken from the request when it is 8 to 64 of A-Z a-z 0-9 . _ -',
    schema: { type: 'string' },
  },
};

/** Headers of deprecated rows. */
const DEPRECATION_HEADERS = {
  Deprecation: {
    description: 'When this row, or a field of its answer, was deprecated (RFC 9745): `@` and unix seconds.',
    schema: { type: 'string', examples: ['@1798761600'] },
  },
  Sunset: {
    description: 'When it may be removed (RFC 8594): a date of HTTP.',
    schema: { type: 'string', examples: ['Thu, 01 Jul 2027 00:00:00 GMT'] },
  },
  Link: {
    description: 'The policy and the list of deprecated parts, as `rel="deprecation"`.',
    schema: { type: 'string' },
  },
};

/** Generate the OpenAPI document from the route table. */
export function createOpenApi({ routes, version }: OpenApiOptions): OpenApiDocument {
  const schemas = createSchemaCollector();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route, schemas) };
  }
  const status = statusPaths(schemas) as typeof paths;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Leveraged-Strategy Read, Partner and Ops Interface',
      version,
      description: DESCRIPTION,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [
      { url: '/', description: 'The server of this document.' },
      { url: LOCAL_SERVER, description: 'A local development server: `npm start`.' },
    ],
    tags: TAGS,
    paths: { ...paths, ...status },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: `Authorization: Bearer <API_KEY>`. Ops paths need a key on the `ops` tier.',
        },
      },
      headers: routes.some((route) => deprecationsOf(route).length > 0)
        ? { ...HEADERS, ...DEPRECATION_HEADERS }
        : HEADERS,
      schemas: Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}
