import { numberToHex } from 'viem';

/** Missing capabilities of a node. */
export interface Lacks {
  /** `eth_simulateV1` is unknown, crashes, or runs without PUSH0. */
  readonly simulate?: 'missing' | 'crashes' | 'no_push0';
  /** `eth_call` refuses or ignores code and state overrides. */
  readonly overrides?: 'refused' | 'ignored';
  /** Maximum requests in a batch; 1 = refuses batches. */
  readonly batch?: number;
  /** Logs are refused, as by a node whose plan is used up. */
  readonly logs?: 'refused';
  /** Blocks by hash are unknown. */
  readonly blockHash?: 'refused';
}

/** Alteration of a node's answers. */
export type Altered =
  | { readonly kind: 'pass' }
  | ({ readonly kind: 'lacks' } & Lacks)
  /** Highest block of the node. */
  | { readonly kind: 'lag'; readonly blockNumber: bigint }
  /** Its blocks have other hashes, and the hashes of the chain are unknown. */
  | { readonly kind: 'fork' };

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}
interface Row {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Ask a node and return its altered answer. */
export async function relay(target: string, body: string, mode: Altered): Promise<string> {
  const requested = JSON.parse(body) as Call | readonly Call[];
  const calls = Array.isArray(requested) ? (requested as readonly Call[]) : [requested as Call];
  if (mode.kind === 'lacks' && Array.isArray(requested) && calls.length > (mode.batch ?? Number.POSITIVE_INFINITY)) {
    return JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch too large' } });
  }
  const refusals = new Map<number, Row>();
  for (const call of calls) {
    const error = await refusalOf(target, call, mode);
    if (error) refusals.set(call.id, { id: call.id, error });
  }
  const passed = calls.filter(({ id }) => !refusals.has(id)).map((call) => sentAs(call, mode));
  const answered = passed.length === 0 ? [] : ((await send(target, passed)) as readonly Row[]);
  const byId = new Map(answered.map((row) => [row.id, row]));
  const rows = calls.map((call) => ({
    jsonrpc: '2.0',
    ...(refusals.get(call.id) ?? alteredRow(call, byId.get(call.id), mode)),
  }));
  return JSON.stringify(Array.isArray(requested) ? rows : rows[0]);
}

async function send(target: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(target, { method: 'POST', headers, body: JSON.stringify(body) });
  return answer.json();
}

async function refusalOf(target: string, { method, params = [] }: Call, mode: Altered): Promise<Row['error']> {
  const name = blockNamed(params);
  if (mode.kind === 'fork' && typeof name === 'object' && !isFake(name.blockHash)) return NO_HEADER;
  if (mode.kind === 'lag') {
    const number = typeof name === 'object' ? await numberOf(target, name.blockHash) : name;
    return number !== undefined && number > mode.blockNumber ? NO_HEADER : undefined;
  }
  if (mode.kind !== 'lacks') return undefined;
  if (method === 'eth_getLogs' && mode.logs === 'refused') return { code: -32005, message: 'request rate exceeded' };
  if (method === 'eth_simulateV1') {
    if (mode.simulate === 'missing')
      return { code: -32601, message: `the method ${method} does not exist/is not available` };
    // OffchainLabs/nitro issue 3372.
    if (mode.simulate === 'crashes') return { code: -32603, message: 'method handler crashed' };
  }
  if (method === 'eth_call' && params.length > 2 && mode.overrides === 'refused') {
    return { code: -32602, message: 'too many arguments, want at most 2' };
  }
  return typeof name === 'object' && mode.blockHash === 'refused'
    ? { code: -32602, message: 'invalid argument 1' }
    : undefined;
}

const NO_HEADER = { code: -32000, message: 'header not found' };

/** The block that a call names, by number or hash; `undefined` for a tag. */
function blockNamed(params: readonly unknown[]): bigint | { readonly blockHash: string } | undefined {
  for (const param of params) {
    if (typeof param === 'object' && param !== null && 'blockHash' in param)
      return { blockHash: String(param.blockHash) };
    if (typeof param === 'string' && /^0x[0-9a-f]{1,13}$/i.test(param)) return BigInt(param);
  }
  return undefined;
}

async function numberOf(target: string, blockHash: string): Promise<bigint | undefined> {
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByHash', params: [blockHash, false] };
  const { result } = (await send(target, call)) as { result: { number: string } | null };
  return result === null ? undefined : BigInt(result.number);
}

/** Hashes of the fork are the reversed hashes of the chain. */
const fake = (hash: string): string => `0xf0${[...hash.slice(4)].reverse().join('')}`;
const isFake = (hash: string): boolean => hash.startsWith('0xf0');

/** The request to the real node. */
function sentAs(call: Call, mode: Altered): Call {
  const { method, params = [] } = call;
  if (mode.kind === 'lacks' && mode.overrides === 'ignored' && method === 'eth_call')
    return { ...call, params: params.slice(0, 2) };
  if (mode.kind === 'lag') {
    return { ...call, params: params.map((param) => (param === 'latest' ? numberToHex(mode.blockNumber) : param)) };
  }
  if (mode.kind === 'fork' && typeof blockNamed(params) === 'object') {
    // It has the state of the chain at its newest block.
    return { ...call, params: params.map((param) => (isNamed(param) ? 'latest' : param)) };
  }
  return call;
}

function isNamed(param: unknown): boolean {
  return typeof param === 'object' && param !== null && 'blockHash' in param;
}

function alteredRow({ method }: Call, row: Row | undefined, mode: Altered): Row | undefined {
  if (mode.kind === 'fork' && method === 'eth_getBlockByNumber' && row?.result) {
    const block = row.result as { readonly hash: string };
    return { ...row, result: { ...block, hash: fake(block.hash) } };
  }
  if (mode.kind !== 'lacks' || mode.simulate !== 'no_push0' || method !== 'eth_simulateV1' || !row?.result) return row;
  // OffchainLabs/nitro issue 3270: every call runs into an opcode that `eth_call` knows.
  const error = { code: -32015, message: 'invalid opcode: PUSH0' };
  const failed = { status: '0x0', returnData: '0x', gasUsed: '0x0', logs: [], error };
  const blocks = row.result as readonly { readonly calls: readonly object[] }[];
  return { ...row, result: blocks.map((block) => ({ ...block, calls: block.calls.map(() => failed) })) };
}
