import type { Candle, CandlesAnswer } from '../../resolvers/common/services.ts';
import { type Candles, DEFAULT_CANDLES, readCandles } from '../../resolvers/market/charts.ts';
import { builder } from '../builder.ts';

const TimeframeRef = builder.enumType('CandleTimeframe', {
  description: 'Unit of a candle. Spelled as in the v1 contract.',
  values: {
    minute: { value: 'minute', description: 'Minutes; aggregate 1, 5 or 15.' },
    hour: { value: 'hour', description: 'Hours; aggregate 1, 4 or 12.' },
    day: { value: 'day', description: 'Days; aggregate 1.' },
  } as const,
});

const CandleRef = builder.objectRef<Candle>('Candle').implement({
  description: 'One candle.',
  fields: (t) => ({
    t: t.expose('t', { type: 'SafeInt', description: 'Start in unix seconds.' }),
    o: t.exposeFloat('o', { description: 'First price, USD.' }),
    h: t.exposeFloat('h', { description: 'Highest price, USD.' }),
    l: t.exposeFloat('l', { description: 'Lowest price, USD.' }),
    c: t.exposeFloat('c', { description: 'Last price, USD.' }),
    v: t.exposeFloat('v', { description: 'Volume, USD.' }),
  }),
});

const PoolRef = builder.objectRef<CandlesAnswer['pool']>('CandlePool').implement({
  description: 'The pool that candles come from: the deepest holding the token.',
  fields: (t) => ({
    address: t.exposeString('address', {
      description: 'Id of the pool: an address, or a longer id on some exchanges.',
    }),
    name: t.exposeString('name', { description: 'Name of the pair.' }),
    dex: t.exposeString('dex', { description: 'The exchange.' }),
  }),
});

const CandlesRef = builder.objectRef<Candles>('Candles').implement({
  description: 'USD candles of one token.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain of the token.' }),
    token: t.expose('token', { type: 'Address', description: 'The token.' }),
    pool: t.expose('pool', { type: PoolRef, description: 'Where the trades happened.' }),
    timeframe: t.expose('timeframe', { type: TimeframeRef, description: 'Unit of a candle.' }),
    aggregate: t.exposeInt('aggregate', { description: 'Units per candle.' }),
    currency: t.string({ description: 'Always `usd`.', resolve: () => 'usd' }),
    source: t.exposeString('source', { description: 'Public name of the provider.' }),
    asOf: t.field({ type: 'DateTime', description: 'When the candles were fetched.', resolve: ({ asOfMs }) => asOfMs }),
    stale: t.exposeBoolean('stale', {
      description: 'The provider failed, and these are the previous candles (at most 10 minutes old).',
    }),
    candles: t.expose('candles', {
      type: [CandleRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'Oldest first.',
    }),
  }),
});

builder.queryField('ohlcv', (t) =>
  t.field({
    type: CandlesRef,
    nullable: true,
    complexity: ({ limit }) => ({ field: 1, multiplier: Math.min(1000, Math.max(1, limit)) }),
    description:
      'USD candles from the deepest pool holding the token; `not_found` when none is indexed, `upstream_unavailable` when the provider fails.',
    args: {
      chainId: t.arg({
        type: 'ChainId',
        required: true,
        defaultValue: DEFAULT_CANDLES.chainId,
        description: 'The chain of the token.',
      }),
      token: t.arg({ type: 'Address', required: true, description: 'The token.' }),
      timeframe: t.arg({
        type: TimeframeRef,
        required: true,
        defaultValue: DEFAULT_CANDLES.timeframe,
        description: 'Unit of a candle.',
      }),
      aggregate: t.arg.int({
        required: true,
        defaultValue: DEFAULT_CANDLES.aggregate,
        description: 'Units per candle: minute 1, 5 or 15; hour 1, 4 or 12; day 1.',
      }),
      limit: t.arg.int({ required: true, defaultValue: DEFAULT_CANDLES.limit, description: 'Candles, 1 to 1000.' }),
    },
    resolve: (_root, args, ctx) => readCandles(args, ctx),
  }),
);
