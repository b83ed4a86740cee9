import type { Candle, CandlesAnswer } from '../../resolvers/common/services.ts';
import { type Candles, DEFAULT_CANDLES, readCandles } from '../../resolvers/market/charts.ts';
import { findCatalogToken } from '../../resolvers/market/tokens.ts';
import { MAX_CANDLES } from '../../shared/contract/charts-and-candles.ts';
import { builder } from '../builder.ts';
import { TokenRef } from '../refs.ts';

const TimeframeRef = builder.enumType('CandleTimeframe', {
  description: 'Unit of the width of a candle.',
  values: {
    MINUTE: { value: 'minute', description: 'Minutes; `aggregate` 1, 5 or 15.' },
    HOUR: { value: 'hour', description: 'Hours; `aggregate` 1, 4 or 12.' },
    DAY: { value: 'day', description: 'Days; `aggregate` 1.' },
  } as const,
});

const PRICE = { type: 'Decimal', extensions: { jsonSchema: { exclusiveMinimum: 0 } } } as const;

const CandleRef = builder.objectRef<Candle>('Candle').implement({
  description: 'Prices and volume of one span of time, as relayed, marked if no volume backs them.',
  fields: (t) => ({
    startAt: t.field({ type: 'DateTime', description: 'Begin of the span.', resolve: (candle) => candle.t * 1000 }),
    openUsd: t.field({ ...PRICE, description: 'First price. USD.', resolve: ({ o }) => o }),
    highUsd: t.field({ ...PRICE, description: 'Highest price. USD.', resolve: ({ h }) => h }),
    lowUsd: t.field({ ...PRICE, description: 'Lowest price. USD.', resolve: ({ l }) => l }),
    closeUsd: t.field({ ...PRICE, description: 'Last price. USD.', resolve: ({ c }) => c }),
    volumeUsd: t.field({ type: 'Decimal', description: 'Volume. USD.', resolve: ({ v }) => v }),
    isUnbacked: t.exposeBoolean('isUnbacked', {
      description:
        'Whether the volume is too small for the prices to be those of the pool: below 0.01 % of its reserve, or below 1 % of the reserve times the move from the last backed close (0.18 for 18 %).',
    }),
  }),
});

const PoolRef = builder.objectRef<CandlesAnswer['pool']>('CandlePool').implement({
  description: 'Exchange pool that candles come from: the deepest that holds the token.',
  fields: (t) => ({
    poolId: t.exposeString('address', {
      description: 'Id of the pool at its exchange: an address, or a longer id on some exchanges.',
    }),
    name: t.exposeString('name', { description: 'Name of the traded pair.' }),
    exchange: t.exposeString('dex', { description: 'Public name of the exchange.' }),
  }),
});

export const CandlesRef = builder.objectRef<Candles>('CandleSeries').implement({
  description: 'USD candles of one token.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'Id of the chain of the token.' }),
    address: t.expose('address', { type: 'Address', description: 'Contract of the token.' }),
    token: t.field({
      type: TokenRef,
      nullable: true,
      description: 'The token; `null` = it is not curated.',
      resolve: (candles, _args, ctx) => findCatalogToken(candles, ctx),
    }),
    pool: t.expose('pool', { type: PoolRef, description: 'Exchange pool of the trades.' }),
    timeframe: t.expose('timeframe', { type: TimeframeRef, description: 'Unit of the width of a candle.' }),
    aggregate: t.exposeInt('aggregate', {
      description: 'Units of the timeframe per candle.',
      extensions: { jsonSchema: { minimum: 1, maximum: 15 } },
    }),
    source: t.exposeString('source', { description: 'Public name of the provider.' }),
    asOf: t.field({ type: 'DateTime', description: 'Time of the fetch.', resolve: ({ asOfMs }) => asOfMs }),
    lastGood: t.exposeBoolean('stale', {
      description: 'Whether the provider failed and these are the previous candles, at most 10 minutes old.',
    }),
    candles: t.expose('candles', {
      type: [CandleRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Candles, oldest first; at most ${MAX_CANDLES}.`,
    }),
  }),
});

type ArgOf = Parameters<Parameters<typeof builder.queryField>[1]>[0]['arg'];

/** Arguments that shape candles. */
export function candleArgs(arg: ArgOf) {
  return {
    timeframe: arg({
      type: TimeframeRef,
      required: true,
      defaultValue: DEFAULT_CANDLES.timeframe,
      description: 'Unit of the width of a candle.',
    }),
    aggregate: arg.int({
      required: true,
      defaultValue: DEFAULT_CANDLES.aggregate,
      description: 'Units per candle: of minutes 1, 5 or 15; of hours 1, 4 or 12; of days 1.',
    }),
    limit: arg.int({
      required: true,
      defaultValue: DEFAULT_CANDLES.limit,
      description: `Most candles that are answered, 1 to ${MAX_CANDLES}.`,
    }),
  };
}

/** Candles cost by their number. */
export function candlesCost({ limit }: { readonly limit: number }) {
  return { field: 1, multiplier: Math.min(MAX_CANDLES, Math.max(1, limit)) };
}

builder.queryField('candles', (t) =>
  t.field({
    type: CandlesRef,
    nullable: true,
    complexity: candlesCost,
    description:
      'USD candles of any token, curated or not, from the deepest exchange pool that holds it; the error `not_found` when none is indexed, `upstream_unavailable` when the provider fails.',
    args: {
      chainId: t.arg({ type: 'ChainId', required: true, description: 'Id of the chain of the token.' }),
      address: t.arg({ type: 'Address', required: true, description: 'Contract of the token.' }),
      ...candleArgs(t.arg),
    },
    resolve: (_root, args, ctx) => readCandles(args, ctx),
  }),
);
