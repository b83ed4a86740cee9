import { once } from 'node:events';
import { createServer } from 'node:http';
import { encodeAbiParameters, encodeFunctionResult, type Hex, numberToHex, toFunctionSelector } from 'viem';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import { multicall3Abi } from '../../src/abi/multicall3.ts';
import type { NamedBlock } from '../../src/chain/reading.ts';
import type { Address } from '../../src/shared/ids.ts';

/**
 * Result of one inner call of a multicall: return data, a revert with a reason, or without one. `burn` = it uses up the
 * gas, so that every later call of its multicall fails without a reason.
 */
export type Answer = Hex | 'revert' | 'silence' | 'burn';
/** A throw fails the test. */
export type Contracts = (to: Address, data: Hex) => Answer;

export interface ScriptedNode {
  readonly url: string;
  /** HTTP requests received. */
  requests: number;
  /** Number of calls of each multicall, its frame included. */
  readonly multicalls: number[];
  /** Blocks of the calls. */
  readonly blocks: Set<string>;
  /** Unexpected requests. A test with an entry here has failed. */
  readonly unknown: string[];
  blockNumber: bigint;
  timestamp: bigint;
  chainId: number;
  /** Instead of answering: this status, or never. */
  broken: { readonly status: number; readonly headers?: Record<string, string> } | 'hang' | 'garbage' | null;
  /** Multicalls that the node refuses with its own error, e.g. out of gas. */
  refuses: (data: Hex) => boolean;
  /** Alteration of the answer to a multicall. */
  alters: (answer: Hex, requested: Hex) => Hex;
  /** Further methods of the node and their results. */
  readonly methods: Map<string, (params: readonly unknown[]) => unknown>;
  close(): Promise<void>;
}

interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** The newest block, with the fields used by readings. */
function headOf({ blockNumber, timestamp }: Pick<ScriptedNode, 'blockNumber' | 'timestamp'>) {
  return {
    number: numberToHex(blockNumber),
    timestamp: numberToHex(timestamp),
    hash: numberToHex(blockNumber, { size: 32 }),
  };
}

/** That block in the form of a reading. */
export function blockOf({
  blockNumber: number,
  timestamp,
}: Pick<ScriptedNode, 'blockNumber' | 'timestamp'>): NamedBlock {
  return { number, timestamp, hash: numberToHex(number, { size: 32 }), nodeIndex: 1 };
}

const TIMESTAMP = toFunctionSelector('getCurrentBlockTimestamp()');
const CHAIN_ID = toFunctionSelector('getChainId()');
/** The selector of Error(string). */
const REASON: Hex = '0x08c379a0';

/** Start a JSON-RPC node on loopback with one multicall contract and the contracts of `contracts`. */
export async function startScriptedNode(multicall3: Address, contracts: Contracts): Promise<ScriptedNode> {
  const word = (value: bigint): Hex => encodeAbiParameters([{ type: 'uint256' }], [value]);
  const inner = (to: Address, data: Hex): Answer => {
    if (to.toLowerCase() !== multicall3.toLowerCase()) return contracts(to, data);
    if (data === TIMESTAMP) return word(node.timestamp);
    if (data === CHAIN_ID) return word(BigInt(node.chainId));
    throw new Error(`multicall3 ${data}`);
  };
  const answer = ({ method, params }: RpcRequest): unknown => {
    if (method === 'eth_getBlockByNumber' && params?.[0] === 'latest') return headOf(node);
    const scripted = node.methods.get(method);
    if (scripted) return scripted(params ?? []);
    if (method !== 'eth_call') throw new Error(method);
    const [call, block] = params as [{ to?: Address; data: Hex }, string];
    node.blocks.add(block);
    if (call.to?.toLowerCase() !== multicall3.toLowerCase()) throw new Error(`eth_call to ${call.to}`);
    const { functionName, args } = decodeFunctionData({ abi: multicall3Abi, data: call.data });
    if (functionName !== 'aggregate3') throw new Error(functionName);
    node.multicalls.push(args[0].length);
    let isBurnt = false;
    const result = args[0].map(({ target, callData }) => {
      const returned = isBurnt ? 'silence' : inner(target, callData);
      isBurnt ||= returned === 'burn';
      if (returned === 'revert') return { success: false, returnData: REASON };
      if (returned === 'silence' || returned === 'burn') return { success: false, returnData: '0x' as const };
      return { success: true, returnData: returned };
    });
    return node.alters(encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result }), call.data);
  };
  const respond = (request: RpcRequest): unknown => {
    const [call] = (request.params ?? []) as [{ data: Hex }?];
    if (request.method === 'eth_call' && call && node.refuses(call.data)) {
      return { jsonrpc: '2.0', id: request.id, error: { code: -32000, message: 'out of gas' } };
    }
    try {
      return { jsonrpc: '2.0', id: request.id, result: answer(request) };
    } catch (error) {
      node.unknown.push(error instanceof Error ? error.message : String(error));
      return { jsonrpc: '2.0', id: request.id, error: { code: -32601, message: 'not in the script' } };
    }
  };
  const server = createServer((request, response) => {
    node.requests += 1;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (node.broken === 'hang') return;
      if (node.broken === 'garbage') return void response.end('<html>');
      if (node.broken) return void response.writeHead(node.broken.status, node.broken.headers).end();
      const body = JSON.parse(Buffer.concat(chunks).toString()) as RpcRequest | RpcRequest[];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Array.isArray(body) ? body.map(respond) : respond(body)));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const node: ScriptedNode = {
    url: `http://127.0.0.1:${address.port}`,
    requests: 0,
    multicalls: [],
    blocks: new Set(),
    unknown: [],
    methods: new Map(),
    blockNumber: 100n,
    timestamp: 1_700_000_000n,
    chainId: 1,
    broken: null,
    refuses: () => false,
    alters: (answer) => answer,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return node;
}
