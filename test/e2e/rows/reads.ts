import type { Json, TestService } from '../../support/service.ts';
import { OPS } from '../../support/service.ts';
import { allNodes } from '../known.ts';
import { asContract, STRATEGIES_QUERY } from '../reads/strategy-contract.ts';
import type { Name, Table } from './compare.ts';

/** The same question to GraphQL as a client writes it, and the table of names. */
export interface Row extends Table {
  /** Headers of the key that the row needs; default: the key of ops. */
  readonly key?: Record<string, string>;
  readonly ask: (service: TestService, example: Example) => Promise<Json>;
}
export interface Example {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: Json;
}

/** The data of a document without errors. */
export async function dataOf(
  service: TestService,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Json> {
  const { body } = await service.graphql(query, variables, OPS);
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return body.data;
}
export const chainOf = ({ query }: Example) => Number(query?.chainId ?? 1);
const chainsOf = ({ query }: Example) => (query?.chainId === undefined ? {} : { chainIds: [Number(query.chainId)] });
const FRESHNESS = 'freshness { asOf status }';
const AGE = '{ asOf staleAfterSec staleForSec }';
const MEANS = '{ avg30dPct avg60dPct avg90dPct }';

/** How old a list is: as its oldest item. */
function oldestOf(ages: readonly Json[]): Json {
  const [oldest] = ages.toSorted((a, b) => Date.parse(a.asOf) - Date.parse(b.asOf));
  return oldest && { asOf: oldest.asOf, status: oldest.status };
}

const AGED: readonly Name[] = [
  [/^(chains\.\d+\.)?asOf$/, '$1freshness.asOf'],
  [/^(chains\.\d+\.)?stale$/, '$1freshness.status', 'isStale'],
];

const strategies: Row = {
  ask: async (service, example) => {
    const chainId = chainOf(example);
    const nodes = await allNodes(service, STRATEGIES_QUERY, 'strategies', { chainId });
    const { strategies } = await dataOf(
      service,
      `query ($chainId: ChainId!) { strategies(chainIds: [$chainId], first: 1) { asOf totalCount missingFacts { groups: factGroups strategies { id: strategyId symbol waitingFor } } } }`,
      { chainId },
    );
    const { asOf, totalCount: count, missingFacts } = strategies;
    const listed = nodes.filter(({ visibility }) => visibility.listed).map(asContract);
    return { chainId, asOf, count, missing: missingFacts[0], strategies: listed };
  },
};

const strategy: Row = {
  ask: async (service, { params }) => {
    const nodes = await allNodes(service, STRATEGIES_QUERY, 'strategies', { chainId: 1 });
    return asContract(nodes.find(({ strategyId }) => strategyId === params?.id));
  },
};

const MARKETS = `query ($first: Int!, $after: String, $chainIds: [ChainId!]) { markets(first: $first, after: $after, chainIds: $chainIds) { pageInfo { hasNextPage endCursor } nodes {
  marketId chainId kind correlated curator listed irm lltvWad utilizationWad oraclePriceAsOf
  collateral { address symbol displaySymbol name decimals category isPt maturesAt } loan { address symbol displaySymbol name decimals category isPt maturesAt }
  oracle { address type priceE36 readAt { blockNumber blockAt } }
  state { totalSupplyAssets totalSupplyShares totalBorrowAssets totalBorrowShares lastAccrualAt feeWad rateAtTargetWad borrowRateWad readAt { blockNumber blockAt } }
  totalSupplyAssets totalBorrowAssets totalSupplyShares totalBorrowShares liquidityAssets
  borrowApyPct netBorrowApyPct quarterlyBorrowApyPct collateralApyPct collateralApySource effectiveCollateralApyPct
  borrowIncentive { aprPct campaigns { campaignId rewardSymbol aprPct startsAt endsAt url } } collateralIncentive { aprPct campaigns { campaignId rewardSymbol aprPct startsAt endsAt url } }
  ltvLimits { liquidationPct maxPct safePct } fees { yieldFeePct depositFeePct treasury freshness ${AGE} }
  deployment { source freshness ${AGE} paused supported correlated liquidationBufferPct }
  supplyUsd liquidityUsd publicAllocatorLiquidityUsd collateralPrice { usd source freshness { asOf } } loanPrice { usd source freshness { asOf } }
  exitLiquidity { slippages { sizeUsd slippagePct } } sharedLiquidity { vaultAddress vaultName withdrawMarketId assets feeWei }
  means { collateralApy ${MEANS} effectiveCollateralApy ${MEANS} netBorrowApy ${MEANS} leverageApy ${MEANS} }
  freshness { borrow ${AGE} oracle ${AGE} collateralApy ${AGE} exitLiquidity ${AGE} }
  warnings { code field value message } gaps { field reason message }
} } }`;

const markets: Row = {
  ask: async (service, example) => {
    const nodes = await allNodes(service, MARKETS, 'markets', chainsOf(example));
    const list = await dataOf(
      service,
      'query ($chainIds: [ChainId!]) { markets(first: 1, chainIds: $chainIds) { asOf totalCount missingFacts { chainId factGroups strategies { strategyId symbol waitingFor } } } }',
      chainsOf(example),
    );
    const { asOf, totalCount: count, missingFacts: missing } = list.markets;
    return { asOf, count, missing, markets: nodes };
  },
  names: [
    [/^(missing\.\d+\.)groups/, '$1factGroups'],
    [/^(missing\.\d+\.strategies\.\d+\.)id$/, '$1strategyId'],
    [/^(markets\.\d+\.)id$/, '$1marketId'],
    [/^(markets\.\d+\.)visible$/, '$1listed'],
    [/^(markets\.\d+\.)(lltv|utilization)$/, '$1$2Wad'],
    [/(collateral|loan)\.maturity$/, '$1.maturesAt'],
    [/oracle\.price$/, 'oracle.priceE36'],
    [/(oracle|state)\.blockNumber$/, '$1.readAt.blockNumber'],
    [/^(markets\.\d+\.)(oracle|state)\.asOf$/, '$1$2.readAt.blockAt'],
    [/state\.lastUpdate$/, 'state.lastAccrualAt'],
    [/state\.(fee|rateAtTarget|borrowRate)$/, 'state.$1Wad'],
    [/(campaigns\.\d+\.)id$/, '$1campaignId'],
    [/(campaigns\.\d+\.)symbol$/, '$1rewardSymbol'],
    [/(\.)(liquidation|max|safe)(Ltv)Pct$/, '$1ltvLimits.$2Pct'],
    [/Price\.asOf$/, 'Price.freshness.asOf'],
    [/exitSlippage\.(\d+)$/, 'exitLiquidity.slippages.$1.slippagePct'],
    [/(sharedLiquidity\.\d+\.)vault$/, '$1vaultAddress'],
    [/trailing\.quarterlyBorrowApyPct$/, 'quarterlyBorrowApyPct'],
    [/trailing\.(\w+)Pct\.(avg\d+d)$/, 'means.$1.$2Pct'],
    [/warnings\.(\d+)\.field$/, 'warnings.$1.field', 'fieldOfWarning'],
  ],
  restOnly: [[/freshness\.exitLiquidity\.asOf = 1970-01-01T00:00:00.000Z$/, 'never measured: null in the schema']],
  typedOnly: [
    [/^markets\.\d+\.gaps\./, 'an unknown value is absent from /v1, and has its reason in the schema alone'],
    [/slippages\.\d+\.sizeUsd /, 'the size is the key'],
  ],
};

const POINTS =
  'marketId complete freshness { asOf status } points { at ratePct } gaps(fields: ["points"]) { reason message }';
type Kind = readonly [field: string, kind: string, value: string, unit?: 'ratioOfPct'];

const pointNames = ([, , value, unit]: Kind): readonly Name[] => [
  [/(\d+)\.x$/, '$1.at', 'seconds'],
  [/(\d+)\.ts$/, '$1.at', 'milliseconds'],
  [new RegExp(`(\\d+)\\.${value}$`), '$1.ratePct', unit],
];
function history(kind: Kind): Row {
  return {
    ask: async (service, { params }) => {
      const { market } = await dataOf(
        service,
        `query ($id: MarketId!) { market(id: $id) { ${kind[0]} { ${POINTS} } } }`,
        {
          id: params?.id,
        },
      );
      const series = market[kind[0]];
      // Where there cannot be a history, none is stale.
      const isNever = series.gaps[0]?.reason === 'NOT_APPLICABLE';
      return isNever ? { ...series, freshness: { status: 'FRESH' } } : series;
    },
    names: [...AGED, [/^id$/, 'marketId'], [/^history\./, 'points.'], [/^gap\./, 'gaps.0.'], ...pointNames(kind)],
    typedOnly: [[/^complete /, 'in /v1 a part of stale']],
  };
}
function histories(kind: Kind): Row {
  return {
    ask: async (service, example) => {
      const query = `query ($chainIds: [ChainId!]) { chains(chainIds: $chainIds) { rateHistories(kind: ${kind[1]}) { ${POINTS} } } }`;
      const { chains } = await dataOf(service, query, chainsOf(example));
      const rateHistories = chains.flatMap((chain: Json) => chain.rateHistories);
      const ageing = rateHistories.filter(({ complete, freshness }: Json) => !complete && freshness);
      const byId = (of: (row: Json) => Json) =>
        Object.fromEntries(rateHistories.map((row: Json) => [row.marketId, of(row)]));
      return {
        freshness: oldestOf(ageing.map(({ freshness }: Json) => freshness)),
        histories: byId(({ points }) => points),
        reasons: byId(({ gaps: [gap] }) => gap),
      };
    },
    names: [...AGED, ...pointNames(kind), [/^gaps\./, 'reasons.']],
  };
}
const BORROW: Kind = ['borrowApyHistory', 'BORROW_APY', 'y', 'ratioOfPct'];
const COLLATERAL: Kind = ['collateralApyHistory', 'COLLATERAL_APY', 'apy'];
const INCENTIVE: Kind = ['borrowIncentiveHistory', 'BORROW_INCENTIVE_APR', 'apr'];

const marketSeries: Row = {
  ask: async (service, { params, query: { metric, from, to, resolution = 'day' } = {} as never }) => {
    const fields =
      'marketId chainId metric resolution fromAt toAt freshness { asOf status } points { at value } gaps(fields: ["points"]) { reason message }';
    const { market } = await dataOf(
      service,
      `query ($id: MarketId!, $metric: MarketMetric!, $fromAt: DateTime, $toAt: DateTime, $resolution: HistoryResolution!) { market(id: $id) { series(metric: $metric, fromAt: $fromAt, toAt: $toAt, resolution: $resolution) { ${fields} } } }`,
      { id: params?.id, metric: metric?.toUpperCase(), fromAt: from, toAt: to, resolution: resolution.toUpperCase() },
    );
    return market.series;
  },
  names: [
    ...AGED,
    [/^id$/, 'marketId'],
    [/^(from|to)$/, '$1At'],
    [/^history\./, 'points.'],
    [/^gap\./, 'gaps.0.'],
    [/(\d+)\.ts$/, '$1.at', 'milliseconds'],
  ],
};
const leveragedHistory: Row = {
  ask: async (service, { params, query }) => {
    const { strategy } = await dataOf(
      service,
      'query ($id: StrategyId!, $leverage: Decimal, $days: Int) { strategy(id: $id) { leveragedApyHistory(leverage: $leverage, days: $days) { strategyId leverage complete freshness { asOf status } points { at ratePct } gaps(fields: ["points"]) { reason message } } } }',
      { id: params?.id, leverage: query?.leverage, days: Number(query?.days ?? 90) },
    );
    return strategy.leveragedApyHistory;
  },
  names: [
    ...AGED,
    [/^id$/, 'strategyId'],
    [/^history\./, 'points.'],
    [/^gap\./, 'gaps.0.'],
    [/(\d+)\.ts$/, '$1.at', 'milliseconds'],
    [/(\d+)\.apy$/, '$1.ratePct'],
  ],
  typedOnly: [[/^complete /, 'in /v1 a part of stale']],
};

const REACH = '{ reached days }';
/** A stress table, as both sides name it. */
export const STRESS = `stress { positionCount uncountedPositions dropToLiquidationPct lowestHealthyPrice
  rows { scenario changePct oraclePrice ltvPct exactLtvPct headroomPct equity equityUsd netApyPct endsBy endedPositions liquidationIn ${REACH} }
  projections { path safe ${REACH} max ${REACH} liquidation ${REACH} }
  recordedMoves { windowDays survived ltvPct worstFallPct worstInterestPct worstLtvRisePct maxLeverage worstFromAt worstToAt windowCount sampleCount missingHours doubtedSamples recordedFromAt recordedToAt } }`;

const stress: Row = {
  ask: async (service, { params, query }) => {
    const { strategy } = await dataOf(
      service,
      `query ($id: StrategyId!, $leverage: Decimal, $equityUsd: Decimal) { strategy(id: $id) { strategyId freshness { borrow { asOf staleAfterSec staleForSec } oracle { asOf staleAfterSec staleForSec } } ${STRESS.replace('stress', 'stress(leverage: $leverage, equityUsd: $equityUsd)')} } }`,
      { id: params?.id, leverage: query?.leverage, equityUsd: query?.equityUsd },
    );
    return strategy;
  },
  names: [[/^id$/, 'strategyId']],
};

const best: Row = {
  ask: async (service, { query }) => {
    const named = 'strategy { strategyId chainId collateral { displaySymbol } loan { symbol } }';
    const { bestStrategies } = await dataOf(
      service,
      `query ($amount: Decimal!, $payToken: Address!, $maxDrawdownPct: Decimal!, $minExitUsd: Decimal!) { bestStrategies(amount: $amount, payToken: $payToken, maxDrawdownPct: $maxDrawdownPct, minExitUsd: $minExitUsd) {
        amountUsd holdingDays rankedCount excludedCount ranked { ${named} leverage largestLeverage isPositive ltvPct netApyPct positionApyPct entryCostPct exitCostPct yieldFeePct liquidationIn { reached days } ratesAsOf exitAsOf } excluded { ${named} exclusion value limit } } }`,
      { ...query },
    );
    return bestStrategies;
  },
  names: [
    [/^((ranked|excluded)\.\d+\.)id$/, '$1strategy.strategyId'],
    [/^((ranked|excluded)\.\d+\.)chainId$/, '$1strategy.chainId'],
    [/^((ranked|excluded)\.\d+\.)collateralSymbol$/, '$1strategy.collateral.displaySymbol'],
    [/^((ranked|excluded)\.\d+\.)loanSymbol$/, '$1strategy.loan.symbol'],
    [/\.reason$/, '.exclusion'],
  ],
};

const stableApy: Row = {
  ask: async (service) =>
    (
      await dataOf(
        service,
        `{ stableIndex { ${FRESHNESS} pools { poolId assetSymbol avg7dApyPct apyHistory { at ratePct } } } }`,
      )
    ).stableIndex,
  names: [
    ...AGED,
    [/^stableApy\./, 'pools.'],
    [/^(pools\.\d+\.)id$/, '$1poolId'],
    [/^(pools\.\d+\.)asset$/, '$1assetSymbol'],
    [/metrics\.apy\.avg7d$/, 'avg7dApyPct'],
    [/history\.(\d+)\.timestamp$/, 'apyHistory.$1.at'],
    [/history\.(\d+)\.apy$/, 'apyHistory.$1.ratePct'],
  ],
};

const tvlHistory: Row = {
  ask: async (service, example) =>
    (
      await dataOf(
        service,
        'query ($chainIds: [ChainId!]) { tvlHistory(chainIds: $chainIds) { chainIds resolution fromAt toAt freshness { asOf status } points { at tvlUsd grossTvlUsd borrowedUsd } gaps(fields: ["points"]) { reason message } } }',
        chainsOf(example),
      )
    ).tvlHistory,
  names: [
    ...AGED,
    [/^(from|to)$/, '$1At'],
    [/^history\./, 'points.'],
    [/^gap\./, 'gaps.0.'],
    [/(\d+)\.ts$/, '$1.at', 'milliseconds'],
  ],
};
/** Each question is a call itself, so the counts are compared in the tests of usage. */
const usage: Row = {
  ask: async (service, { query }) =>
    (
      await dataOf(service, 'query ($days: Int!) { usage(days: $days) { tier fromAt usageDays { startAt } } }', {
        days: Number(query?.days ?? 30),
      })
    ).usage,
  names: [
    [/^from$/, 'fromAt'],
    [/days\.(\d+)\.day$/, 'usageDays.$1.startAt', 'day'],
  ],
  restOnly: [[/\.(calls|points|refusals) = /, 'the questions themselves are counted']],
};
const SUMS = 'tvlUsd grossTvlUsd borrowedUsd badDebtUsd divergentUsd positionCount userCount';
const tvl: Row = {
  ask: async (service) =>
    (
      await dataOf(
        service,
        `{ tvl { ${FRESHNESS} missingChains { chainId waitingFor } total { ${SUMS} } chains { chainId ${FRESHNESS} ${SUMS} oracleDivergences { marketId oracleAddress reference oracleUsd referenceUsd divergencePct grossTvlUsd borrowedUsd positionCount } } } }`,
      )
    ).tvl,
  names: [
    ...AGED,
    [/^leftOut\./, 'missingChains.'],
    [/(oracleDivergences\.\d+\.)oracle$/, '$1oracleAddress'],
    [/(oracleDivergences\.\d+\.)against$/, '$1reference'],
    [/\.positions$/, '.positionCount'],
    [/\.users$/, '.userCount'],
  ],
};

const prices: Row = {
  ask: async (service, example) => {
    const query = `query ($chainIds: [ChainId!]) { tokens(chainIds: $chainIds, first: 200) { pageInfo { hasNextPage } nodes { address price { usd ${FRESHNESS} } } } }`;
    const { nodes, pageInfo } = (await dataOf(service, query, { chainIds: [chainOf(example)] })).tokens;
    if (pageInfo.hasNextPage) throw new Error('a page has every token');
    const priced = nodes.filter(({ price }: Json) => price !== null);
    return {
      freshness: oldestOf(priced.map(({ price }: Json) => price.freshness)),
      prices: Object.fromEntries(priced.map(({ address, price }: Json) => [address, price.usd])),
    };
  },
  names: AGED,
};

const chart: Row = {
  ask: async (service, { query }) => {
    const document =
      'query ($coinId: String!, $days: Int) { priceChart(coinId: $coinId, days: $days) { prices { at value } marketCaps { at value } totalVolumes { at value } } }';
    const { coinId, days } = query ?? {};
    return (await dataOf(service, document, { coinId, days: days === undefined ? undefined : Number(days) }))
      .priceChart;
  },
  names: [
    [/^market_caps/, 'marketCaps'],
    [/^total_volumes/, 'totalVolumes'],
    [/^(\w+\.\d+)\.0$/, '$1.at', 'milliseconds'],
    [/^(\w+\.\d+)\.1$/, '$1.value'],
  ],
};

const candles: Row = {
  ask: async (service, example) => {
    const { token: address, timeframe = 'hour', aggregate = '1', limit = '168' } = example.query ?? {};
    const document =
      'query ($chainId: ChainId!, $address: Address!, $timeframe: CandleTimeframe!, $aggregate: Int!, $limit: Int!) { candles(chainId: $chainId, address: $address, timeframe: $timeframe, aggregate: $aggregate, limit: $limit) { chainId address timeframe aggregate source asOf lastGood pool { poolId name exchange } candles { startAt openUsd highUsd lowUsd closeUsd volumeUsd } } }';
    const variables = {
      address,
      timeframe: timeframe.toUpperCase(),
      aggregate: Number(aggregate),
      limit: Number(limit),
    };
    return (await dataOf(service, document, { ...variables, chainId: chainOf(example) })).candles;
  },
  names: [
    [/^token$/, 'address'],
    [/^stale$/, 'lastGood'],
    [/^pool\.address$/, 'pool.poolId'],
    [/^pool\.dex$/, 'pool.exchange'],
    [/(\d+)\.t$/, '$1.startAt', 'seconds'],
    [/(\d+)\.o$/, '$1.openUsd'],
    [/(\d+)\.h$/, '$1.highUsd'],
    [/(\d+)\.l$/, '$1.lowUsd'],
    [/(\d+)\.c$/, '$1.closeUsd'],
    [/(\d+)\.v$/, '$1.volumeUsd'],
  ],
  restOnly: [[/^currency = usd$/, 'the schema has it in the names: openUsd']],
};

/** The public rows by their paths. */
export const READ_ROWS: Readonly<Record<string, Row>> = {
  '/v1/strategies': strategies,
  '/v1/strategies/{id}': strategy,
  '/v1/app/markets': markets,
  '/v1/markets/borrow-apy-history': histories(BORROW),
  '/v1/markets/{id}/borrow-apy-history': history(BORROW),
  '/v1/collateral/apy-history': histories(COLLATERAL),
  '/v1/collateral/{id}/apy-history': history(COLLATERAL),
  '/v1/markets/{id}/incentive-history': history(INCENTIVE),
  '/v1/strategies/{id}/leveraged-apy-history': leveragedHistory,
  '/v1/markets/{id}/series': marketSeries,
  '/v1/strategies/{id}/stress': stress,
  '/v1/best-strategies': best,
  '/v1/stable-apy': stableApy,
  '/v1/tvl': tvl,
  '/v1/tvl/history': tvlHistory,
  '/v1/partner/usage': usage,
  '/v1/prices': prices,
  '/v1/prices/chart': chart,
  '/v1/prices/ohlcv': candles,
};
