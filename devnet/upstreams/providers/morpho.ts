import { buildSchema, GraphQLError, GraphQLScalarType, graphql, Kind, parse } from 'graphql';
import type { Market, Token } from '../../../src/catalog/index.ts';
import { parseMarketId } from '../../../src/shared/ids.ts';
import { fieldsOf, ok } from '../respond.ts';
import { DAY_MS, fraction } from '../series.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';

/** More top-level fields than this are refused as too complex. */
const MAX_ALIASES = 30;
const DEFAULT_HISTORY_DAYS = 180;
const INTERVAL_MS: Readonly<Record<string, number>> = { HOUR: 3_600_000, DAY: DAY_MS, WEEK: 7 * DAY_MS };

const schema = buildSchema(/* GraphQL */ `
  scalar BigInt
  scalar Address
  scalar MarketId
  enum TimeseriesInterval { HOUR DAY WEEK }
  input TimeseriesOptions { startTimestamp: Int, endTimestamp: Int, interval: TimeseriesInterval }
  type FloatDataPoint { x: Float!, y: Float }
  type Asset { address: Address!, symbol: String!, name: String!, decimals: Int!, chain: Chain! }
  type Chain { id: Int!, network: String! }
  type MarketState { borrowApy: Float!, supplyApy: Float!, utilization: Float!, supplyAssets: BigInt!, borrowAssets: BigInt!, liquidityAssets: BigInt!, timestamp: BigInt! }
  type MarketHistory {
    borrowApy(options: TimeseriesOptions): [FloatDataPoint!]
    supplyApy(options: TimeseriesOptions): [FloatDataPoint!]
  }
  type PublicAllocatorConfig { fee: BigInt! }
  type Vault { address: Address!, name: String!, publicAllocatorConfig: PublicAllocatorConfig }
  type PublicAllocatorSharedLiquidity { assets: BigInt!, vault: Vault!, withdrawMarket: Market!, supplyMarket: Market! }
  type Market {
    id: ID!, marketId: MarketId!, uniqueKey: MarketId!, lltv: BigInt!, oracleAddress: Address!, irmAddress: Address!
    loanAsset: Asset!, collateralAsset: Asset, chain: Chain!, state: MarketState, historicalState: MarketHistory
    publicAllocatorSharedLiquidity: [PublicAllocatorSharedLiquidity!]
  }
  type Query {
    marketById(marketId: String!, chainId: Int): Market!
    marketByUniqueKey(uniqueKey: String!, chainId: Int): Market!
  }
`);

// As in the real API: a number within the range of JavaScript, otherwise a string.
const bigInt = schema.getType('BigInt');
if (bigInt instanceof GraphQLScalarType) {
  bigInt.serialize = (value) => {
    const units = BigInt(value as bigint);
    return units <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(units) : units.toString();
  };
}

interface HistoryArgs {
  readonly options?: {
    readonly startTimestamp?: number;
    readonly endTimestamp?: number;
    readonly interval?: string;
  } | null;
}

export const morpho: SimulatedProvider = {
  base: '/morpho/graphql',
  handle,
  shape: { values: ['y', 'assets'], times: ['x'], record: ['data'] },
  refusal: (status, message) => ({ errors: [{ message, extensions: { code: status } }], data: null }),
};

async function handle(request: SimRequest, world: World): Promise<SimResponse> {
  const { query, variables, operationName } = fieldsOf(request.body);
  if (request.method !== 'POST' || typeof query !== 'string') return refused('Must provide query string.');
  const fields = topLevelFields(query);
  if (fields !== undefined && fields > MAX_ALIASES)
    return refused(`Query is too complex: ${fields} fields, maximum ${MAX_ALIASES}.`);
  const result = await graphql({
    schema,
    source: query,
    rootValue: {
      marketById: (args: { marketId: string; chainId?: number }) => marketBody(world, args.marketId, args.chainId),
      marketByUniqueKey: (args: { uniqueKey: string; chainId?: number }) =>
        marketBody(world, args.uniqueKey, args.chainId),
    },
    variableValues: fieldsOf(variables),
    operationName: typeof operationName === 'string' ? operationName : undefined,
  });
  // An invalid document is not executed: no `data`.
  return result.data === undefined ? { status: 400, body: result } : ok(result);
}

function refused(message: string): SimResponse {
  return { status: 400, body: { errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] } };
}

function topLevelFields(query: string): number | undefined {
  try {
    const operations = parse(query).definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
    return Math.max(...operations.map((operation) => operation.selectionSet.selections.length));
  } catch {
    return undefined; // the execution reports its error
  }
}

function marketBody(world: World, id: string, chainId = 1) {
  const market = world.catalog.market(chainId, parseMarketId(id));
  if (market === undefined) {
    throw new GraphQLError('No results matching given parameters', { extensions: { code: 'NOT_FOUND', status: 404 } });
  }
  return describeMarket(world, market);
}

function describeMarket(world: World, market: Market) {
  const { chainId, id } = market;
  const chain = { id: chainId, network: world.catalog.chain(chainId)?.name ?? '' };
  const lending = () => world.chain(chainId).lending;
  const history = (side: 'borrowApy' | 'supplyApy') => async (args: HistoryArgs) =>
    historyOf(world, `${side} ${id}`, (await lending().now(market))[side], args);
  return {
    id: `${chainId}-${id}`,
    marketId: id,
    uniqueKey: id,
    lltv: market.lltv,
    oracleAddress: market.oracle,
    irmAddress: market.irm,
    loanAsset: { ...assetOf(market.loan), chain },
    collateralAsset: { ...assetOf(market.collateral), chain },
    chain,
    state: async () => {
      const now = await lending().now(market);
      return {
        borrowApy: now.borrowApy,
        supplyApy: now.supplyApy,
        utilization: now.totalSupplyAssets === 0n ? 0 : Number(now.totalBorrowAssets) / Number(now.totalSupplyAssets),
        supplyAssets: now.totalSupplyAssets,
        borrowAssets: now.totalBorrowAssets,
        liquidityAssets: now.totalSupplyAssets - now.totalBorrowAssets,
        timestamp: Math.floor(world.clock.now() / 1000),
      };
    },
    historicalState: { borrowApy: history('borrowApy'), supplyApy: history('supplyApy') },
    publicAllocatorSharedLiquidity: async () => {
      const sources = await lending().sharedLiquidity(market);
      return sources.map(({ assets, vault, vaultName, feeWei, withdrawMarketId }) => ({
        assets,
        vault: { address: vault, name: vaultName, publicAllocatorConfig: { fee: feeWei } },
        withdrawMarket: () => marketBody(world, withdrawMarketId, chainId),
        supplyMarket: () => marketBody(world, id, chainId),
      }));
    },
  };
}

function assetOf({ address, symbol, name, decimals }: Token) {
  return { address, symbol, name, decimals };
}

/** Points oldest first, one per interval, ending with the rate of now. */
function historyOf(world: World, key: string, present: number, { options }: HistoryArgs): { x: number; y: number }[] {
  const nowSec = Math.floor(world.clock.now() / 1000);
  const stepSec = (INTERVAL_MS[options?.interval ?? 'DAY'] ?? DAY_MS) / 1000;
  const end = Math.min(options?.endTimestamp ?? nowSec, nowSec);
  const start = options?.startTimestamp ?? end - DEFAULT_HISTORY_DAYS * 86_400;
  const phase = fraction(key) * 2 * Math.PI;
  const times: number[] = [];
  for (let x = Math.ceil(start / stepSec) * stepSec; x < end; x += stepSec) times.push(x);
  return [...times, end].map((x) => {
    const age = (nowSec - x) / 86_400;
    const waves = 0.18 * Math.sin(age / 11 + phase) + 0.07 * Math.sin(age / 2.3 + 2 * phase);
    return { x, y: present * (1 + waves * (1 - Math.exp(-age / 5))) };
  });
}
