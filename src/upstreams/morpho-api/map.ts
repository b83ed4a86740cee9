import type { BorrowHistory, FailureReason, SharedLiquidity } from '../../domain/facts.ts';
import { MAX_LIQUIDITY_SOURCES } from '../../shared/contract/list-bounds.ts';
import { MARKET_ID_PATTERN, type MarketId } from '../../shared/ids.ts';
import { BORROW_APY_PCT, type ParsedValue, readAddress, readAmount } from '../readings.ts';
import { historyOf, readSeries } from '../series.ts';
import { borrowHistorySchema, type Source, sharedLiquiditySchema } from './schema.ts';

type LiquiditySource = SharedLiquidity['sources'][number];
const fail = (reason: FailureReason): { readonly ok: false; readonly reason: FailureReason } => ({ ok: false, reason });

/**
 * Liquidity that the allocator could move into one market. A field that is no longer served fails as `missing` and is never
 * taken for an empty list.
 */
export function mapSharedLiquidity(market: unknown): ParsedValue<SharedLiquidity> {
  if (market === undefined || market === null) return fail('missing');
  const parsed = sharedLiquiditySchema.safeParse(market);
  if (!parsed.success) return fail('malformed');
  const rows = parsed.data.publicAllocatorSharedLiquidity;
  if (rows === undefined || rows === null) return fail('missing');
  const byRoute = new Map<string, LiquiditySource>();
  for (const row of rows) {
    const source = readSource(row);
    if (!source.ok) return source;
    const route = `${source.value.vault}:${source.value.withdrawMarketId}`;
    const known = byRoute.get(route);
    // The same route may be listed twice: the smaller amount is the safe one.
    if (known === undefined || source.value.assets < known.assets) byRoute.set(route, source.value);
  }
  return { ok: true, value: { sources: largest([...byRoute.values()]) } };
}

/** The whole list, or the largest sources of one that is too long: the reported liquidity is then too low. */
function largest(sources: readonly LiquiditySource[]): readonly LiquiditySource[] {
  if (sources.length <= MAX_LIQUIDITY_SOURCES) return sources;
  return sources.toSorted((a, b) => (a.assets < b.assets ? 1 : -1)).slice(0, MAX_LIQUIDITY_SOURCES);
}

function readSource(row: Source): ParsedValue<LiquiditySource> {
  const assets = readAmount(row.assets);
  if (!assets.ok) return assets;
  const vault = readAddress(row.vault?.address);
  if (!vault.ok) return vault;
  const fee = readAmount(row.vault?.publicAllocatorConfig?.fee);
  if (!fee.ok) return fee;
  const id = row.withdrawMarket?.marketId;
  if (id === undefined || id === null) return fail('missing');
  if (typeof id !== 'string' || !MARKET_ID_PATTERN.test(id)) return fail('malformed');
  const name = row.vault?.name;
  return {
    ok: true,
    value: {
      vault: vault.value,
      vaultName: name ?? undefined,
      withdrawMarketId: id.toLowerCase() as MarketId,
      assets: assets.value,
      feeWei: fee.value,
    },
  };
}

/** Borrow APY over time, converted from fractions to percent. A history without any usable point is a failure. */
export function mapBorrowHistory(
  market: unknown,
  nowMs: number,
): {
  readonly history: ParsedValue<BorrowHistory>;
  readonly dropped: number;
} {
  if (market === undefined || market === null) return { history: fail('missing'), dropped: 0 };
  const parsed = borrowHistorySchema.safeParse(market);
  if (!parsed.success) return { history: fail('malformed'), dropped: 0 };
  const rows = parsed.data.historicalState?.borrowApy ?? [];
  const { points, latest, dropped } = readSeries(
    rows.map(({ x, y }) => ({ at: x, value: y })),
    { time: 'sec', within: BORROW_APY_PCT, decimalShift: 2, nowMs },
  );
  if (points.length === 0) return { history: fail(latest.ok ? 'missing' : latest.reason), dropped };
  return { history: { ok: true, value: { points: historyOf(points) } }, dropped };
}
