import type { RpcCall } from './capabilities.ts';

const KB = 1024;
const MB = 1024 * KB;

/** Maximum size of the answer to one HTTP request of any kind. */
const MAX_ANSWER_BYTES = 32 * MB;
/** A call with 30 million gas returns at most 8 MB as text: memory costs gas. */
const MAX_CALL_BYTES = 8 * MB;
/** The positions of one wallet with thousands of them, as text. */
const CALL_BASE_BYTES = 2 * MB;
/**
 * Text of an answer per character of a call. A view in a multicall takes about 400 characters and returns a few words; this is
 * 12 KB of text for each.
 */
const CALL_BYTES_PER_CHARACTER = 32;

/** Maximum answer of the other methods. */
const METHOD_BYTES: Readonly<Record<string, number>> = {
  // A few calls with their events.
  eth_simulateV1: 4 * MB,
  // With the hashes of some thousand transactions.
  eth_getBlockByNumber: MB,
  eth_getCode: MB,
  eth_createAccessList: MB,
  // Some ten thousand events; a larger answer is asked for in smaller ranges of blocks.
  eth_getLogs: 8 * MB,
};
/** A number, a hash or a storage slot, or an error with its message. */
const DEFAULT_BYTES = 16 * KB;

/** Maximum plausible size of the answer to one HTTP request with these calls, bytes. */
export function maxAnswerBytes(calls: readonly RpcCall[]): number {
  const sum = calls.reduce((bytes, call) => bytes + bytesOf(call), 0);
  return Math.min(MAX_ANSWER_BYTES, sum);
}

function bytesOf({ method, params }: RpcCall): number {
  if (method !== 'eth_call') return METHOD_BYTES[method] ?? DEFAULT_BYTES;
  const [call] = (params ?? []) as readonly ({ readonly data?: string | undefined } | undefined)[];
  return Math.min(MAX_CALL_BYTES, CALL_BASE_BYTES + CALL_BYTES_PER_CHARACTER * (call?.data?.length ?? 0));
}
