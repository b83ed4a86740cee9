import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AppliedFault } from './faults.ts';
import type { SimResponse } from './types.ts';

/** Wait. Injected, so that tests do not wait. Rejects when `signal` aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

const JSON_TYPE = 'application/json; charset=utf-8';
const PAGE =
  '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking your browser.</body></html>';

/**
 * Send an answer, with the faults of the connection that a body cannot show. Resolves when it is sent or abandoned.
 * @returns The status that went out; `null` when none did.
 */
export async function deliver(
  response: ServerResponse,
  answer: SimResponse,
  fault: AppliedFault | undefined,
  tools: { readonly sleep: Sleep; readonly signal: AbortSignal; readonly nowMs: number },
): Promise<number | null> {
  const text = JSON.stringify(answer.body);
  switch (fault?.kind) {
    case 'hang':
      return null; // open until the client, or the end of the world, closes it
    case 'latency':
      await tools.sleep(fault.ms, tools.signal);
      return send(response, answer.status, text);
    case 'rateLimited': {
      const after = retryAfter(fault, tools.nowMs);
      return send(response, 429, text, after === undefined ? {} : { 'retry-after': after });
    }
    case 'answer':
      return send(response, answer.status, text, fault.headers);
    case 'malformed':
      return send(response, 200, text.slice(0, Math.max(1, Math.floor(text.length / 2))));
    case 'html':
      return send(response, 200, PAGE, { 'content-type': 'text/html; charset=utf-8' });
    case 'reset':
      head(response, answer.status, text);
      response.write(text.slice(0, Math.floor(text.length / 2)), () => response.socket?.resetAndDestroy());
      return answer.status;
    case 'slowDrip':
      head(response, answer.status, text);
      await drip(response, Buffer.from(text), fault, tools);
      return answer.status;
    default:
      return send(response, answer.status, text, answer.headers);
  }
}

async function drip(
  response: ServerResponse,
  bytes: Buffer,
  fault: { readonly chunkBytes: number; readonly everyMs: number },
  tools: { readonly sleep: Sleep; readonly signal: AbortSignal },
): Promise<void> {
  for (let at = 0; at < bytes.length; at += fault.chunkBytes) {
    if (!response.write(bytes.subarray(at, at + fault.chunkBytes)))
      await once(response, 'drain', { signal: tools.signal });
    await tools.sleep(fault.everyMs, tools.signal);
  }
  response.end();
}

function send(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): number {
  head(response, status, text, headers);
  response.end(text);
  return status;
}

function head(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': JSON_TYPE, 'content-length': Buffer.byteLength(text), ...headers });
}

function retryAfter(
  fault: { readonly retryAfterSec?: number | undefined; readonly asDate?: boolean | undefined },
  nowMs: number,
): string | undefined {
  if (fault.retryAfterSec === undefined) return undefined;
  return fault.asDate === true
    ? new Date(nowMs + fault.retryAfterSec * 1000).toUTCString()
    : String(fault.retryAfterSec);
}
