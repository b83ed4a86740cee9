import {
  createPublicClient,
  custom,
  decodeFunctionData,
  encodeFunctionResult,
  type Hex,
  numberToHex,
  slice,
} from 'viem';
import { multicall3Abi } from '../src/abi/multicall3.ts';
import type { Chain, Market } from '../src/catalog/types.ts';
import type { NamedBlock, Reading } from '../src/chain/reading.ts';
import type { NodeCapabilities } from '../src/chain/rpc/capabilities.ts';
import type { ChainNodes } from '../src/chain/rpc/nodes.ts';
import type { Session } from '../src/chain/rpc/session.ts';
import type { Call } from '../src/chain/types.ts';
import type { ChainFacts } from '../src/domain/facts.ts';
import type { Address } from '../src/shared/ids.ts';
import type { BuiltCall } from '../src/transactions/types.ts';
import type { SwapQuotePort } from '../src/upstreams/types.ts';
import { CAPABLE } from '../test/chain/fixed-node.ts';
import { type ModelState, modelChain } from '../test/transactions/model/chain.ts';
import { functionsBySelector } from '../test/transactions/model/selectors.ts';
import type { ModelFill } from '../test/transactions/model/venues.ts';

export interface StubChain {
  readonly nodes: ChainNodes;
  /** Its only block. */
  readonly block: NamedBlock;
  readonly venue: SwapQuotePort;
  /** Number of sequential waits for an answer since the last call. */
  takeSteps(): number;
}

export interface StubChainInput {
  readonly chain: Chain;
  /** The market of all builds. */
  readonly market: Market;
  readonly facts: ChainFacts;
  readonly nowMs: number;
}

interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

const NOTHING = { collateral: 0n, debt: 0n };
const NO_POSITION: ModelState = { loop: NOTHING, basis: 0n, stock: NOTHING, received: 0n };
const FEED_ANSWER = 10n ** 8n;
const PRICE_SCALE = 10n ** 36n;
const GAS_USED: Hex = '0x30d40';
/** About as long as those of the venues. */
const CALLDATA_BYTES = 600;

/**
 * A chain and a swap venue that answer at once, so that only the service's cost is measured: the model of the tests behind the ABI
 * of the contracts. An answer is computed at the first request and cached.
 */
export function createStubChain(input: StubChainInput): StubChain {
  const { chain, nowMs } = input;
  const steps = countSteps();
  const { venue, fillOf } = createVenue(input, steps.later);
  const node = createNode(input, fillOf);
  const known = new Map<string, unknown>();
  const request = (call: RpcCall): Promise<unknown> => {
    const key = JSON.stringify(call);
    if (!known.has(key)) known.set(key, node(call));
    return steps.later(known.get(key));
  };
  const block: NamedBlock = {
    number: 100_000n,
    timestamp: BigInt(Math.floor(nowMs / 1_000)),
    hash: `0x${'11'.repeat(32)}`,
    nodeIndex: 1,
  };
  const capabilities: NodeCapabilities = { ...CAPABLE, chainId: chain.chainId };
  const reading: Reading = {
    client: createPublicClient({ cacheTime: 0, transport: custom({ request }, { retryCount: 0 }) }),
    block,
    at: numberToHex(block.number),
    limits: { callGas: capabilities.callGas, batchSize: 500 },
    capabilities: async () => capabilities,
    distrust: () => {},
  };
  const session: Session = { run: (work) => work(reading) };
  const nodes: ChainNodes = {
    chainId: chain.chainId,
    session: () => session,
    read: (work) => session.run(work),
    within: () => nodes,
    probe: async () => {},
    status: () => [],
  };
  return { nodes, block, venue, takeSteps: steps.take };
}

/** Answer in a later turn, so that parallel requests count as one step. */
function countSteps() {
  let waiting = 0;
  let steps = 0;
  return {
    async later<T>(value: T): Promise<T> {
      if (waiting === 0) steps += 1;
      waiting += 1;
      await new Promise((resolve) => setImmediate(resolve));
      waiting -= 1;
      return value;
    },
    take(): number {
      const taken = steps;
      steps = 0;
      return taken;
    },
  };
}

/** A venue that quotes and pays the oracle's price less 3 basis points. */
function createVenue({ chain, market, facts, nowMs }: StubChainInput, later: <T>(value: T) => Promise<T>) {
  const [source, router] = Object.entries(chain.swapRouters).flatMap(([name, [first]]) =>
    first ? [[name, first]] : [],
  )[0] as [SwapQuotePort['source'], Address];
  const fills = new Map<Hex, ModelFill>();
  const price = priceOf(facts, market.oracle);
  const venue: SwapQuotePort = {
    source,
    serves: () => true,
    quote({ tokenIn, tokenOut, amountIn, feeBps }) {
      const isBought = tokenIn === market.loan.address && tokenOut === market.collateral.address;
      if (!isBought) throw new Error('the stub venue sells the collateral of its market for the loan token');
      const amountOut = (((amountIn * PRICE_SCALE) / price) * 9_997n) / 10_000n;
      const calldata = numberToHex(amountIn, { size: CALLDATA_BYTES });
      fills.set(calldata, { tokenOut, router, simulated: amountOut, onChain: amountOut });
      const expiresAtMs = nowMs + 60_000;
      return later({ source, feeBps, router, amountIn, amountOut, calldata, value: 0n, expiresAtMs });
    },
  };
  const fillOf = (calldata: Hex): ModelFill => {
    const fill = fills.get(calldata);
    if (!fill) throw new Error(`the stub venue did not quote ${calldata}`);
    return fill;
  };
  return { venue, fillOf };
}

/** The JSON-RPC methods that a build calls. */
function createNode({ chain, market, facts, nowMs }: StubChainInput, fillOf: (calldata: Hex) => ModelFill) {
  const timestamp = BigInt(Math.floor(nowMs / 1_000));
  const model = modelChain({
    chain,
    market,
    before: NO_POSITION,
    venues: { ports: [], fillOf },
    priceOf: (oracle) => priceOf(facts, oracle),
    timestamp,
  });
  const view = (call: Call, state: ModelState): Hex => {
    const { data } = call;
    const { item } = functionOf(data);
    const answers: Readonly<Record<string, () => unknown>> = {
      // A multicall may contain another one.
      aggregate3: () => {
        const { args } = decodeFunctionData({ abi: multicall3Abi, data });
        const rows = (args?.[0] ?? []) as readonly { target: Address; callData: Hex }[];
        return rows.map(({ target, callData }) => ({
          success: true,
          returnData: view({ to: target, data: callData }, state),
        }));
      },
      getCurrentBlockTimestamp: () => timestamp,
      getChainId: () => BigInt(chain.chainId),
      latestRoundData: () => [1n, FEED_ANSWER, timestamp, timestamp, 1n],
    };
    const result = answers[item.name]?.() ?? model.answer(call, state);
    // Wallets have no code.
    return result === null ? '0x' : encodeFunctionResult({ abi: [item], functionName: item.name, result } as never);
  };
  const simulate = (calls: readonly Call[]) => {
    const isView = calls.map(({ data }) => functionOf(data).isView);
    const ended = model.run(
      calls.filter((_, i) => !isView[i]).map(({ data }) => ({ action: actionOf(data) })),
      'simulated',
    );
    let done = 0;
    return calls.map((call, i) => {
      if (isView[i]) {
        return { status: '0x1', returnData: view(call, model.stateIn(ended, done)), gasUsed: GAS_USED, logs: [] };
      }
      done += 1;
      return { status: '0x1', returnData: '0x', gasUsed: GAS_USED, logs: ended.logs[done - 1] };
    });
  };
  return ({ method, params }: RpcCall): unknown => {
    if (method === 'eth_call') {
      const [call, , overrides = {}] = params as [Call, unknown, Record<string, { stateDiff?: Record<Hex, Hex> }>?];
      // Every token keeps its balances in the first slot that a search for them tries.
      const [slot] = Object.values(overrides[call.to]?.stateDiff ?? {});
      return slot ?? view(call, NO_POSITION);
    }
    if (method !== 'eth_simulateV1') throw new Error(`the stub chain does not know ${method}`);
    const [{ blockStateCalls }] = params as [{ blockStateCalls: readonly { calls: readonly Call[] }[] }];
    return blockStateCalls.map(({ calls }) => ({ timestamp: numberToHex(timestamp), calls: simulate(calls) }));
  };
}

function functionOf(data: Hex) {
  const item = functionsBySelector.get(slice(data, 0, 4));
  if (!item) throw new Error(`the stub chain does not know ${data.slice(0, 10)}`);
  return { item, isView: item.stateMutability === 'view' || item.name === 'aggregate3' };
}

/** A call as the model runs it: its function and its arguments by name. */
function actionOf(data: Hex): BuiltCall['action'] {
  const { item } = functionOf(data);
  const { args = [] } = decodeFunctionData({ abi: [item], data });
  return { type: item.name, args: Object.fromEntries(item.inputs.map(({ name }, i) => [name, args[i]])) };
}

function priceOf({ groups }: ChainFacts, oracle: Address): bigint {
  const price = groups.oracle.items.get(oracle)?.value.price;
  if (price === undefined) throw new Error(`the stub chain has no price of ${oracle}`);
  return price;
}
