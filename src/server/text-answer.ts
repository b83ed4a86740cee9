import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RestResponse } from '../rest/types.ts';
import type { Clock } from '../shared/clock.ts';
import { sendReady } from './head.ts';
import { WINDOW_SEC } from './limits.ts';
import type { Headers, ReadyHeads } from './ready-heads.ts';
import type { RequestInfo } from './request-info.ts';
import { budgetHeaders, type Standing } from './visit.ts';

/** A GraphQL answer without errors. */
export interface TextAnswer {
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly standing: Standing | null;
}

/** The same for any transport. */
export function responseOf({ contentType, body, standing }: TextAnswer): RestResponse {
  return { status: 200, headers: { ...ownHeaders(contentType), ...budgetHeaders({ standing }, WINDOW_SEC) }, body };
}

function ownHeaders(contentType: string): Headers {
  return { 'content-type': contentType, 'cache-control': 'no-store' };
}

const DATE_MS = 1_000;

/** Send such answers with heads that are ready, where that is possible; `false` = nothing was written. */
export function createTextSender({ heads, clock }: { readonly heads: ReadyHeads; readonly clock: Clock }) {
  const own = new Map<string, Headers>();
  let untilMs = 0;
  const ownOf = (contentType: string): Headers => {
    if (clock.now() >= untilMs) {
      own.clear();
      untilMs = clock.now() + DATE_MS;
    }
    const known = own.get(contentType) ?? ownHeaders(contentType);
    own.set(contentType, known);
    return known;
  };
  return (req: IncomingMessage, res: ServerResponse, answer: TextAnswer, info: RequestInfo): boolean => {
    if (!heads.fit(req, res)) return false;
    const { contentType, body, standing } = answer;
    const length = Buffer.byteLength(body);
    const head = heads.head(200, ownOf(contentType), info, standing, `content-length: ${length}\r\n`);
    // Text leaves in one write with the head, which is written as latin1: it has to be ASCII.
    const sent = typeof body !== 'string' || length === body.length ? body : Buffer.from(body);
    sendReady(res, 200, head, sent);
    return true;
  };
}
