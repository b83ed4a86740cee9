import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Hit, RenderedRows } from '../rest/rendered.ts';
import type { Clock } from '../shared/clock.ts';
import { headLines, sendReady, statusLine, takesReadyHeads } from './head.ts';
import { type CorsPolicy, corsHeaders, SECURITY_HEADERS } from './headers.ts';
import { WINDOW_SEC } from './limits.ts';
import { KEEP_ALIVE_TIMEOUT_MS } from './listen.ts';
import { type RequestInfo, requestInfoOf } from './request-info.ts';
import { budgetHeaders, type Standing } from './visit.ts';

export interface FastPathDeps {
  readonly hit: RenderedRows['hit'];
  /** Charge an address for an operation; `undefined` = its budget does not allow it, and nothing was charged. */
  readonly charge: (clientIp: string, operation: string) => Standing | null | undefined;
  readonly cors: CorsPolicy;
  readonly trustedProxies: number;
  readonly clock: Clock;
}

/** What was answered, for the log and the metrics. */
export interface Answered {
  readonly info: RequestInfo;
  /** Path template. */
  readonly route: string;
}

type Headers = Readonly<Record<string, string>>;

/**
 * Build the short way for public rows whose bytes are ready: everything that holds for other requests (budget, ids, headers)
 * holds here, without a promise and with heads that are put together once a second. `undefined` = not answered,
 * nothing was written or charged: the request goes the usual way.
 */
export function createFastPath({ hit, charge, cors, trustedProxies, clock }: FastPathDeps) {
  const readyHeads = takesReadyHeads();
  const heads = new WeakMap<Hit['headers'], string>();
  /** The lines that all answers of one second and one variant share. */
  const headOf = ({ status, headers: own }: Hit): string => {
    let head = heads.get(own);
    if (head === undefined) {
      const date = new Date(clock.now()).toUTCString();
      const open = { date, connection: 'keep-alive', 'keep-alive': `timeout=${KEEP_ALIVE_TIMEOUT_MS / 1_000}` };
      head = statusLine(status) + headLines({ ...commonHeaders(cors, own), ...open });
      heads.set(own, head);
    }
    return head;
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
    const { body, text } = found.variant;
    const sent = found.status === 304 || method === 'HEAD' ? undefined : (text ?? body);
    // What ends with this answer says so in its head: the connection of an older client, or of a service that stops.
    if (readyHeads && res.shouldKeepAlive) {
      const lines = `x-correlation-id: ${info.correlationId}\r\n${standing ? budgetLines(standing) : ''}\r\n`;
      sendReady(res, found.status, headOf(found) + lines, sent);
    } else {
      const own = { 'x-correlation-id': info.correlationId, ...budgetHeaders({ standing }, WINDOW_SEC) };
      res.writeHead(found.status, { ...commonHeaders(cors, found.headers), ...own });
      if (typeof sent === 'string') res.end(sent, 'latin1');
      else res.end(sent);
    }
    return { info, route: found.row.path };
  };
}

function commonHeaders(cors: CorsPolicy, own: Headers): Headers {
  const common = { ...SECURITY_HEADERS, ...corsHeaders(cors, undefined) };
  const vary = common.vary === undefined ? {} : { vary: `${common.vary}, ${own.vary}` };
  return { ...common, ...own, ...vary };
}

/** `budgetHeaders` as lines. */
function budgetLines({ policy, limit, remaining, resetSec }: Standing): string {
  return (
    `ratelimit-policy: "${policy}";q=${limit};w=${WINDOW_SEC}\r\n` +
    `ratelimit: "${policy}";r=${remaining};t=${resetSec}\r\n`
  );
}
