import type { FailureReason, StableIndexPool } from '../../domain/facts.ts';
import { type Decimal, ZERO } from '../../shared/decimal.ts';
import type { RateHistory } from '../../shared/rate-history.ts';
import { APY_PCT, type ParsedValue, readDecimal } from '../readings.ts';
import { historyOf, readSeries } from '../series.ts';
import { type History, indexPoolSchema, type PoolRow } from './schema.ts';

export type PoolHead = Omit<StableIndexPool, 'history'>;

/**
 * The pools by id, each with its 7-day average. A repeated id with different contents is `implausible`. `assets`: of every
 * pool, also of unusable ones. `dropped`: rows without an id or asset.
 */
export function mapPools(rows: readonly unknown[]): {
  readonly pools: ReadonlyMap<string, ParsedValue<PoolHead>>;
  readonly assets: ReadonlyMap<string, string>;
  readonly dropped: number;
} {
  const pools = new Map<string, ParsedValue<PoolHead>>();
  const assets = new Map<string, string>();
  let dropped = 0;
  for (const raw of rows) {
    const row = indexPoolSchema.safeParse(raw);
    if (!row.success) {
      dropped += 1;
      continue;
    }
    const pool = readHead(row.data);
    const known = pools.get(row.data.id);
    pools.set(row.data.id, known === undefined || isSame(known, pool) ? pool : { ok: false, reason: 'implausible' });
    assets.set(row.data.id, row.data.asset);
  }
  return { pools, assets, dropped };
}

function readHead({ id, asset, metrics }: PoolRow): ParsedValue<PoolHead> {
  const avg7d = readDecimal(metrics?.apy?.avg7d, APY_PCT);
  return avg7d.ok ? { ok: true, value: { id, asset, avg7dPct: avg7d.value } } : avg7d;
}

function isSame(a: ParsedValue<PoolHead>, b: ParsedValue<PoolHead>): boolean {
  if (!a.ok || !b.ok) return a.ok === b.ok;
  return a.value.asset === b.value.asset && a.value.avg7dPct.eq(b.value.avg7dPct);
}

/** Daily APY, percent. */
export function mapHistory(
  answer: History,
  nowMs: number,
): { readonly history: RateHistory; readonly dropped: number } {
  const { points, dropped } = readSeries(
    answer.data.data.map(({ timestamp, apy }) => ({ at: timestamp, value: apy })),
    { time: 'any', within: APY_PCT, nowMs },
  );
  return { history: historyOf(points), dropped };
}

/** Points of a week, one a day. */
const WEEK_POINTS = 7;

/** The 7-day average. The index sometimes reports zero while its own history goes on above zero: the mean of that counts then. */
export function averageOf({ avg7dPct }: Pick<PoolHead, 'avg7dPct'>, history: RateHistory): Decimal {
  const week = history.slice(-WEEK_POINTS);
  if (!avg7dPct.isZero() || week.length === 0) return avg7dPct;
  return week.reduce((sum, { ratePct }) => sum.plus(ratePct), ZERO).div(week.length);
}

/**
 * Find the pool of a token: the one with the curated id, otherwise the only one whose asset has the token's symbol. With
 * several candidates there is no match.
 */
export function resolvePool<P extends { readonly id: string; readonly asset: string }>(
  token: { readonly symbol: string; readonly stableIndexId?: string | undefined },
  pools: Iterable<P>,
): { readonly ok: true; readonly pool: P } | { readonly ok: false; readonly reason: FailureReason } {
  const id = token.stableIndexId?.toLowerCase();
  const symbol = token.symbol.toLowerCase();
  const matches = [...pools].filter((pool) =>
    id === undefined ? pool.asset.toLowerCase() === symbol : pool.id.toLowerCase() === id,
  );
  const [only, ...others] = matches;
  if (only === undefined) return { ok: false, reason: 'missing' };
  return others.length === 0 ? { ok: true, pool: only } : { ok: false, reason: 'not_configured' };
}
