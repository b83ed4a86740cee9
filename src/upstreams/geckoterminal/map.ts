import type { Address } from '../../shared/ids.ts';
import { readDecimal, readObservedMs, USD_AMOUNT } from '../readings.ts';
import type { DexPool, OhlcvRow } from '../types.ts';
import { candleRowSchema, dexPoolSchema } from './schema.ts';

/** A contract address, or a 32-byte pool id where the exchange is one contract. */
const POOL_PATTERN = /^0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/;

/** The deepest usable pool of the token; equally deep: the lower address. `null` = no usable pool. */
export function mapDeepestPool(
  network: string,
  token: Address,
  rows: readonly unknown[],
): { readonly pool: DexPool | null; readonly dropped: number } {
  const pools = rows.flatMap((raw) => readPool(`${network}_${token.toLowerCase()}`, raw) ?? []);
  const [deepest] = pools.sort(
    (a, b) =>
      (b.reserveUsd.comparedTo(a.reserveUsd) ?? 0) || (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1),
  );
  return { pool: deepest ?? null, dropped: rows.length - pools.length };
}

function readPool(tokenId: string, raw: unknown): DexPool | null {
  const row = dexPoolSchema.safeParse(raw);
  if (!row.success || !POOL_PATTERN.test(row.data.attributes.address)) return null;
  const { attributes, relationships } = row.data;
  const reserve = readDecimal(attributes.reserve_in_usd, USD_AMOUNT);
  const isBase = relationships.base_token.data.id.toLowerCase() === tokenId;
  const isQuote = relationships.quote_token.data.id.toLowerCase() === tokenId;
  if (!reserve.ok || !(isBase || isQuote)) return null;
  return {
    address: attributes.address,
    name: attributes.name,
    dex: relationships.dex.data.id,
    reserveUsd: reserve.value,
    side: isBase ? 'base' : 'quote',
  };
}

/**
 * Candles oldest first, one per time (the first row of the answer counts). `dropped`: malformed rows, rows with a future time,
 * and repeats.
 */
export function mapCandles(
  rows: readonly unknown[],
  nowMs: number,
): {
  readonly candles: readonly OhlcvRow[];
  readonly dropped: number;
} {
  const byTime = new Map<number, OhlcvRow>();
  for (const raw of rows) {
    const row = candleRowSchema.safeParse(raw);
    if (!row.success) continue;
    const [time, o, h, l, c, v] = row.data;
    const at = readObservedMs(time, 'sec', nowMs);
    if (at.ok && !byTime.has(at.value)) byTime.set(at.value, { t: Math.floor(at.value / 1000), o, h, l, c, v });
  }
  const candles = [...byTime.values()].sort((a, b) => a.t - b.t);
  return { candles, dropped: rows.length - candles.length };
}
