import type { IncomingMessage, ServerResponse } from 'node:http';
import { WINDOW_SEC } from '../limits/limits.ts';
import type { RateLimitStatus } from '../limits/request-context.ts';
import type { Clock } from '../shared/clock.ts';
import type { RequestInfo } from '../shared/request-info.ts';
import { headLines, statusLine, takesReadyHeads } from './head.ts';
import { type CorsPolicy, corsHeaders, SECURITY_HEADERS } from './headers.ts';
import { KEEP_ALIVE_TIMEOUT_MS } from './listen.ts';

export type Headers = Readonly<Record<string, string>>;

export interface ReadyHeads {
  /** Whether the answer to a request may be sent with a head of these. */
  fit(req: IncomingMessage, res: ServerResponse): boolean;
  /**
   * The head of an answer, its empty line included.
   * @param own headers of this kind of answer: the same object for a second at most, because the date is kept with them
   * @param more lines of this answer alone
   */
  head(status: number, own: Headers, info: RequestInfo, rateLimit: RateLimitStatus | null, more?: string): string;
  /** What every answer carries, and the own headers of this one, for `writeHead`. */
  headers(own: Headers): Headers;
}

/** Keep the lines that all answers of one kind share as text, for as long as their date is true. */
export function createReadyHeads({ cors, clock }: { readonly cors: CorsPolicy; readonly clock: Clock }): ReadyHeads {
  const possible = takesReadyHeads();
  const common: Headers = { ...SECURITY_HEADERS, ...corsHeaders(cors, undefined) };
  const shared = new WeakMap<Headers, string>();
  const headers = (own: Headers): Headers => {
    const vary = common.vary === undefined || own.vary === undefined ? {} : { vary: `${common.vary}, ${own.vary}` };
    return { ...common, ...own, ...vary };
  };
  const sharedLines = (status: number, own: Headers): string => {
    let lines = shared.get(own);
    if (lines === undefined) {
      const date = new Date(clock.now()).toUTCString();
      const open = { date, connection: 'keep-alive', 'keep-alive': `timeout=${KEEP_ALIVE_TIMEOUT_MS / 1_000}` };
      lines = statusLine(status) + headLines({ ...headers(own), ...open });
      shared.set(own, lines);
    }
    return lines;
  };
  return {
    headers,
    // What ends with its answer says so in the head: the connection of an older client, or of a service that stops.
    fit: (req, res) => possible && res.shouldKeepAlive && (cors.origins === '*' || req.headers.origin === undefined),
    head: (status, own, { correlationId }, rateLimit, more = '') =>
      `${sharedLines(status, own)}${more}x-correlation-id: ${correlationId}\r\n${rateLimit ? budgetLines(rateLimit) : ''}\r\n`,
  };
}

/** `budgetHeaders` as lines. */
function budgetLines({ policy, limit, remaining, resetSec }: RateLimitStatus): string {
  return (
    `ratelimit-policy: "${policy}";q=${limit};w=${WINDOW_SEC}\r\n` +
    `ratelimit: "${policy}";r=${remaining};t=${resetSec}\r\n`
  );
}
