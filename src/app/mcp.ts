import { createMcpEndpoint, type McpDeps, type McpEndpoint } from '../mcp/endpoint.ts';
import type { RestAdapter } from '../rest/adapter.ts';
import { INTERFACE_VERSION } from '../rest/types.ts';
import type { Gateway } from './gateway.ts';

export interface McpWiring extends Pick<McpDeps, 'routes' | 'chainIds' | 'guides' | 'origins' | 'logger' | 'onCall'> {
  readonly rest: Pick<RestAdapter, 'answer' | 'answerBriefly' | 'routeOf'>;
  readonly gateway: Pick<Gateway, 'admitRest' | 'turn'>;
}

/** Wire the tools to the rows: a call has the key, the budget and the queue of its REST request. */
export function wireMcp({ rest, gateway, ...deps }: McpWiring): McpEndpoint {
  return createMcpEndpoint({
    ...deps,
    version: INTERFACE_VERSION,
    rows: rest,
    turn: gateway.turn,
    async admit({ headers, correlationId, clientIp }) {
      const request = { method: 'POST', path: '', query: '', headers, body: noBody, correlationId, clientIp };
      const entry = await gateway.admitRest(request, null);
      return { refusal: entry.refusal, budget: entry.headers() };
    },
  });
}

const noBody = async (): Promise<Uint8Array> => new Uint8Array();
