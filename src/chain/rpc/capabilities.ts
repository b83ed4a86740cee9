import { type Hex, isHex, numberToHex } from 'viem';
import { NODE_PROBE_CODE } from '../../abi/generated/node-probe.ts';
import type { Address } from '../../shared/ids.ts';
import { classifyNodeError, type NodeErrorKind } from './node-error.ts';

export interface RpcCall {
  readonly method: string;
  readonly params?: readonly unknown[] | undefined;
}

/** A node's answer to one call. */
export type RpcAnswer =
  | { readonly result: unknown; readonly error?: undefined }
  | { readonly error: { readonly code: number; readonly message: string }; readonly result?: undefined };

/** Sends calls in one HTTP request and returns the answers in their order. Rejects when there is none. */
export type SendRpc = (calls: readonly RpcCall[]) => Promise<readonly RpcAnswer[]>;

/**
 * Result of a probe. `works`: the result was correct. `missing`: the node does not know the feature, or ignores it. `broken`:
 * it fails or returns a wrong result. `unknown`: no answer.
 */
export type Support = 'works' | 'missing' | 'broken' | 'unknown';

/** Capabilities of one node, by its answers to the probes. */
export interface NodeCapabilities {
  /** The chain id that it returns; `null` = not known. */
  readonly chainId: number | null;
  /** `eth_simulateV1` with code and state overrides, on the opcodes and precompiles of the chain, events included. */
  readonly simulateV1: Support;
  /** Code overrides in `eth_call`. */
  readonly stateOverrides: Support;
  /** Accepted batch size among those tried; 1 = no batches, `null` = not known. */
  readonly batchSize: number | null;
  /** Gas of an `eth_call` without a gas parameter; `null` = not known. */
  readonly callGas: bigint | null;
  /** Block parameter by hash (EIP-1898). */
  readonly blockHash: Support;
  readonly blockTags: { readonly safe: Support; readonly finalized: Support };
  /** Accepted block range of one `eth_getLogs` among those tried; 0 = none, `null` = not known. */
  readonly logRange: number | null;
}

/** Largest first. The largest is below geth's default limit of 1,000. */
export const BATCH_SIZES: readonly number[] = [500, 100, 20, 5];
const LOG_WINDOWS: readonly number[] = [10_000, 2_000, 100, 10];
/** An unused account, at which the probe's code runs. */
const UNUSED_ACCOUNT: Address = '0x5b1A700000000000000000000000000000005B1B';
/** GAS PUSH0 MSTORE PUSH1 32 PUSH0 RETURN: returns the remaining gas. */
const GAS_CODE: Hex = '0x5a5f5260205ff3';
const CODE_OVERRIDE = { [UNUSED_ACCOUNT]: { code: NODE_PROBE_CODE } };
/** JSON-RPC codes: unknown method; invalid parameters. */
const NOT_KNOWN: readonly number[] = [-32601, -32602, -32004];
const NOT_THERE = /not (found|available|supported|exist|implemented|whitelisted)|unsupported|unknown method/i;

/** Find the largest batch that a node answers completely. 1 = none, `null` = no answer. */
async function probeBatchSize(send: SendRpc): Promise<number | null> {
  for (const size of BATCH_SIZES) {
    const answers = await send(Array.from({ length: size }, () => ({ method: 'eth_chainId' }))).catch(() => []);
    if (answers.length === size && answers.every(({ error }) => error === undefined)) return size;
  }
  return (await ask(send, { method: 'eth_chainId' })) === undefined ? null : 1;
}

/** Probe the capabilities of one node, with some twenty small requests that write nothing. Never throws. */
export async function probeNode(send: SendRpc): Promise<NodeCapabilities> {
  const newest = await ask(send, { method: 'eth_getBlockByNumber', params: ['latest', false] });
  const head = headOf(newest);
  const expected = runOf(await call(send, { data: NODE_PROBE_CODE }, 'latest'));
  const [chainId, batchSize, callGas, blockHash, stateOverrides, simulateV1, safe, finalized, logRange] =
    await Promise.all([
      ask(send, { method: 'eth_chainId' }).then(chainIdOf),
      probeBatchSize(send),
      call(send, { data: GAS_CODE }, 'latest').then(wordOf),
      probeBlockHash(send, head),
      probeOverrides(send, expected),
      probeSimulation(send, expected),
      probeTag(send, 'safe'),
      probeTag(send, 'finalized'),
      probeLogs(send, head),
    ]);
  return {
    chainId,
    simulateV1,
    stateOverrides,
    batchSize,
    callGas,
    blockHash,
    blockTags: { safe, finalized },
    logRange,
  };
}

/**
 * The code at an overridden address has to return the same as the creation code. A node that ignores overrides finds no code
 * there.
 */
async function probeOverrides(send: SendRpc, expected: Hex | undefined): Promise<Support> {
  const answer = await call(send, { from: UNUSED_ACCOUNT, to: UNUSED_ACCOUNT, data: '0x' }, 'latest', CODE_OVERRIDE);
  if (answer?.error === undefined && answer?.result === '0x') return 'missing';
  return judge(answer, expected, () => wordIn(answer?.result));
}

/**
 * Two runs in one simulated block: each has to succeed, the first with the result of `eth_call` and its event, the second with
 * the first's state.
 */
async function probeSimulation(send: SendRpc, expected: Hex | undefined): Promise<Support> {
  const run = { from: UNUSED_ACCOUNT, to: UNUSED_ACCOUNT, data: '0x' };
  const block = { stateOverrides: CODE_OVERRIDE, calls: [run, run] };
  const answer = await ask(send, { method: 'eth_simulateV1', params: [{ blockStateCalls: [block] }, 'latest'] });
  return judge(answer, expected, () => {
    const [first, second] = simulatedCalls(answer?.result);
    const isSound = [first, second].every((done) => done?.status === '0x1' && done.logs?.length === 1);
    return isSound && second?.returnData !== first?.returnData ? first?.returnData : undefined;
  });
}

interface SimulatedCall {
  readonly status?: unknown;
  readonly returnData?: Hex | undefined;
  readonly logs?: readonly unknown[] | undefined;
}

function simulatedCalls(result: unknown): readonly (SimulatedCall | undefined)[] {
  const [block] = Array.isArray(result) ? (result as { readonly calls?: unknown }[]) : [];
  return Array.isArray(block?.calls) ? (block.calls as SimulatedCall[]) : [];
}

async function probeBlockHash(send: SendRpc, head: Head | undefined): Promise<Support> {
  if (!head) return 'unknown';
  const answer = await call(send, { data: GAS_CODE }, { blockHash: head.hash });
  return judge(answer, 'answered', () => (wordIn(answer?.result) === undefined ? undefined : 'answered'));
}

async function probeTag(send: SendRpc, tag: 'safe' | 'finalized'): Promise<Support> {
  const answer = await ask(send, { method: 'eth_getBlockByNumber', params: [tag, false] });
  if (answer?.error === undefined && answer?.result === null) return 'missing';
  return judge(answer, 'answered', () => (headOf(answer) === undefined ? undefined : 'answered'));
}

async function probeLogs(send: SendRpc, head: Head | undefined): Promise<number | null> {
  if (!head) return null;
  for (const window of LOG_WINDOWS) {
    // On a chain that is shorter than the window, only the existing blocks are tested.
    const blocks = head.number + 1n < BigInt(window) ? head.number + 1n : BigInt(window);
    const range = { fromBlock: numberToHex(head.number + 1n - blocks), toBlock: numberToHex(head.number) };
    const answer = await ask(send, { method: 'eth_getLogs', params: [{ address: UNUSED_ACCOUNT, ...range }] });
    if (answer === undefined) return null;
    if (Array.isArray(answer.result)) return Number(blocks);
  }
  return 0;
}

function judge(answer: RpcAnswer | undefined, expected: unknown, read: () => unknown): Support {
  if (answer === undefined || expected === undefined) return 'unknown';
  if (answer.error) {
    const { code, message } = answer.error;
    return NOT_KNOWN.includes(code) || NOT_THERE.test(message) ? 'missing' : 'broken';
  }
  return read() === expected ? 'works' : 'broken';
}

interface Head {
  readonly number: bigint;
  readonly hash: Hex;
}

function headOf(answer: RpcAnswer | undefined): Head | undefined {
  const block = answer?.result as { readonly number?: unknown; readonly hash?: unknown } | null | undefined;
  if (!isHex(block?.number) || !isHex(block.hash) || block.number.length > MAX_QUANTITY_DIGITS) return undefined;
  return { number: BigInt(block.number), hash: block.hash };
}

/** Digits of the largest plausible block number, with its 0x. */
const MAX_QUANTITY_DIGITS = 15;

function call(send: SendRpc, params: object, block: unknown, overrides?: object): Promise<RpcAnswer | undefined> {
  return ask(send, { method: 'eth_call', params: [params, block, ...(overrides ? [overrides] : [])] });
}

/** Errors that say nothing about a capability. */
const UNANSWERED: readonly NodeErrorKind[] = ['rate_limited', 'timeout', 'rejected'];

/** `undefined` = no answer. A refusal by the provider, such as too many requests, does not count as one. */
async function ask(send: SendRpc, request: RpcCall): Promise<RpcAnswer | undefined> {
  try {
    const [answer] = await send([request]);
    return answer?.error && UNANSWERED.includes(classifyNodeError(answer.error, request.method)) ? undefined : answer;
  } catch {
    return undefined;
  }
}

function chainIdOf(answer: RpcAnswer | undefined): number | null {
  const id = answer?.result;
  return isHex(id) && id.length <= MAX_QUANTITY_DIGITS ? Number(BigInt(id)) : null;
}

function runOf(answer: RpcAnswer | undefined): Hex | undefined {
  return wordIn(answer?.result);
}

function wordOf(answer: RpcAnswer | undefined): bigint | null {
  const word = wordIn(answer?.result);
  return word === undefined ? null : BigInt(word);
}

function wordIn(result: unknown): Hex | undefined {
  return isHex(result) && result.length === 66 ? result : undefined;
}
