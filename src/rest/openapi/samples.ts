import type { RestSurface, RouteExample } from '../types.ts';

/** Where a local development server listens by default. */
export const LOCAL_SERVER = 'http://127.0.0.1:8787';

/** Keys of a local development server by surface. */
const LOCAL_KEYS: Readonly<Partial<Record<RestSurface, string>>> = { Partner: 'local-partner', Ops: 'local-ops' };

export interface CodeSample {
  readonly lang: 'Shell' | 'TypeScript' | 'Python';
  readonly label: string;
  readonly source: string;
}

/** A documented request. */
export interface SampledRow {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path template. */
  readonly path: string;
  readonly surface: RestSurface;
  readonly example: RouteExample;
  /** Names of the parameters that are numbers. */
  readonly numbers?: readonly string[] | undefined;
}

/** The code that sends a documented example to a local development server: with curl, with the client package, with requests. */
export function samplesOf(row: SampledRow): readonly CodeSample[] {
  return [
    { lang: 'Shell', label: 'curl', source: shellSample(row) },
    { lang: 'TypeScript', label: '@spiral-gateway/client', source: typeScriptSample(row) },
    { lang: 'Python', label: 'requests', source: pythonSample(row) },
  ];
}

function addressOf({ path, example: { params = {}, query } }: SampledRow): string {
  const place = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''));
  return `${LOCAL_SERVER}${place}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`;
}

/** The method that tools use unless they are told another one. */
function methodOf({ example: { body } }: SampledRow): SampledRow['method'] {
  return body === undefined ? 'GET' : 'POST';
}

function shellSample(row: SampledRow): string {
  const key = LOCAL_KEYS[row.surface];
  const { body } = row.example;
  const parts = [
    `curl -s${row.method === methodOf(row) ? '' : ` -X ${row.method}`} '${addressOf(row)}'`,
    key && `-H 'authorization: Bearer ${key}'`,
    body && `-H 'content-type: application/json' \\\n  -d '${JSON.stringify(body)}'`,
  ];
  return `${parts.filter(Boolean).join(' \\\n  ')}\n`;
}

function typeScriptSample({ operationId, surface, example, numbers = [] }: SampledRow): string {
  const key = LOCAL_KEYS[surface];
  const options = key === undefined ? '' : `, apiKey: '${key}'`;
  const { body, params, query } = example;
  const input =
    body ?? (params === undefined && query === undefined ? undefined : typed({ ...params, ...query }, numbers));
  return [
    "import { createClient } from '@spiral-gateway/client';",
    '',
    `const client = createClient({ baseUrl: '${LOCAL_SERVER}'${options} });`,
    `const answer = await client.${operationId}(${input === undefined ? '' : literal(input, TYPESCRIPT)});`,
    'console.log(answer);',
    '',
  ].join('\n');
}

function pythonSample(row: SampledRow): string {
  const key = LOCAL_KEYS[row.surface];
  const { body } = row.example;
  const parts = [`"${addressOf(row)}"`];
  if (key !== undefined) parts.push(`headers=${literal({ authorization: `Bearer ${key}` }, PYTHON)}`);
  if (body !== undefined) parts.push(`json=${literal(body, PYTHON)}`);
  const call = `requests.${row.method.toLowerCase()}`;
  return [
    'import requests',
    '',
    parts.length === 1
      ? `response = ${call}(${parts[0]})`
      : `response = ${call}(\n${parts.map((part) => `    ${indented(part)},`).join('\n')}\n)`,
    'response.raise_for_status()',
    'answer = response.json()',
    'print(answer)',
    '',
  ].join('\n');
}

/** The parameters of a row as the client takes them. */
function typed(
  parameters: Readonly<Record<string, string>>,
  numbers: readonly string[],
): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, numbers.includes(name) ? Number(value) : value]),
  );
}

interface Syntax {
  readonly indent: string;
  readonly name: (name: string) => string;
  readonly value: (value: unknown) => string;
}

const TYPESCRIPT: Syntax = {
  indent: '  ',
  name: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)),
  value: (value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value)),
};
const PYTHON: Syntax = {
  indent: '    ',
  name: (name) => JSON.stringify(name),
  value: (value) =>
    value === true ? 'True' : value === false ? 'False' : value === null ? 'None' : JSON.stringify(value),
};

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** A JSON value as a literal, one field a line. */
function literal(value: unknown, syntax: Syntax): string {
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, syntax)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return syntax.value(value);
  const fields = Object.entries(value).map(
    ([name, field]) => `${syntax.indent}${syntax.name(name)}: ${literal(field, syntax)},`,
  );
  return fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n}`;
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n    ');
}
