import {
  CANDLE_AGGREGATES,
  COIN_ID_PATTERN,
  CURRENCY_PATTERN,
  MAX_CANDLES,
  MAX_CHART_DAYS,
} from '../../shared/contract/charts-and-candles.ts';
import { BadRequestError, type LimitValue, NotFoundError } from '../../shared/errors.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import { formatValue } from '../../shared/ids.ts';
import type { AppContext } from '../common/context.ts';
import type { CandlesAnswer, CandleTimeframe, ChartAnswer } from '../common/services.ts';
import { requireChain } from './chains.ts';

export const DEFAULT_CHART = { days: 7, currency: 'usd' } as const;
export const DEFAULT_CANDLES = { timeframe: 'hour', aggregate: 1, limit: 168 } as const;

interface ChartArgs {
  readonly coinId: string;
  readonly days: number;
  readonly currency: string;
}

export type RequestedChart = ChartArgs & ChartAnswer;

/** Relay a price chart. @throws BadRequestError (also for a coin that the provider does not know), UpstreamUnavailableError */
export async function readPriceChart({ coinId, days, currency }: ChartArgs, ctx: AppContext): Promise<RequestedChart> {
  if (!COIN_ID_PATTERN.test(coinId)) {
    throw refused('coinId', coinId, 'Send the id of a coin at the provider, e.g. "ethereum".', {
      pattern: COIN_ID_PATTERN.source,
    });
  }
  if (!Number.isInteger(days) || days < 1 || days > MAX_CHART_DAYS) {
    throw refused('days', days, `Send 1 to ${MAX_CHART_DAYS}.`, { min: 1, max: MAX_CHART_DAYS });
  }
  if (!CURRENCY_PATTERN.test(currency)) {
    throw refused('currency', currency, 'Send a currency code, e.g. "usd".', { pattern: CURRENCY_PATTERN.source });
  }
  const request = { coinId, days, currency: currency.toLowerCase() };
  const chart = await ctx.live().charts.chart(request.coinId, request.days, request.currency);
  if (chart === null) throw refused('coinId', coinId, 'The provider has no such coin.');
  if (chart === 'unknown_currency') {
    throw refused('currency', currency, 'The provider has no prices in it. Send e.g. "usd" or "eur".');
  }
  return { ...request, ...chart };
}

interface CandlesArgs {
  readonly chainId: ChainId;
  readonly address: Address;
  readonly timeframe: CandleTimeframe;
  readonly aggregate: number;
  readonly limit: number;
}

export type Candles = CandlesArgs & CandlesAnswer;

/** Relay candles of the deepest pool holding a token. @throws BadRequestError, NotFoundError, UpstreamUnavailableError */
export async function readCandles(args: CandlesArgs, ctx: AppContext): Promise<Candles> {
  const { timeframe, aggregate, limit } = args;
  const chain = requireChain(ctx, args.chainId);
  const oneOf: readonly number[] = CANDLE_AGGREGATES[timeframe];
  if (!oneOf.includes(aggregate)) {
    throw refused('aggregate', aggregate, `With timeframe ${timeframe} send ${oneOf.join(', ')}.`, {
      oneOf,
      timeframe,
    });
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_CANDLES) {
    throw refused('limit', limit, `Send 1 to ${MAX_CANDLES}.`, { min: 1, max: MAX_CANDLES });
  }
  const { chainId } = chain;
  const { address } = args;
  const answer = await ctx.live().ohlcv.candles({ chainId, token: address, timeframe, aggregate, limit });
  if (answer) return { chainId, address, timeframe, aggregate, limit, ...answer };
  throw new NotFoundError(`No pool holding ${address} is indexed on chain ${chain.chainId}.`, {
    resource: 'pool',
    id: address,
  });
}

function refused(
  field: string,
  value: string | number,
  instruction: string,
  limit?: Readonly<Record<string, LimitValue>>,
): BadRequestError {
  return new BadRequestError(`${field} "${formatValue(value)}" is not served. ${instruction}`, {
    field,
    value: formatValue(value),
    limit,
  });
}
