import {
  createPublicClient,
  custom,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  type Hex,
  numberToHex,
} from 'viem';
import { multicall3Abi } from '../src/abi/multicall3.ts';
import type { Chain } from '../src/catalog/types.ts';
import type { NamedBlock, Reading } from '../src/chain/reading.ts';
import type { NodeCapabilities } from '../src/chain/rpc/capabilities.ts';
import type { ChainNodes } from '../src/chain/rpc/nodes.ts';
import type { Session } from '../src/chain/rpc/session.ts';
import type { ChainFacts } from '../src/domain/facts.ts';
import type { SwapQuotePort } from '../src/upstreams/types.ts';

export interface StubChain {
  readonly nodes: ChainNodes;
  /** The only block that it has. */
  readonly block: NamedBlock;
  readonly venue: SwapQuotePort;
  /** How many times somebody waited for an answer before asking on, since the last call of this. */
  takeSteps(): number;
}

interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

const SELECTORS = {
  aggregate3: '0x82ad56cb',
  latestRoundData: '0xfeaf968c',
  market: '0x5c60e39a',
  rateAtTarget: '0x01977b57',
  price: '0xa035b1fe',
  balanceOf: '0x70a08231',
  allowance: '0xdd62ed3e',
  getEthBalance: '0x4d2301cc',
  getCurrentBlockTimestamp: '0x0f28c97d',
  getChainId: '0x3408e470',
  sUser: '0xd1b8811a',
} as const;
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';
const CAPABLE: NodeCapabilities = {
  chainId: null,
  simulateV1: 'works',
  stateOverrides: 'works',
  batchSize: 500,
  callGas: 50_000_000n,
  blockHash: 'missing',
  blockTags: { safe: 'works', finalized: 'works' },
  logRange: 10_000,
};
const RICH = 10n ** 30n;
const FEED_ANSWER = 10n ** 8n;
const PRICE_SCALE = 10n ** 36n;

const words = (...values: bigint[]): Hex =>
  encodeAbiParameters(
    values.map(() => ({ type: 'uint256' })),
    values,
  );

/**
 * A chain and a swap venue that answer at once from facts, so that what is measured is our own cost. Answers are worked out
 * when first asked; later the same question finds the same answer.
 */
export function createStubChain(chain: Chain, facts: ChainFacts, nowMs: number): StubChain {
  const { lendingState, oracle } = facts.groups;
  const answerOf = (to: string, data: Hex): Hex => {
    const selector = data.slice(0, 10);
    if (selector === SELECTORS.aggregate3) {
      const { args } = decodeFunctionData({ abi: multicall3Abi, data });
      const rows = (args?.[0] ?? []) as readonly { target: string; callData: Hex }[];
      // A multicall may contain another one.
      const result = rows.map(({ target, callData }) => ({ success: true, returnData: answerOf(target, callData) }));
      return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result });
    }
    const market = chain.markets.find(({ id }) => data.slice(10, 74) === id.slice(2).toLowerCase());
    const state = market && lendingState.items.get(market.id)?.value;
    if (selector === SELECTORS.market && state) {
      const { totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares, lastUpdate, fee } = state;
      return words(totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares, lastUpdate, fee);
    }
    if (selector === SELECTORS.rateAtTarget && state) return words(state.rateAtTarget ?? 0n);
    if (selector === SELECTORS.price) {
      for (const [address, { value }] of oracle.items) {
        if (address.toLowerCase() === to.toLowerCase()) return words(value.price);
      }
    }
    if (selector === SELECTORS.balanceOf || selector === SELECTORS.getEthBalance) return words(RICH);
    if (selector === SELECTORS.allowance) return words(0n);
    const nowSec = BigInt(Math.floor(nowMs / 1_000));
    if (selector === SELECTORS.getCurrentBlockTimestamp) return words(nowSec);
    if (selector === SELECTORS.latestRoundData) return words(1n, FEED_ANSWER, nowSec, nowSec, 1n);
    if (selector === SELECTORS.getChainId) return words(BigInt(chain.chainId));
    // Wallets have no code.
    if (selector === SELECTORS.sUser) return '0x';
    throw new Error(`the stub chain does not know ${selector} of ${to}`);
  };
  const answer = ({ method, params }: RpcCall): unknown => {
    if (method === 'eth_simulateV1') {
      const [{ blockStateCalls }] = params as [{ blockStateCalls: { calls: unknown[] }[] }];
      return blockStateCalls.map(({ calls }) => ({
        calls: calls.map(() => ({ status: '0x1', returnData: '0x', gasUsed: '0x30d40' })),
      }));
    }
    if (method !== 'eth_call') throw new Error(`the stub chain does not know ${method}`);
    const [{ to, data }] = params as [{ to: string; data: Hex }];
    return answerOf(to, data);
  };

  let waiting = 0;
  let steps = 0;
  /** Answer in a later turn, so that what is asked side by side counts as one step. */
  const later = async <T>(value: T): Promise<T> => {
    if (waiting === 0) steps += 1;
    waiting += 1;
    await new Promise((resolve) => setImmediate(resolve));
    waiting -= 1;
    return value;
  };
  const known = new Map<string, unknown>();
  const request = (call: RpcCall): Promise<unknown> => {
    const key = call.method === 'eth_call' ? (call.params[0] as { data: Hex; to: Hex }) : undefined;
    if (!key) return later(answer(call));
    const name = `${key.to} ${key.data}`;
    if (!known.has(name)) known.set(name, answer(call));
    return later(known.get(name));
  };

  const pairOf = (loan: string, collateral: string) =>
    chain.markets.find((one) => one.loan.address === loan && one.collateral.address === collateral);
  const [source = 'AggregatorOne', routers = []] = Object.entries(chain.swapRouters)[0] ?? [];
  const venue: SwapQuotePort = {
    source: source as SwapQuotePort['source'],
    serves: () => true,
    quote: ({ tokenIn, tokenOut, amountIn }) => {
      const loanIn = pairOf(tokenIn, tokenOut);
      const loanOut = pairOf(tokenOut, tokenIn);
      const price = oracle.items.get((loanIn ?? loanOut)?.oracle ?? ZERO_ADDRESS)?.value.price;
      const router = routers?.[0];
      if (!price || !router) throw new Error('the stub venue swaps between loan token and collateral only');
      const fair = loanIn ? (amountIn * PRICE_SCALE) / price : (amountIn * price) / PRICE_SCALE;
      const amountOut = (fair * 999n) / 1_000n;
      return later({
        source: source as SwapQuotePort['source'],
        feeBps: 0,
        router,
        amountIn,
        amountOut,
        calldata: `0x${'5a'.repeat(600)}` as Hex,
        value: 0n,
        expiresAtMs: nowMs + 60_000,
      });
    },
  };
  const block: NamedBlock = {
    number: 100_000n,
    timestamp: BigInt(Math.floor(nowMs / 1_000)),
    hash: `0x${'11'.repeat(32)}`,
    toldBy: 1,
  };
  const reading: Reading = {
    client: createPublicClient({ cacheTime: 0, transport: custom({ request }, { retryCount: 0 }) }),
    block,
    at: numberToHex(block.number),
    limits: { callGas: CAPABLE.callGas, batchSize: 500 },
    capabilities: async () => CAPABLE,
    distrust: () => {},
  };
  const session: Session = { run: (work) => work(reading) };
  return {
    nodes: {
      chainId: chain.chainId,
      session: () => session,
      read: (work) => session.run(work),
      within: () => {
        throw new Error('the stub chain knows one patience');
      },
      probe: async () => {},
      status: () => [],
    },
    block,
    venue,
    takeSteps: () => {
      const taken = steps;
      steps = 0;
      return taken;
    },
  };
}
