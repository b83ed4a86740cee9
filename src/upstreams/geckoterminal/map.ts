import type { Address } from '../../shared/ids.ts';
import { readDecimal, readObservedMs, USD_AMOUNT } from '../readings.ts';
import type { DexPool, OhlcvRow } from '../types.ts';
import { candleRowSchema, dexPoolSchema } from './schema.ts';

/** A contract address, or a 32-byte pool id where the exchange is one contract. */
const POOL_PATTERN = /^0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/;

/**
 * The deepest usable pool of the token; equally deep: the lower address. `null` = no usable pool. Pools without a reserve, in
 * which nothing can be traded, are none, and are not counted as dropped.
 */
export function mapDeepestPool(
  network: string,
  token: Address,
  rows: readonly unknown[],
): { readonly pool: DexPool | null; readonly dropped: number } {
  const read = rows.map((raw) => readPool(`${network}_${token.toLowerCase()}`, raw));
  const pools = read.flatMap((pool) => (typeof pool === 'object' ? [pool] : []));
  const empty = read.filter((pool) => pool === 'empty').length;
  const [deepest] = pools.sort(
    (a, b) =>
      (b.reserveUsd.comparedTo(a.reserveUsd) ?? 0) || (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1),
  );
  return { pool: deepest ?? null, dropped: rows.length - pools.length - empty };
}

function readPool(tokenId: string, raw: unknown): DexPool | 'empty' | 'unusable' {
  const row = dexPoolSchema.safeParse(raw);
  if (!row.success || !POOL_PATTERN.test(row.data.attributes.address)) return 'unusable';
  const { attributes, relationships } = row.data;
  const { reserve_in_usd: stated } = attributes;
  const reserve = readDecimal(stated, USD_AMOUNT);
  const isBase = relationships.base_token.data.id.toLowerCase() === tokenId;
  const isQuote = relationships.quote_token.data.id.toLowerCase() === tokenId;
  if (!(isBase || isQuote)) return 'unusable';
  if (!reserve.ok) return stated === null || Number(stated) === 0 ? 'empty' : 'unusable';
  return {
    address: attributes.address,
    name: attributes.name,
    dex: relationships.dex.data.id,
    reserveUsd: reserve.value,
    side: isBase ? 'base' : 'quote',
  };
}

/**
 * A candle is backed by a volume of at least 0.01 % of the pool's reserve, and of 1 % of the reserve for each time its price
 * doubles: in a pool of constant product a price moves by p with a trade of p/4 of the reserve, in concentrated ones with less.
 */
const LEAST_SHARE = 0.0001;
const SHARE_OF_MOVE = 0.01;

function isUnbacked(
  { o, h, l, v }: Omit<OhlcvRow, 'isUnbacked'>,
  before: OhlcvRow | undefined,
  reserveUsd: number,
): boolean {
  const highest = Math.max(h, before?.c ?? o);
  const lowest = Math.min(l, before?.c ?? o);
  return v < reserveUsd * Math.max(LEAST_SHARE, SHARE_OF_MOVE * (highest / lowest - 1));
}

/**
 * Candles oldest first, one per time (the first row of the answer counts), each marked if no volume backs it. `dropped`:
 * malformed rows, rows with a future time, and repeats.
 */
export function mapCandles(
  rows: readonly unknown[],
  reserveUsd: number,
  nowMs: number,
): {
  readonly candles: readonly OhlcvRow[];
  readonly dropped: number;
} {
  const byTime = new Map<number, Omit<OhlcvRow, 'isUnbacked'>>();
  for (const raw of rows) {
    const row = candleRowSchema.safeParse(raw);
    if (!row.success) continue;
    const [time, o, h, l, c, v] = row.data;
    const at = readObservedMs(time, 'sec', nowMs);
    if (at.ok && !byTime.has(at.value)) byTime.set(at.value, { t: Math.floor(at.value / 1000), o, h, l, c, v });
  }
  const candles: OhlcvRow[] = [];
  for (const row of [...byTime.values()].sort((a, b) => a.t - b.t)) {
    // A move is measured from the latest backed close: after a move on dust its level is none of the pool's.
    const before = candles.findLast((candle) => !candle.isUnbacked);
    candles.push({ ...row, isUnbacked: isUnbacked(row, before, reserveUsd) });
  }
  return { candles, dropped: rows.length - candles.length };
}
