import type { IncomingMessage, ServerResponse } from 'node:http';
import { addressIdentity } from '../limits/budgets.ts';
import { WINDOW_SEC } from '../limits/limits.ts';
import { budgetHeaders, type RateLimitStatus } from '../limits/request-context.ts';
import type { RenderedRows } from '../rest/rendered.ts';
import { type RequestInfo, requestInfoOf } from '../shared/request-info.ts';
import { sendReady } from './head.ts';
import type { ReadyHeads } from './ready-heads.ts';
import type { Unread } from './unread-answers.ts';

export interface FastPathDeps {
  readonly hit: RenderedRows['hit'];
  /** Charge an address for an operation; `undefined` = too little is left of its budget. */
  readonly charge: (clientIp: string, operation: string) => Promise<RateLimitStatus | null | undefined>;
  readonly heads: ReadyHeads;
  readonly unread: Unread;
  /** Whether every origin may read every answer. */
  readonly anyOrigin: boolean;
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
 * holds here, with heads that are put together once a second. `undefined` = not answered and nothing was written: the request
 * goes the usual way.
 */
export function createFastPath({ hit, charge, heads, unread, anyOrigin, trustedProxies }: FastPathDeps) {
  return async (req: IncomingMessage, res: ServerResponse): Promise<Answered | undefined> => {
    const { method, headers: asked } = req;
    if ((method !== 'GET' && method !== 'HEAD') || asked.authorization !== undefined || asked.host === undefined)
      return undefined;
    if (!anyOrigin && asked.origin !== undefined) return undefined;
    const found = hit(req.url ?? '/', asked as Readonly<Record<string, string | undefined>>);
    if (!found) return undefined;
    const info = requestInfoOf(asked, req.socket.remoteAddress, trustedProxies);
    const { body, text } = found.variant;
    if (unread.refuses(addressIdentity(info.clientIp), body.length)) return undefined;
    const rateLimit = await charge(info.clientIp, found.row.operation);
    if (rateLimit === undefined) return undefined;
    const sent = found.status === 304 || method === 'HEAD' ? undefined : (text ?? body);
    if (heads.fit(req, res)) {
      sendReady(res, found.status, heads.head(found.status, found.headers, info, rateLimit), sent);
    } else {
      const own = { 'x-correlation-id': info.correlationId, ...budgetHeaders({ rateLimit }, WINDOW_SEC) };
      res.writeHead(found.status, { ...heads.headers(found.headers), ...own });
      if (typeof sent === 'string') res.end(sent, 'latin1');
      else res.end(sent);
    }
    return { info, route: found.row.path };
  };
}
