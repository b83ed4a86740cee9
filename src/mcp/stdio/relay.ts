import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { isErrorCode } from '../../rest/envelope.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import { failedResult } from '../results.ts';

export interface RelayDeps {
  readonly endpoint: URL;
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** Write a message to the client. */
  readonly send: (message: JSONRPCMessage) => Promise<void>;
  /** Write a line for people. */
  readonly log: (line: string) => void;
}

export interface Relay {
  /** Relay a message of the client. Never rejects. */
  take(message: JSONRPCMessage): Promise<void>;
}

type Id = string | number;

/** Longer than the slowest build. */
const TIMEOUT_MS = 60_000;

/** The error of a tool whose service could not be reached. */
interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterSec?: number | undefined;
}

/**
 * Create the relay between a client on stdio and the endpoint of a service: each message is one request. A service that cannot
 * be asked is an error of the tool, so that the model reads the next step.
 */
export function createRelay({ endpoint, apiKey, fetch, send, log }: RelayDeps): Relay {
  const running = new Map<Id, AbortController>();
  let version: string | undefined;

  const ask = async (message: JSONRPCMessage, signal: AbortSignal): Promise<JSONRPCMessage | Failure | undefined> => {
    const response = await fetch(endpoint, {
      method: 'POST',
      redirect: 'error',
      headers: withoutUndefined({
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': version,
        authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}`,
      }) as Record<string, string>,
      body: JSON.stringify(message),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const text = await response.text();
    return text === '' && response.ok ? undefined : readAnswer(text, response);
  };

  const take = async (message: JSONRPCMessage): Promise<void> => {
    if ('method' in message && message.method === 'notifications/cancelled') {
      running.get(message.params?.requestId as Id)?.abort();
      return;
    }
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    const controller = new AbortController();
    if (id !== undefined) running.set(id, controller);
    try {
      const answer = await ask(message, controller.signal).catch((): Failure => unreachable(endpoint));
      // A cancelled request has no answer.
      if (controller.signal.aborted) return;
      const failed = answer !== undefined && 'code' in answer;
      if (failed) log(`${endpoint.origin}: ${answer.message}`);
      if (id === undefined || answer === undefined) return;
      if (!failed) version = versionOf(answer) ?? version;
      await send(failed ? failedAnswer(message, id, answer) : { ...answer, id });
    } catch (error) {
      log(`A message was not relayed: ${error instanceof Error ? error.message : 'unknown reason'}`);
    } finally {
      if (id !== undefined) running.delete(id);
    }
  };
  return { take };
}

/** Read a JSON-RPC answer, or the error that the service or a proxy before it answered instead. */
function readAnswer(text: string, { status, headers }: Response): JSONRPCMessage | Failure {
  const parsed = attemptJson(text);
  const { error, jsonrpc } = parsed as {
    readonly jsonrpc?: unknown;
    readonly error?: Readonly<Record<string, unknown>>;
  };
  // The service's own code is in the data of a refusal, and in the envelope that a flood is refused with.
  const { code } = (jsonrpc === undefined ? error : (error?.data as typeof error)) ?? {};
  if (jsonrpc === '2.0' && !isErrorCode(code)) return parsed as JSONRPCMessage;
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN);
  return {
    code: isErrorCode(code) ? code : 'upstream_unavailable',
    message: typeof error?.message === 'string' ? error.message : `The service answered HTTP ${status}.`,
    retryAfterSec: Number.isFinite(retryAfter) ? retryAfter : undefined,
  };
}

function attemptJson(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function unreachable({ origin }: URL): Failure {
  return {
    code: 'upstream_unavailable',
    message: `The service at ${origin} does not answer. Start it, or set MCP_URL to its address.`,
  };
}

/** A failure of the service as the result of a tool, or else as an error of the protocol. */
function failedAnswer(message: JSONRPCMessage, id: Id, failure: Failure): JSONRPCMessage {
  if ('method' in message && message.method === 'tools/call') {
    return { jsonrpc: '2.0', id, result: failedResult(failure) };
  }
  return { jsonrpc: '2.0', id, error: { code: -32_000, message: failure.message, data: failure } };
}

/** The version that the service answered an initialize message with, which later requests name. */
function versionOf(answer: JSONRPCMessage): string | undefined {
  const { protocolVersion } = 'result' in answer ? (answer.result as { readonly protocolVersion?: unknown }) : {};
  return typeof protocolVersion === 'string' ? protocolVersion : undefined;
}
