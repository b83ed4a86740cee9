import type { Chain } from '../catalog/types.ts';
import type { CandleQuery, CandlesPort, ChartsPort } from '../resolvers/common/services.ts';
import { answeredInTime } from '../shared/calls/wait-timeout.ts';
import type { Clock } from '../shared/clock.ts';
import { UpstreamUnavailableError } from '../shared/errors.ts';
import type { ChainId } from '../shared/ids.ts';
import { createStaleIfError } from '../shared/stale-if-error.ts';
import type { Timers } from '../shared/timers.ts';
import type { DexPool, OhlcvPort, PriceChart, PriceChartPort } from '../upstreams/types.ts';

type PoolCandles = Pick<NonNullable<Awaited<ReturnType<CandlesPort['candles']>>>, 'pool' | 'candles'>;

/**
 * The provider adds a point to the chart of a day every five minutes, and to longer ones every hour or day. Charts have three tenths
 * of its month, some hundred requests a day.
 */
const DAY_CHART_FRESH_MS = 300_000;
const CHART_FRESH_MS = 1_800_000;
/** Enough for all charts of a minute's budget: the longest have six thousand points. */
const CHART_MAX_BYTES = 16 * 1024 * 1024;
const CHART_POINT_BYTES = 112;

export interface ChartsDeps {
  readonly upstream: PriceChartPort;
  readonly isOurs: (coinId: string) => boolean;
  readonly clock: Clock;
  /** Timers of a reader's wait. */
  readonly timeouts: Timers;
}

export function createCharts({ upstream, isOurs, clock, timeouts }: ChartsDeps): ChartsPort {
  const charts = createStaleIfError<PriceChart | 'unknown_currency' | null>({
    clock,
    freshMs: (key) => ((JSON.parse(key) as [string, number])[1] <= 1 ? DAY_CHART_FRESH_MS : CHART_FRESH_MS),
    bounds: {
      maxBytes: CHART_MAX_BYTES,
      bytesOf: (chart) =>
        chart === null || chart === 'unknown_currency'
          ? 0
          : (chart.prices.length + chart.marketCaps.length + chart.totalVolumes.length) * CHART_POINT_BYTES,
    },
    load: async (key) => {
      const [coinId, days, currency] = JSON.parse(key) as [string, number, string];
      const chart = upstream.chart(coinId, days, currency, { isUnlisted: !isOurs(coinId) });
      return answeredInTime('coingecko', chart, timeouts);
    },
  });
  return {
    async chart(coinId, days, currency) {
      const { value, loadedAtMs } = await charts.get(JSON.stringify([coinId, days, currency]));
      if (value === null || value === 'unknown_currency') return value;
      return { source: 'coingecko', asOfMs: loadedAtMs, ...value };
    },
  };
}

/** Interface section 8: answers are cached 30 s; older candles are served for at most 10 minutes while the provider fails. */
const CANDLES_FRESH_MS = 30_000;
const CANDLES_STALE_MS = 600_000;
const CANDLES_MAX_BYTES = 16 * 1024 * 1024;
const CANDLE_BYTES = 160;
/** The deepest pool changes slowly, and finding it costs a second request of a small budget. */
const POOL_FRESH_MS = 3_600_000;
const POOLS_MAX_BYTES = 2 * 1024 * 1024;

export interface CandlesDeps {
  readonly upstream: OhlcvPort;
  readonly chain: (chainId: ChainId) => Chain | undefined;
  readonly clock: Clock;
  /** Timers of a reader's wait. */
  readonly timeouts: Timers;
}

/** Create the relay of candles of the deepest pool with a token. */
export function createCandles({ upstream, chain, clock, timeouts }: CandlesDeps): CandlesPort {
  const chainOf = (chainId: ChainId): Chain => {
    const found = chain(chainId);
    if (!found) throw new Error(`chain ${chainId} is not in the catalog`);
    return found;
  };
  const isUnlisted = ({ chainId, token }: Pick<CandleQuery, 'chainId' | 'token'>): boolean =>
    !chainOf(chainId).tokens.some(({ address }) => address === token);
  const pools = createStaleIfError<DexPool | null>({
    clock,
    freshMs: POOL_FRESH_MS,
    staleMs: Number.POSITIVE_INFINITY,
    bounds: {
      maxBytes: POOLS_MAX_BYTES,
      bytesOf: (pool) => (pool === null ? 0 : 2 * JSON.stringify(pool).length),
    },
    load: (key) => {
      const { chainId, token } = JSON.parse(key) as Pick<CandleQuery, 'chainId' | 'token'>;
      return upstream.deepestPool(chainOf(chainId), token, { isUnlisted: isUnlisted({ chainId, token }) });
    },
  });
  const candles = createStaleIfError<PoolCandles | null>({
    clock,
    freshMs: CANDLES_FRESH_MS,
    staleMs: CANDLES_STALE_MS,
    bounds: {
      maxBytes: CANDLES_MAX_BYTES,
      bytesOf: (answer) => (answer === null ? 0 : answer.candles.length * CANDLE_BYTES),
    },
    load: (key, _context, previous) =>
      answeredInTime('geckoterminal', read(JSON.parse(key) as CandleQuery, previous), timeouts),
  });
  const read = async (
    { chainId, token, timeframe, aggregate, limit }: CandleQuery,
    previous: PoolCandles | null | undefined,
  ): Promise<PoolCandles | null> => {
    const { value: pool } = await pools.get(JSON.stringify({ chainId, token }));
    if (pool === null) return null;
    const answer = await upstream.candles(
      chainOf(chainId),
      pool,
      { timeframe, aggregate, limit },
      {
        isUnlisted: isUnlisted({ chainId, token }),
      },
    );
    // Past candles cannot disappear: an empty answer after a non-empty one means that the provider lost them.
    if (answer.candles.length === 0 && previous && previous.candles.length > 0) {
      throw new UpstreamUnavailableError('geckoterminal', 'missing');
    }
    return { pool: { address: pool.address, name: pool.name, dex: pool.dex }, candles: answer.candles };
  };
  return {
    async candles({ chainId, token, timeframe, aggregate, limit }) {
      const { value, loadedAtMs, stale } = await candles.get(
        JSON.stringify({ chainId, token, timeframe, aggregate, limit }),
      );
      return value === null ? null : { ...value, source: 'geckoterminal', asOfMs: loadedAtMs, stale };
    },
  };
}
