import { z } from 'zod';
import {
  CANDLE_AGGREGATES,
  COIN_ID_PATTERN,
  CURRENCY_PATTERN,
  MAX_CANDLES,
  MAX_CHART_DAYS,
} from '../../shared/contract/charts-and-candles.ts';
import { addressParam, addressString, chainIdParam, integerChoice, integerParam } from '../schemas/common.ts';
import { freshParams } from '../schemas/fresh-reads.ts';
import { wholeNumber } from '../schemas/numbers.ts';
import type { AnyRoute } from '../types.ts';
import { PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

const COIN_ID_EXPECTED =
  'expected a coin id of the price provider: at most 100 letters, digits and "._-", e.g. ethena-usde';

const chartParams = z.object({
  coinId: z
    .string({ error: COIN_ID_EXPECTED })
    .regex(COIN_ID_PATTERN, COIN_ID_EXPECTED)
    .describe('Coin id of the price provider.'),
  days: integerParam({ min: 1, max: MAX_CHART_DAYS })
    .default(7)
    .describe(`Number of past days, 1 to ${MAX_CHART_DAYS}. Default 7.`),
  currency: z
    .string()
    .regex(CURRENCY_PATTERN, 'expected a currency code of 3 to 5 letters, e.g. usd')
    .default('usd')
    .describe('Currency code of the values, in any case. Default usd.'),
});

/** The sizes of all timeframes. */
const AGGREGATES = [...new Set(Object.values(CANDLE_AGGREGATES).flat())].sort((a, b) => a - b);

/** The query of the candles by timeframe, each with its sizes. Parameters cannot depend on each other in the document. */
function ohlcvForms({ chainIds }: RouteOptions): z.ZodType {
  const common = {
    chainId: z
      .literal([...chainIds])
      .optional()
      .describe('Chain id.'),
    token: addressString('Token of the candles.'),
    limit: wholeNumber('Maximum number of candles.', { min: 1, max: MAX_CANDLES }).optional(),
  };
  const aggregate = (sizes: readonly number[]) =>
    z
      .literal([...sizes])
      .optional()
      .describe('Units of the timeframe per candle; 1 when left out.');
  const form = (timeframe: keyof typeof CANDLE_AGGREGATES) => ({
    ...common,
    aggregate: aggregate(CANDLE_AGGREGATES[timeframe]),
    timeframe: z.literal(timeframe).describe('Unit of a candle.'),
  });
  return z
    .xor([
      z.strictObject(form('minute')).meta({ id: 'MinuteCandlesQuery', description: 'Candles of minutes.' }),
      z
        .strictObject({ ...form('hour'), timeframe: z.literal('hour').optional().describe('The default.') })
        .meta({ id: 'HourCandlesQuery', description: 'Candles of hours.' }),
      z.strictObject(form('day')).meta({ id: 'DayCandlesQuery', description: 'Candles of days.' }),
    ])
    .meta({ id: 'CandlesQuery', description: 'The query of the candles: each timeframe with its sizes.' });
}

function ohlcvParams({ chainIds }: RouteOptions) {
  const [defaultChainId = 1] = chainIds;
  return z
    .object({
      chainId: chainIdParam({ chainIds, defaultChainId }),
      token: addressParam.describe('Token of the candles.'),
      timeframe: z.enum(['minute', 'hour', 'day']).default('hour').describe('Unit of a bucket. Default hour.'),
      aggregate: integerChoice(AGGREGATES)
        .default(1)
        .describe('Units per bucket: minute 1, 5 or 15; hour 1, 4 or 12; day 1. Default 1.'),
      limit: integerParam({ min: 1, max: MAX_CANDLES })
        .default(168)
        .describe('Maximum number of candles, 1 to 1000. Default 168.'),
    })
    .superRefine(({ timeframe, aggregate }, context) => {
      const sizes: readonly number[] = CANDLE_AGGREGATES[timeframe];
      if (sizes.includes(aggregate)) return;
      context.addIssue({
        code: 'custom',
        path: ['aggregate'],
        message: `expected one of ${sizes.join(', ')} for timeframe ${timeframe}`,
        params: { limit: { oneOf: sizes, timeframe } },
        input: aggregate,
      });
    });
}

export function priceRoutes(options: RouteOptions): AnyRoute[] {
  const { chainIds, derive } = options;
  const [defaultChainId = 1] = chainIds;
  return [
    derive({
      method: 'GET',
      path: '/v1/prices',
      surface: 'Public',
      summary: 'Latest USD prices of a chain',
      description:
        'Prices of all curated tokens by checksummed address (the native token under the zero address), as in strategies: measured, or from the oracle of a market. An unknown price is left out, never zero.',
      operation: 'Prices',
      tool: { name: 'get_prices' },
      params: z.object({ chainId: chainIdParam({ chainIds, defaultChainId }), ...freshParams }),
      variables: ({ params }) => params,
      errors: [...PUBLIC_ERRORS, 'upstream_unavailable'],
      examples: [{ summary: 'Ethereum, the default' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
    derive({
      method: 'GET',
      path: '/v1/prices/chart',
      surface: 'Public',
      summary: 'Price chart of a coin',
      description:
        'At most the last 365 days, the range of the provider: more are refused. Relayed on demand from the price provider; equal requests within a minute share one upstream call. A coin unknown to the provider is a bad request.',
      operation: 'PriceChart',
      tool: {
        name: 'get_price_chart',
        list: { fields: ['prices', 'market_caps', 'total_volumes'], limit: 24, newestFirst: true },
      },
      params: chartParams,
      variables: ({ params }) => params,
      errors: [...PUBLIC_ERRORS, 'upstream_unavailable'],
      examples: [
        { summary: 'Seven days in USD, the defaults', query: { coinId: 'ethena-staked-usde' } },
        { summary: 'A month', query: { coinId: 'ethena-staked-usde', days: '30' } },
      ],
    }),
    derive({
      method: 'GET',
      path: '/v1/prices/ohlcv',
      surface: 'Public',
      summary: 'USD candles of a token',
      description:
        'Candles of the deepest DEX pool holding the token, cached 30 s. minute takes an aggregate of 1, 5 or 15, hour 1, 4 or 12, day 1: the schema `CandlesQuery` is the type of the whole query. With `stale: true` the upstream failed and previous candles, at most 10 minutes old, are served.',
      operation: 'Ohlcv',
      tool: { name: 'get_candles', defaults: { limit: 48 } },
      params: ohlcvParams(options),
      queryForms: ohlcvForms(options),
      variables: ({ params: { token, ...params } }) => ({ ...params, address: token }),
      repeated: {
        schema: z.object({ currency: z.literal('usd').describe('Currency of the values.') }),
        of: () => ({ currency: 'usd' }),
        after: 'aggregate',
      },
      errors: [...PUBLIC_ERRORS, 'not_found', 'upstream_unavailable'],
      examples: [
        { summary: 'Hourly, the default', query: { token: '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497' } },
        {
          summary: 'Ten buckets of 15 minutes',
          query: {
            token: '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497',
            timeframe: 'minute',
            aggregate: '15',
            limit: '10',
          },
        },
      ],
    }),
  ];
}
