import type { RestRequest } from '../rest/types.ts';
import { BadRequestError } from '../shared/errors.ts';
import { formatValue } from '../shared/ids.ts';
import { nearestName } from '../shared/input/nearest-name.ts';
import { withoutNulls } from './json-rpc.ts';
import type { RowBoundTool } from './tools.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** The parts of a request that all calls of a message share. */
export type CallOrigin = Pick<RestRequest, 'headers' | 'correlationId' | 'clientIp' | 'left'>;

/**
 * Make the request of a row from the arguments of its tool. The row checks their values.
 * @throws BadRequestError for an argument that the tool does not have, and for a parameter that is not one value
 */
export function requestOf(
  { route, tool, names, params }: RowBoundTool,
  given: Arguments,
  origin: CallOrigin,
): RestRequest {
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) throw unknownArgument(name, names);
  }
  const values = { ...tool.defaults, ...withoutNulls(given) };
  const texts = new Map<string, string>();
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (params.has(name)) texts.set(name, textOf(name, value));
    else body[name] = value;
  }
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const text = texts.get(name);
    if (text === undefined || text === '') throw missingArgument(name);
    texts.delete(name);
    return encodeURIComponent(text);
  });
  const bytes = new TextEncoder().encode(route.body === undefined ? '' : JSON.stringify(body));
  return {
    method: route.method,
    path,
    query: new URLSearchParams([...texts]).toString(),
    headers: { authorization: origin.headers.authorization, 'content-type': 'application/json' },
    body: async () => bytes,
    correlationId: origin.correlationId,
    clientIp: origin.clientIp,
    left: origin.left,
  };
}

function textOf(field: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new BadRequestError(`${field}: expected one value (got "${formatValue(value)}").`, {
    field,
    value: formatValue(value),
  });
}

function missingArgument(field: string): BadRequestError {
  return new BadRequestError(`${field}: expected a value (it is missing).`, { field });
}

function unknownArgument(name: string, known: readonly string[]): BadRequestError {
  const meant = nearestName(name, known);
  const advice = meant === undefined ? '' : ` Its spelling is "${meant}".`;
  const takes = known.length === 0 ? 'no arguments' : known.join(', ');
  return new BadRequestError(`"${formatValue(name)}" is not an argument of this tool, which takes ${takes}.${advice}`, {
    field: formatValue(name),
    limit: { oneOf: known },
  });
}
