import { createTransport, type EIP1193RequestFn, RpcRequestError, type Transport } from 'viem';
import { createJsonRpc, type JsonRpcDeps, type RpcAnswer, type RpcCall } from './json-rpc.ts';

export interface BatchTransportDeps extends JsonRpcDeps {
  /** Calls in one HTTP request at most. */
  readonly batchSize: () => number;
  /** Body of one HTTP request at most, if it has more than one call. */
  readonly batchBytes: number;
  readonly timeoutMs: number;
  /** Further tries after a failed request. */
  readonly retryCount: number;
}

/** Batches below this are small: a round would be many requests, one waiting for the other. */
const SMALL_BATCH = 50;
/** Requests at a time to a node that takes small batches only; below what browsers and providers take of one client. */
const PARALLEL = 6;

interface Waiting {
  readonly call: RpcCall;
  readonly resolve: (answer: RpcAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Create the transport of a viem client in which calls issued in the same turn leave as one batch, read and written in slices. */
export function batchTransport(deps: BatchTransportDeps): Transport<'http', { url: string }> {
  const { url, timeoutMs, retryCount } = deps;
  const ask = gathering(deps);
  const request = async ({ method, params }: RpcCall, options?: { readonly signal?: AbortSignal | undefined }) => {
    const answer = await ask({ method, params }, options?.signal);
    // The call itself is not told: it may be a hundred kilobytes, and the error's text holds it.
    if (answer.error) throw new RpcRequestError({ body: { method }, error: { ...answer.error }, url });
    return answer.result;
  };
  return () =>
    createTransport(
      {
        key: 'http',
        name: 'Batched JSON-RPC',
        type: 'http',
        request: request as EIP1193RequestFn,
        retryCount,
        timeout: timeoutMs,
      },
      { url },
    );
}

/** Gather the calls of one turn, those of each signal for themselves: what is aborted together travels together. */
function gathering(deps: BatchTransportDeps) {
  const send = createJsonRpc(deps);
  const gathered = new Map<AbortSignal | undefined, Waiting[]>();
  const deliver = async (batch: readonly Waiting[], signal: AbortSignal | undefined): Promise<void> => {
    try {
      const answers = await send(
        batch.map(({ call }) => call),
        signal,
      );
      for (const [i, answer] of answers.entries()) batch[i]?.resolve(answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  /**
   * One request after the other: what is more than a batch is large, and the next is written while nothing else of it waits.
   * A node that takes small batches only is sent several at a time.
   */
  const leave = async (signal: AbortSignal | undefined): Promise<void> => {
    const all = gathered.get(signal) ?? [];
    gathered.delete(signal);
    const batches = batchesOf(all, deps);
    const width = deps.batchSize() < SMALL_BATCH ? PARALLEL : 1;
    for (let from = 0; from < batches.length; from += width) {
      await Promise.all(batches.slice(from, from + width).map((batch) => deliver(batch, signal)));
    }
  };
  return (call: RpcCall, signal: AbortSignal | undefined): Promise<RpcAnswer> =>
    new Promise((resolve, reject) => {
      const waiting = gathered.get(signal);
      if (waiting) {
        waiting.push({ call, resolve, reject });
        return;
      }
      gathered.set(signal, [{ call, resolve, reject }]);
      void deps.slicing.pause().then(() => leave(signal));
    });
}

function batchesOf(all: readonly Waiting[], { batchSize, batchBytes }: BatchTransportDeps): readonly Waiting[][] {
  const batches: Waiting[][] = [];
  const largest = batchSize();
  let bytes = 0;
  for (const waiting of all) {
    const more = sizeOf(waiting.call);
    const open = batches.at(-1);
    if (open && open.length < largest && bytes + more <= batchBytes) {
      open.push(waiting);
      bytes += more;
    } else {
      batches.push([waiting]);
      bytes = more;
    }
  }
  return batches;
}

/** About how many bytes a call is as JSON. Only calldata is ever long. */
function sizeOf({ params }: RpcCall): number {
  const [first] = Array.isArray(params) ? params : [];
  const data: unknown = typeof first === 'object' && first !== null && 'data' in first ? first.data : '';
  return OVERHEAD_BYTES + (typeof data === 'string' ? data.length : 0);
}

/** Method, id, addresses and block around the calldata. */
const OVERHEAD_BYTES = 250;
