import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Hit, RenderedRows } from '../rest/rendered.ts';
import { type CorsPolicy, corsHeaders, SECURITY_HEADERS } from './headers.ts';
import { WINDOW_SEC } from './limits.ts';
import { type RequestInfo, requestInfoOf } from './request-info.ts';
import { budgetHeaders, type Standing } from './visit.ts';

export interface FastPathDeps {
  readonly hit: RenderedRows['hit'];
  /** Charge an address for an operation; `undefined` = its budget does not allow it, and nothing was charged. */
  readonly charge: (clientIp: string, operation: string) => Standing | null | undefined;
  readonly cors: CorsPolicy;
  readonly trustedProxies: number;
}

/** What was answered, for the log and the metrics. */
export interface Answered {
  readonly info: RequestInfo;
  /** Path template. */
  readonly route: string;
}

/**
 * Build the short way for public rows whose bytes are ready: everything that holds for other requests (budget, ids, headers)
 * holds here, without a promise and with headers that are put together once a second. `undefined` = not answered,
 * nothing was written or charged: the request goes the usual way.
 */
export function createFastPath({ hit, charge, cors, trustedProxies }: FastPathDeps) {
  const flat = new WeakMap<Hit['headers'], readonly string[]>();
  const flatHeaders = (own: Hit['headers']): readonly string[] => {
    const known = flat.get(own);
    if (known) return known;
    const common = { ...SECURITY_HEADERS, ...corsHeaders(cors, undefined) };
    const vary = common.vary === undefined ? {} : { vary: `${common.vary}, ${own.vary}` };
    const made = Object.entries({ ...common, ...own, ...vary }).flat();
    flat.set(own, made);
    return made;
  };

  return (req: IncomingMessage, res: ServerResponse): Answered | undefined => {
    const { method, headers: asked } = req;
    if ((method !== 'GET' && method !== 'HEAD') || asked.authorization !== undefined) return undefined;
    if (cors.origins !== '*' && asked.origin !== undefined) return undefined;
    const found = hit(req.url ?? '/', asked as Readonly<Record<string, string | undefined>>);
    if (!found) return undefined;
    const info = requestInfoOf(asked, req.socket.remoteAddress, trustedProxies);
    const standing = charge(info.clientIp, found.row.operation);
    if (standing === undefined) return undefined;
    const headers = flatHeaders(found.headers).slice();
    headers.push('x-correlation-id', info.correlationId);
    if (standing) {
      const budget = budgetHeaders({ standing }, WINDOW_SEC);
      for (const name in budget) headers.push(name, budget[name] ?? '');
    }
    res.writeHead(found.status, headers);
    const { body, text } = found.variant;
    if (found.status === 304 || method === 'HEAD') res.end();
    else if (text === undefined) res.end(body);
    else res.end(text, 'latin1');
    return { info, route: found.row.path };
  };
}
