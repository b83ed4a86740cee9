import type { Tool } from '@modelcontextprotocol/server';
import { type JsonSchema, selfContainedAnswer, selfContainedSchema, typedText } from '../rest/openapi/json-schema.ts';
import type { AnyRoute, RouteExample, RowTool } from '../rest/types.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import { pagedOutput, sizeArguments } from './paging.ts';
import { createToolTerms, inTerms, type ToolTerms } from './tool-terms.ts';

/** A tool with the row that answers it. */
export interface RowBoundTool {
  readonly route: AnyRoute;
  readonly tool: RowTool;
  /** The tool as clients list it. */
  readonly listed: Tool;
  /** Names of its arguments. */
  readonly names: readonly string[];
  /** Those that are sent in the path or the query of the row. */
  readonly params: ReadonlySet<string>;
  /** Writes the texts of its row with the names of tools. */
  readonly terms: ToolTerms;
}

/** Make a tool of each row that has the name of one. Everything about it is that of the row. */
export function createTools(routes: readonly AnyRoute[]): ReadonlyMap<string, RowBoundTool> {
  const rows = routes.flatMap((route) => (route.tool === undefined ? [] : [toolOf(route, route.tool)]));
  const terms = createToolTerms(rows);
  const tools = new Map<string, RowBoundTool>();
  for (const row of rows) {
    const { name } = row.tool;
    if (tools.has(name)) throw new Error(`Two rows are the tool ${name}.`);
    tools.set(name, { ...row, listed: inTerms(row.listed, terms), terms });
  }
  return tools;
}

function toolOf(route: AnyRoute, tool: RowTool): Omit<RowBoundTool, 'terms'> {
  const listed = listedTool(route, tool);
  const params = new Set(Object.keys(propertiesOf(selfContainedSchema(route.params, 'input'))));
  return { route, tool, listed, names: Object.keys(listed.inputSchema.properties ?? {}), params };
}

function listedTool(route: AnyRoute, tool: RowTool): Tool {
  return {
    name: tool.name,
    title: route.summary,
    description: descriptionOf(route, tool),
    inputSchema: inputOf(route, tool),
    ...withoutUndefined({ outputSchema: outputOf(route, tool) }),
    annotations: {
      // A build returns an unsigned transaction. Rows that change something in the service are not tools.
      readOnlyHint: true,
      destructiveHint: false,
      // Chains, venues and providers are outside of the service.
      openWorldHint: true,
      idempotentHint: true,
    },
  };
}

/** Prefix of tools whose answers have transactions. */
const BUILDS = 'build_';
const UNSIGNED =
  'The transactions are UNSIGNED and nothing is sent: show them to the person who owns the wallet, who checks, signs and sends them.';

/** Longest description of a row in that of its tool, in whole sentences. */
const MAX_DESCRIPTION_CHARS = 400;

/** A fixed text of the sources: no name from outside of the service is in it. */
function descriptionOf({ description, surface }: AnyRoute, { name, list, brief }: RowTool): string {
  const parts = [
    shortened(description, MAX_DESCRIPTION_CHARS),
    name.startsWith(BUILDS) ? UNSIGNED : '',
    list === undefined ? '' : pagesSentence(list, brief !== undefined),
    surface === 'Public' ? 'Needs no API key.' : 'Needs an API key.',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function pagesSentence({ limit, newestFirst }: NonNullable<RowTool['list']>, isBrief: boolean): string {
  const items = newestFirst ? `the newest ${limit}` : `the first ${limit}`;
  const fields = isBrief ? ' with their main fields' : '';
  return `Returns ${items} items${fields}; limit and offset return others.`;
}

/** The parameters and the fields of the body as one record. */
function inputOf(route: AnyRoute, tool: RowTool): Tool['inputSchema'] {
  const { defaults = {} } = tool;
  const params = selfContainedSchema(route.params, 'input');
  const body = route.body === undefined ? {} : selfContainedSchema(route.body, 'input');
  const properties = { ...propertiesOf(params), ...propertiesOf(body) };
  const names = Object.keys(properties);
  for (const [name, value] of Object.entries(defaults)) {
    properties[name] = { ...properties[name], default: value };
  }
  const sizes = sizeArguments(tool);
  const taken = names.filter((name) => Object.hasOwn(sizes, name));
  if (taken.length > 0) throw new Error(`${route.path}: ${taken.join(', ')} is an argument for pages and of the row.`);
  const required = [...requiredOf(params), ...requiredOf(body)];
  const $defs = { ...(params.$defs ?? {}), ...(body.$defs ?? {}) };
  return {
    type: 'object',
    properties: { ...mapValues(properties, lean), ...sizes },
    required: [...required],
    examples: route.examples.slice(0, 1).map((example) => exampleArguments(example, properties)),
    additionalProperties: false,
    ...withoutEmptyParts({ $defs }),
  } as Tool['inputSchema'];
}

/** A documented request of the row as arguments. */
function exampleArguments(
  { params, query = {}, body }: RouteExample,
  properties: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, unknown>> {
  const typed = Object.entries({ ...params, ...query }).map(([name, value]) => [
    name,
    typedText(value, properties[name] ?? {}),
  ]);
  return { ...Object.fromEntries(typed), ...(body as object | undefined) };
}

function withoutEmptyParts({ $defs = {}, ...schema }: JsonSchema): JsonSchema {
  return Object.keys($defs as object).length === 0 ? schema : { ...schema, $defs };
}

/** A longer schema is not listed: clients load the list of all tools at once, and /openapi.json has every answer. */
const MAX_OUTPUT_CHARS = 750;

/** The types of an answer, where they are few. The caller chooses between two answers of a row with a brief. */
function outputOf(route: AnyRoute, { list, brief }: RowTool): Tool['outputSchema'] {
  const schema = selfContainedAnswer(route.response);
  if (schema.type !== 'object') throw new Error(`${route.path}: the answer of a tool is an object.`);
  if (brief !== undefined) return undefined;
  const output = {
    ...withoutEmptyParts(typesOnly(list === undefined ? schema : pagedOutput(schema, list))),
    type: 'object',
  };
  return JSON.stringify(output).length > MAX_OUTPUT_CHARS ? undefined : (output as Tool['outputSchema']);
}

/** Leave out what a schema says beside types. Properties with these names have schemas, and stay. */
function typesOnly(schema: JsonSchema): JsonSchema {
  const notes = ['description', 'pattern', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'examples'];
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) => {
      const isSchema = typeof value === 'object' && value !== null && !Array.isArray(value);
      return notes.includes(name) && !isSchema ? undefined : value;
    }),
  );
}

/** Longest description of an argument; its first sentence is always whole. Refusals say the rest, and /openapi.json has all. */
const MAX_ARGUMENT_CHARS = 100;
/** Bounds from here on only keep numbers finite. */
const MAX_BOUND = 1_000_000;
/** A sentence that repeats a bound of the schema. */
const BOUNDS = /^(?:Above|From|Default|At most) [\d.]+(?: to [\d.]+)?(?: %)?\.$/;

/** Make the schema of an argument short: without null, which is the same as leaving it out, and without what it says twice. */
function lean(schema: JsonSchema): JsonSchema {
  const { anyOf = [], ...own } = schema as JsonSchema & { readonly anyOf?: readonly JsonSchema[] };
  const forms = anyOf.filter(({ type }) => type !== 'null');
  const [only] = forms;
  const isOne = only !== undefined && forms.length === 1;
  const whole = isOne ? { ...only, ...own } : { ...own, ...(forms.length > 1 && { anyOf: forms.map(typesOnly) }) };
  const { format: _format, examples: _examples, items, pattern, maximum, description, ...rest } = whole as JsonSchema;
  return {
    ...rest,
    ...withoutUndefined({
      items: items && typesOnly(items as JsonSchema),
      maximum: Number(maximum) < MAX_BOUND ? maximum : undefined,
      // A longer one is of numbers, which their description says.
      pattern: typeof pattern === 'string' && pattern.startsWith('^0x') ? pattern : undefined,
      description: typeof description === 'string' ? shortened(description, MAX_ARGUMENT_CHARS) : undefined,
    }),
  };
}

function shortened(description: string, maxChars: number): string {
  const [first = '', ...others] = description.split(/(?<=\.) /).filter((sentence) => !BOUNDS.test(sentence));
  let text = first;
  for (const sentence of others) {
    if (text.length + sentence.length >= maxChars) break;
    text = `${text} ${sentence}`;
  }
  return text;
}

function mapValues<V, W>(values: Readonly<Record<string, V>>, map: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return { ...(schema.properties as Readonly<Record<string, JsonSchema>> | undefined) };
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return (required as readonly string[] | undefined) ?? [];
}
