import type { FailureReason } from '../../domain/facts.ts';

/** An error of a node, as JSON-RPC answers it. */
export interface NodeError {
  readonly code: number;
  /** Free words of the node or of the gateway in front of it. */
  readonly message: string;
}

/**
 * The meaning of an error of a node. `missing`: the node does not have the block or its state; another one, or the same one later,
 * may. `range`: `eth_getLogs` of a smaller range may be answered.
 */
export type NodeErrorKind =
  | Extract<FailureReason, 'rate_limited' | 'missing' | 'timeout' | 'rejected' | 'server_error'>
  | 'range';

/** Codes for too many requests that have no other meaning. */
const LIMIT_CODES: readonly number[] = [429, -32003, -32007, -32029, -32055];
/** Codes for too many requests that some nodes use otherwise: their words decide first. */
const MOSTLY_LIMIT_CODES: readonly number[] = [-32005, -32011, 15, 35];
/** EIP-1474's resource that is not found; a history that was pruned. */
const MISSING_CODES: readonly number[] = [-32001, 4444];
/** Codes of `eth_getLogs` for parameters, which are always the range here. */
const RANGE_CODES: readonly number[] = [-32600, -32602, -32614, -32701];
const TIMEOUT_CODES: readonly number[] = [30];
/** A revert quotes the contract, whose words say nothing about the node. */
const REVERT_CODE = 3;
const REVERT = /\brevert/i;
/** Words about the transaction itself; some nodes use a code of limits for them. */
const TRANSACTION =
  /\b(gas (required|limit|price|fee|cap|uint64)|gas exceeds|block gas|insufficient funds|nonce too|(max|priority) fee|base ?fee|opcode\b|code size\b|stack (limit|overflow|underflow))/i;

const LIMIT =
  /rate.?limit|(call|request) rate|too many (concurrent )?(request|call|connection|quer)|concurrent request|(request|call|usage|tier|plan|daily|monthly|hourly|rps|cu|credit|bandwidth|concurrency) (request |usage |count )?(limit|cap)|requests? (count |quota |limit )?.{0,30}(exceed|limit)|(limit|exceed\w*|maximum|max|number) .{0,20}requests?|(requests?|calls?|credits?|units?|\d) ?(per|\/) ?(s|sec|second|min|minute|hour|day|month)\b|per second|throughput|throttl|compute unit|quota|credits?\b|capacity|slow down|limit will reset|over rate|\brps\b|allowance|out of requests|exceeded .{0,40}(plan|tier|bandwidth)/i;
const MISSING =
  /\b(block|header)\b.{0,80}(not found|not be found|not (yet )?(available|exist|known|synced|imported|mined|produced|reached)|unavailable|does(n't| not) exist|out of range|in the future)|header for hash not found|(missing|unknown|future|no such|unfinalized) (block|header|data)|(find|have|locate|get|load|retrieve) (the )?(requested )?(block|header)|\b(blocks?|header|0x[0-9a-f]{64}|\d+)\b.{0,80}(could|can) ?not be found|not (currently )?(in (the )?)?canonical|missing trie node|no state (available|found)|\bstate .{0,80}(not (yet )?(available|found)|unavailable|pruned|missing)|(world|historical) state|state histor|pruned|pruning|\bhistory .{0,20}not available|(block|data) .{0,20}too old|syncing|not available (at|for) (the|this) .{0,20}(block|height)|within the range of available|(ahead of|above|past|after|beyond|exceeds?|(greater|higher|later|newer) than) (the )?((current|last|latest|chain|executed) )*(head|tip|accepted|latest|latest block|block number)\b|archive|invalid block range(?!.{0,40}(max|limit|exceed|large|wide|up to))/i;
const TIMEOUT = /time[sd]?[- ]?out|deadline|took (too )?long|execution aborted|time limit|context cancell?ed/i;
const KEY =
  /api.?key|(un|not )authori[sz]ed|forbidden|access (is )?denied|authenticat|(invalid|missing|wrong|expired|unknown) .{0,12}(key|token|credential|project|jwt)|key .{0,12}(invalid|expired|disabled|revoked|missing)|not whitelisted|project id|permission|(account|project|subscription|user|token|app) .{0,20}(suspended|disabled|inactive|expired|blocked)|not enabled for/i;
/** A word of size near a word of a bound, in either order. */
const SIZE = String.raw`(ranges?|intervals?|spans?|distance|blocks?|results?|logs?|events?|response|topics|data)\b`;
const BOUND = String.raw`(exceed|too (large|wide|big|long|many|much)|max(imum)?\b|limit|more than|up to|over\b|at most|allowed|not supported|narrow|reduce|smaller|restrict)`;
const RANGE = new RegExp(`block range|range of blocks|\\b${SIZE}.{0,60}${BOUND}|${BOUND}.{0,60}\\b${SIZE}`, 'i');

/** A bound in blocks is about the range, also beside words for a limit of requests. */
const BLOCK_BOUND = /\b(limited|up to|at most|max(imum)?|over|exceeds?)\b.{0,20}\b[\d,]+k? ?-?blocks?\b/i;

/** Names of methods, which contain words of the stems. */
const METHOD_NAMES = /\b(eth|net|debug|trace|web3)_\w+/gi;

/**
 * Classify an error of a node: by a code that has one meaning, then by a few stems of words, because gateways use codes and words
 * as they like, then by the other codes. An unknown error is one of the server.
 */
export function classifyNodeError({ code, message }: NodeError, method?: string): NodeErrorKind {
  if (code === REVERT_CODE || REVERT.test(message) || TRANSACTION.test(message)) return 'server_error';
  if (LIMIT_CODES.includes(code)) return 'rate_limited';
  const words = message.replace(METHOD_NAMES, '');
  const isLogs = method === 'eth_getLogs';
  const isMostlyLimit = MOSTLY_LIMIT_CODES.includes(code);
  const isRange = isLogs && RANGE.test(words);
  const isOfRange = isRange && (BLOCK_BOUND.test(words) || (!isMostlyLimit && /\brange\b/i.test(words)));
  if (LIMIT.test(words) && !isOfRange) return 'rate_limited';
  if (MISSING.test(words)) return 'missing';
  if (isRange) return 'range';
  if (TIMEOUT.test(words) || TIMEOUT_CODES.includes(code)) return 'timeout';
  if (KEY.test(words)) return 'rejected';
  if (isMostlyLimit) return 'rate_limited';
  if (MISSING_CODES.includes(code)) return 'missing';
  return isLogs && RANGE_CODES.includes(code) ? 'range' : 'server_error';
}

const WAIT = /\b(?:in|after) (\d{1,5}) ?s(?:ec(?:ond)?s?)?\b/i;

/** Read the time until the next try from the words of a limit, seconds; `undefined` = not said. */
export function waitSecOf({ message }: NodeError): number | undefined {
  const sec = WAIT.exec(message)?.[1];
  return sec === undefined ? undefined : Number(sec);
}
