import type { ChartPoint } from '../../resolvers/common/services.ts';
import { DEFAULT_CHART, type RequestedChart, readPriceChart } from '../../resolvers/market/charts.ts';
import { MAX_CHART_DAYS } from '../../shared/contract/charts-and-candles.ts';
import { MAX_CHART_POINTS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';

const PointRef = builder.objectRef<ChartPoint>('ChartPoint').implement({
  description: 'One point of a relayed chart.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'Time of the point.', resolve: ([atMs]) => atMs }),
    value: t.field({
      type: 'Decimal',
      description: 'Value in the currency of the chart, as relayed.',
      resolve: ([, value]) => value,
    }),
  }),
});

export const PriceChartRef = builder.objectRef<RequestedChart>('PriceChart').implement({
  description: 'Price chart of one coin, relayed from an external provider on demand. Points are oldest first.',
  fields: (t) => ({
    coinId: t.exposeString('coinId', { description: 'Id of the coin at the provider.' }),
    currency: t.exposeString('currency', { description: 'Currency of the values, lower case, e.g. `usd`.' }),
    days: t.exposeInt('days', { description: 'Days that the chart reaches back.' }),
    source: t.exposeString('source', { description: 'Public name of the provider.' }),
    asOf: t.field({ type: 'DateTime', description: 'Time of the fetch.', resolve: ({ asOfMs }) => asOfMs }),
    prices: t.expose('prices', {
      type: [PointRef],
      complexity: { field: 1, multiplier: 50 },
      description: `Price of one coin, in \`currency\`; at most ${MAX_CHART_POINTS} points, the latest ones.`,
    }),
    marketCaps: t.expose('marketCaps', {
      type: [PointRef],
      complexity: { field: 1, multiplier: 50 },
      description: `Market capitalisation, in \`currency\`; at most ${MAX_CHART_POINTS} points, the latest ones.`,
    }),
    totalVolumes: t.expose('totalVolumes', {
      type: [PointRef],
      complexity: { field: 1, multiplier: 50 },
      description: `Volume of 24 hours, in \`currency\`; at most ${MAX_CHART_POINTS} points, the latest ones.`,
    }),
  }),
});

type ArgOf = Parameters<Parameters<typeof builder.queryField>[1]>[0]['arg'];

/** Arguments that shape a chart. */
export function chartArgs(arg: ArgOf) {
  return {
    days: arg.int({
      required: true,
      defaultValue: DEFAULT_CHART.days,
      description: `Days that the chart reaches back, 1 to ${MAX_CHART_DAYS}.`,
    }),
    currency: arg.string({
      required: true,
      defaultValue: DEFAULT_CHART.currency,
      description: 'Currency code of the values, 3 to 5 letters in any case.',
    }),
  };
}

builder.queryField('priceChart', (t) =>
  t.field({
    type: PriceChartRef,
    nullable: true,
    description:
      'Price chart of any coin of the provider, relayed on demand; the error `bad_request` for a coin that the provider does not know, `upstream_unavailable` when it fails. Of a curated token: `Token.priceChart`.',
    args: {
      coinId: t.arg.string({ required: true, description: 'Id of the coin at the provider, e.g. `ethereum`.' }),
      ...chartArgs(t.arg),
    },
    resolve: (_root, args, ctx) => readPriceChart(args, ctx),
  }),
);
