import type { Tool } from '@modelcontextprotocol/server';
import { type JsonSchema, selfContainedSchema, typedText } from '../rest/openapi/json-schema.ts';
import type { AnyRoute, RouteExample, RowTool } from '../rest/types.ts';
import { withoutUndefined } from '../shared/without-undefined.ts';
import { pageArguments, pagedOutput } from './paging.ts';
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
    outputSchema: outputOf(route, tool),
    annotations: {
      title: route.summary,
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

/** A fixed text of the sources: no name from outside of the service is in it. */
function descriptionOf({ summary, description, surface }: AnyRoute, { name, list }: RowTool): string {
  const parts = [
    `${summary}.`,
    description,
    name.startsWith(BUILDS) ? UNSIGNED : '',
    list === undefined ? '' : pagesSentence(list),
    surface === 'Public' ? 'Needs no API key.' : 'Needs an API key.',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function pagesSentence({ limit, newestFirst, brief }: NonNullable<RowTool['list']>): string {
  const items = newestFirst ? `the newest ${limit}` : `the first ${limit}`;
  const fields = brief === undefined ? '' : ' with their main fields (detail: "full" returns all)';
  return `Returns ${items} items${fields}; limit and offset return others.`;
}

/** The parameters and the fields of the body as one record. */
function inputOf(route: AnyRoute, { defaults = {}, list }: RowTool): Tool['inputSchema'] {
  const params = selfContainedSchema(route.params, 'input');
  const body = route.body === undefined ? {} : selfContainedSchema(route.body, 'input');
  const properties = { ...propertiesOf(params), ...propertiesOf(body) };
  const names = Object.keys(properties);
  for (const [name, value] of Object.entries(defaults)) {
    properties[name] = { ...properties[name], default: value };
  }
  const paging = list === undefined ? {} : pageArguments(list);
  const taken = names.filter((name) => Object.hasOwn(paging, name));
  if (taken.length > 0) throw new Error(`${route.path}: ${taken.join(', ')} is an argument for pages and of the row.`);
  const required = [...requiredOf(params), ...requiredOf(body)];
  const $defs = { ...(params.$defs ?? {}), ...(body.$defs ?? {}) };
  return {
    type: 'object',
    properties: { ...properties, ...paging },
    required: [...required],
    examples: route.examples.map((example) => exampleArguments(example, properties)),
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

function outputOf(route: AnyRoute, { list }: RowTool): NonNullable<Tool['outputSchema']> {
  const schema = selfContainedSchema(route.response, 'output');
  if (schema.type !== 'object') throw new Error(`${route.path}: the answer of a tool is an object.`);
  return { ...withoutEmptyParts(terse(list === undefined ? schema : pagedOutput(schema, list))), type: 'object' };
}

/**
 * Leave out the notes of a schema beside its types, because clients load the list of all tools at once: it has a third of the
 * size. The fields of an answer itself keep their descriptions; those of the others are in /openapi.json.
 */
function terse(schema: JsonSchema): JsonSchema {
  const { properties = {}, ...rest } = schema;
  const fields = Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, field]) => {
    const { description } = field;
    return [name, { ...(withoutNotes(field) as JsonSchema), ...withoutUndefined({ description }) }];
  });
  const { description } = schema;
  return {
    ...(withoutNotes(rest) as JsonSchema),
    ...withoutUndefined({ description }),
    properties: Object.fromEntries(fields),
  };
}

/** Properties with these names have schemas, and stay. */
function withoutNotes(schema: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) => {
      const isNote = (name === 'description' || name === 'pattern') && typeof value === 'string';
      return isNote || (name === 'examples' && Array.isArray(value)) ? undefined : value;
    }),
  );
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return { ...(schema.properties as Readonly<Record<string, JsonSchema>> | undefined) };
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return (required as readonly string[] | undefined) ?? [];
}
