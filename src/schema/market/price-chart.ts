import type { ChartPoint } from '../../resolvers/common/services.ts';
import { DEFAULT_CHART, type RequestedChart, readPriceChart } from '../../resolvers/market/charts.ts';
import { MAX_CHART_DAYS } from '../../shared/vocabulary.ts';
import { builder } from '../builder.ts';

const PointRef = builder.objectRef<ChartPoint>('ChartPoint').implement({
  description: 'One point of a relayed chart.',
  fields: (t) => ({
    atMs: t.field({ type: 'SafeInt', description: 'Unix milliseconds.', resolve: ([atMs]) => atMs }),
    value: t.float({
      description: 'The value in the currency of the chart, as relayed.',
      resolve: ([, value]) => value,
    }),
  }),
});

const PriceChartRef = builder.objectRef<RequestedChart>('PriceChart').implement({
  description: 'A price chart, relayed from an external provider on demand. Oldest first.',
  fields: (t) => ({
    coinId: t.exposeString('coinId', { description: 'Id of the coin at the provider.' }),
    currency: t.exposeString('currency', { description: 'Currency of the values, lower case.' }),
    days: t.exposeInt('days', { description: 'How many days the chart reaches back.' }),
    source: t.exposeString('source', { description: 'Public name of the provider.' }),
    asOf: t.field({ type: 'DateTime', description: 'When it was fetched.', resolve: ({ asOfMs }) => asOfMs }),
    prices: t.expose('prices', {
      type: [PointRef],
      complexity: { field: 1, multiplier: 50 },
      description: 'Price of one coin, in `currency`.',
    }),
    marketCaps: t.expose('marketCaps', {
      type: [PointRef],
      complexity: { field: 1, multiplier: 50 },
      description: 'Market capitalisation, in `currency`.',
    }),
    totalVolumes: t.expose('totalVolumes', {
      type: [PointRef],
      complexity: { field: 1, multiplier: 50 },
      description: 'Volume of 24 hours, in `currency`.',
    }),
  }),
});

builder.queryField('priceChart', (t) =>
  t.field({
    type: PriceChartRef,
    nullable: true,
    description:
      'A price chart, relayed on demand; the error `bad_request` for a coin that the provider does not know, `upstream_unavailable` when it fails.',
    args: {
      coinId: t.arg.string({ required: true, description: 'Id of the coin at the provider, e.g. `ethereum`.' }),
      days: t.arg.int({
        required: true,
        defaultValue: DEFAULT_CHART.days,
        description: `How many days back, 1 to ${MAX_CHART_DAYS}.`,
      }),
      currency: t.arg.string({
        required: true,
        defaultValue: DEFAULT_CHART.currency,
        description: 'Currency code of the values, 3 to 5 letters in any case.',
      }),
    },
    resolve: (_root, args, ctx) => readPriceChart(args, ctx),
  }),
);
