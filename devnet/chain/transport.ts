import { type CustomTransport, custom, RpcRequestError } from 'viem';
import { sendHttp } from '../http.ts';

interface Call {
  readonly method: string;
  readonly params?: unknown;
}

interface Waiting {
  readonly call: Call;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface RpcAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const MAX_BATCH = 500;
const TIMEOUT_MS = 30_000;

/** Transport of a viem client to a local chain. Calls made in one turn travel as one request; the chain may run them in any order. */
export function localTransport(rpcUrl: string): CustomTransport {
  let waiting: Waiting[] = [];
  const sendAll = (): void => {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += MAX_BATCH) void sendBatch(rpcUrl, all.slice(at, at + MAX_BATCH));
  };
  const request = (call: Call): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(sendAll);
      waiting.push({ call, resolve, reject });
    });
  return custom({ request }, { retryCount: 0 });
}

/** Send calls in one request and settle each. Never rejects. */
async function sendBatch(rpcUrl: string, batch: readonly Waiting[]): Promise<void> {
  try {
    const calls = batch.map(({ call: { method, params } }, id) => ({ jsonrpc: '2.0', id, method, params }));
    const { status, bytes } = await sendHttp(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls.length === 1 ? calls[0] : calls),
      timeoutMs: TIMEOUT_MS,
    });
    if (status !== 200) throw new Error(`${rpcUrl} answered with status ${status}: ${bytes.toString().slice(0, 500)}`);
    const answered = JSON.parse(bytes.toString()) as RpcAnswer | readonly RpcAnswer[];
    const answers = new Map([answered].flat().map((answer) => [answer.id, answer] as const));
    for (const [id, { call, resolve, reject }] of batch.entries()) {
      const answer = answers.get(id);
      if (answer === undefined) reject(new Error(`${rpcUrl} left out the answer to ${call.method}`));
      else if (answer.error !== undefined)
        reject(new RpcRequestError({ body: { ...call }, error: answer.error, url: rpcUrl }));
      else resolve(answer.result);
    }
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
