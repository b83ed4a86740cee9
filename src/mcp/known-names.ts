import { type KnownNames, namesIn } from '../rest/input.ts';
import type { AnyRoute } from '../rest/types.ts';

/** Names of messages of the protocol that the supported methods use. Clients add some of their own, e.g. in `capabilities`. */
const PROTOCOL = [
  ...['jsonrpc', 'id', 'method', 'params', '_meta', 'progressToken'],
  ...['name', 'arguments', 'uri', 'cursor', 'requestId', 'reason'],
  ...['protocolVersion', 'capabilities', 'clientInfo', 'title', 'version'],
];

/** List the names that messages may have: those of the protocol, and the arguments of all tools. */
export function createKnownNames(routes: readonly AnyRoute[]): KnownNames {
  const schemas = routes.flatMap(({ params, body }) => (body === undefined ? [params] : [params, body]));
  const names = new Set([...PROTOCOL, ...schemas.flatMap(namesIn)]);
  return () => (name) => names.has(name);
}
