import { type Address, type Hex, maxUint256, parseAbi } from 'viem';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { marketByKey } from '../../devnet/chain/seed-plans.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import type { NodeCapabilities } from '../../src/chain/rpc/capabilities.ts';
import { createChainNodes } from '../../src/chain/rpc/nodes.ts';
import type { Database } from '../../src/database/client.ts';
import { createMarketMarkRepository } from '../../src/database/market-marks.ts';
import {
  createPositionHistoryRepository,
  type PositionHistoryRepository,
} from '../../src/database/position-history.ts';
import { createChainIndexer } from '../../src/indexer/chain-indexer.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { alice, leverageCall, type World } from '../contracts/world.ts';

export const MARKET = 'sUSDe/PYUSD 91.5';
/** After all blocks of the chain. */
export const NOW_MS = Date.UTC(2026, 9, 1);

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}
/** Replaces the answer of a node; `undefined` = the answer of the chain. */
export type Answering = (call: RpcCall) => { result?: unknown; error?: unknown } | undefined;
/** Changes the answer of the chain. */
export type Changing = (call: RpcCall, result: unknown) => unknown;

/** Fetch of a node that answers some calls itself. */
export function nodeFetch(answering: Answering, changing: Changing = (_call, result) => result): typeof fetch {
  return async (input, init) => {
    const sent = JSON.parse(String(init?.body));
    const calls = [sent].flat() as (RpcCall & { id: number })[];
    const own = new Map(calls.flatMap((call) => [[call.id, answering(call)] as const].filter(([, given]) => given)));
    const forwarded = calls.filter(({ id }) => !own.has(id));
    const answers = new Map<number, object>([...own].map(([id, given]) => [id, { jsonrpc: '2.0', id, ...given }]));
    if (forwarded.length > 0) {
      const response = await fetch(input, { ...init, body: JSON.stringify(forwarded) });
      for (const answer of (await response.json()) as { id: number; result?: unknown }[]) {
        const call = forwarded.find(({ id }) => id === answer.id) as RpcCall;
        answers.set(answer.id, 'result' in answer ? { ...answer, result: changing(call, answer.result) } : answer);
      }
    }
    return Response.json(Array.isArray(sent) ? calls.map(({ id }) => answers.get(id)) : answers.get(sent.id));
  };
}

const CAPABILITIES: NodeCapabilities = {
  chainId: 1,
  simulateV1: 'works',
  stateOverrides: 'works',
  batchSize: 100,
  callGas: null,
  blockHash: 'works',
  blockTags: { safe: 'works', finalized: 'works' },
  logRange: 8,
};

export interface IndexerOptions {
  readonly fetch?: typeof fetch;
  /** Several nodes of the chain instead of one. The first is used, as long as it answers. */
  readonly nodes?: readonly (typeof fetch)[];
  readonly nowMs?: () => number;
  readonly take?: (requests: number) => Promise<boolean>;
  readonly confirmationSec?: number | undefined;
  /** Blocks in one request for logs; default 8. */
  readonly logRange?: number;
  /** Changes the repository, e.g. one that breaks. */
  readonly history?: (history: PositionHistoryRepository) => PositionHistoryRepository;
}

/** Let the first node be chosen: the others answer their newest block after it has got another request. */
function inOrder([first, ...others]: readonly (typeof fetch)[]): readonly (typeof fetch)[] {
  const isHead = (body: unknown) => String(body).includes('"latest"');
  let release = () => {};
  let isChosen = Promise.resolve();
  const chosen: typeof fetch = (input, init) => {
    if (!isHead(init?.body)) release();
    else {
      isChosen = new Promise((resolve) => {
        release = resolve;
      });
    }
    return (first as typeof fetch)(input, init);
  };
  const late = others.map((other): typeof fetch => async (input, init) => {
    if (isHead(init?.body)) await isChosen;
    return other(input, init);
  });
  return [chosen, ...late];
}

/** The chain with the market of these tests as a stock market: every account that holds something in it has a stock leg. */
function withStockMarket(row: World['row']): World['row'] {
  return {
    ...row,
    markets: row.markets.map((market) =>
      market.id === marketByKey(row, MARKET).id ? { ...market, kind: 'stock' as const } : market,
    ),
  };
}

/** An indexer of the world's chain, as a process that has just started. */
export function newIndexer(world: World, db: Database, options: IndexerOptions = {}) {
  const clock = { now: options.nowMs ?? (() => NOW_MS) };
  const fetches = inOrder(options.nodes ?? [options.fetch ?? fetch]);
  const nodes = createChainNodes({
    chainId: 1,
    urls: fetches.map(() => world.chain.rpcUrl),
    clock,
    logger: silentLogger,
    retryCount: 0,
    probe: async () => ({ ...CAPABILITIES, logRange: options.logRange ?? CAPABILITIES.logRange }),
    fetchOf: (place) => fetches[place - 1] as typeof fetch,
  });
  const history = createPositionHistoryRepository(db);
  return createChainIndexer({
    nodes,
    chain: withStockMarket(world.row),
    history: options.history?.(history) ?? history,
    marks: createMarketMarkRepository(db, clock),
    clock,
    logger: silentLogger,
    confirmationSec: options.confirmationSec ?? 0,
    take: options.take ?? (async () => true),
  });
}

export const signal = new AbortController().signal;

/** The stored rows of the chain. The oldest block that was read depends on the ranges: older ones have nothing to add. */
export async function stored(db: Database) {
  const events = await db
    .selectFrom('position_events')
    .selectAll()
    .orderBy('block_number')
    .orderBy('log_index')
    .execute();
  const { to_block, is_whole } = await db.selectFrom('indexer_cursor').selectAll().executeTakeFirstOrThrow();
  const marks = await db
    .selectFrom('market_marks')
    .select(['market_id', 'block_number', 'block_time', 'price', 'borrow_assets', 'borrow_shares'])
    .where('is_sample', '=', false)
    .orderBy('block_number')
    .orderBy('market_id')
    .execute();
  return { events, range: { to_block, is_whole }, marks };
}

export async function clear(db: Database): Promise<void> {
  for (const table of ['position_events', 'indexer_cursor', 'indexer_blocks', 'market_marks'] as const) {
    await db.deleteFrom(table).execute();
  }
}

/** Actions of a wallet on its first position. */
export function actions(world: World, wallet = alice) {
  const { flashLeverage } = world;
  const market = world.market(MARKET);
  const { collateral, loan } = market;
  const call = (data: `0x${string}`) => world.send({ from: wallet, to: flashLeverage, data });
  const whole = (token: { readonly decimals: number }, amount: bigint) => amount * 10n ** BigInt(token.decimals);
  return {
    open: (ltvPct = '70', amount = 1_000n) => world.open(wallet, MARKET, whole(collateral, amount), ltvPct),
    supply: async (amount: bigint) => {
      await world.approve(collateral.symbol, wallet, flashLeverage, whole(collateral, amount));
      return call(leverageCall('supplyCollateral', [wallet, 0n, whole(collateral, amount)]));
    },
    withdraw: (amount: bigint) => call(leverageCall('withdrawCollateral', [0n, whole(collateral, amount)])),
    repay: async (amount: bigint) => {
      await world.chain.mint(loan, wallet, whole(loan, amount));
      await world.approve(loan.symbol, wallet, flashLeverage, whole(loan, amount));
      return call(leverageCall('repay', [wallet, 0n, whole(loan, amount), 0n]));
    },
    borrow: (amount: bigint) => call(leverageCall('borrow', [0n, whole(loan, amount)])),
    increase: async (amount: bigint) => {
      const { swapData } = await world.swap(loan.symbol, collateral.symbol, whole(loan, amount), flashLeverage);
      return call(leverageCall('increaseLeverage', [0n, whole(loan, amount), swapData, 0n]));
    },
    /** Sell a part of the collateral, as a fraction of 100; 100 closes the position. */
    sell: async (percent: bigint) => {
      const { collateral: held } = await world.position(wallet);
      const sold = (held * percent) / 100n;
      const { swapData } = await world.swap(collateral.symbol, loan.symbol, sold, flashLeverage);
      return call(leverageCall('deleverage', [0n, percent === 100n ? 0n : sold, swapData, 0n]));
    },
    approveAll: () => world.approve(collateral.symbol, wallet, flashLeverage, maxUint256),
  };
}

const morphoAbi = parseAbi([
  'struct MarketParams { address loanToken; address collateralToken; address oracle; address irm; uint256 lltv; }',
  'function supplyCollateral(MarketParams params, uint256 assets, address onBehalf, bytes data)',
  'function withdrawCollateral(MarketParams params, uint256 assets, address onBehalf, address receiver)',
  'function borrow(MarketParams params, uint256 assets, uint256 shares, address onBehalf, address receiver)',
  'function repay(MarketParams params, uint256 assets, uint256 shares, address onBehalf, bytes data)',
  'function liquidate(MarketParams params, address borrower, uint256 seizedAssets, uint256 repaidShares, bytes data)',
]);

/** Actions of a wallet on its own account at the lending protocol: its stock leg. */
export function ownActions(world: World, wallet: Address) {
  const { morphoBlue } = world.row.contracts;
  const market = world.market(MARKET);
  const params = marketParams(market);
  const call = (data: Hex, from = wallet) => world.send({ from, to: morphoBlue, data });
  const encode = (functionName: string, args: readonly unknown[]) =>
    encodeFunctionData({ abi: morphoAbi, functionName, args: [params, ...args] } as never);
  const fund = async (token: 'collateral' | 'loan', amount: bigint, of = wallet) => {
    await world.chain.mint(market[token], of, amount);
    await world.approve(market[token].symbol, of, morphoBlue, amount);
  };
  return {
    supply: async (amount: bigint) => {
      await fund('collateral', amount);
      return call(encode('supplyCollateral', [amount, wallet, '0x']));
    },
    withdraw: (amount: bigint) => call(encode('withdrawCollateral', [amount, wallet, wallet])),
    borrow: (amount: bigint) => call(encode('borrow', [amount, 0n, wallet, wallet])),
    repay: async (amount: bigint, shares = 0n) => {
      await fund('loan', amount);
      return call(encode('repay', [shares === 0n ? amount : 0n, shares, wallet, '0x']));
    },
    liquidate: async (by: Address, seized: bigint) => {
      await fund('loan', 10n ** 30n, by);
      return call(encode('liquidate', [wallet, seized, 0n, '0x']), by);
    },
  };
}
