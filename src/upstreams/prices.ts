import type { Token } from '../catalog/types.ts';
import type { UsdPrice } from '../domain/facts.ts';
import { chunks, gather, toBatch } from './batch.ts';
import { type ParsedValue, PRICE_USD, readDecimal, readObservedMs } from './readings.ts';
import { type Batch, priceKey } from './types.ts';

/** Keeps the URL under 4 kB with the longest ids. */
const IDS_PER_REQUEST = 60;

/** Read prices by CoinGecko id, each id once, many per request. Tokens without an id fail as `not_configured`. */
export async function askPrices(
  tokens: readonly Token[],
  ask: (
    ids: readonly string[],
    tokens: readonly Token[],
  ) => Promise<readonly (readonly [string, ParsedValue<UsdPrice>])[]>,
): Promise<Batch<UsdPrice>> {
  const byId = new Map<string, Token[]>();
  for (const token of tokens) {
    if (token.coingeckoId === undefined) continue;
    byId.set(token.coingeckoId, [...(byId.get(token.coingeckoId) ?? []), token]);
  }
  const batch = await gather(
    chunks([...byId.keys()].sort(), IDS_PER_REQUEST),
    (ids) => tokensOf(ids).map(priceKey),
    async (ids) => toBatch(await ask(ids, tokensOf(ids))),
  );
  const unknown = tokens.filter(({ coingeckoId }) => coingeckoId === undefined);
  return {
    ...batch,
    failures: new Map([...batch.failures, ...unknown.map((token) => [priceKey(token), 'not_configured'] as const)]),
  };

  function tokensOf(ids: readonly string[]): readonly Token[] {
    return ids.flatMap((id) => byId.get(id) ?? []);
  }
}

/**
 * Read a price and the time of its observation, unix seconds. Without a valid time it counts as of the request; a time in the
 * future fails as implausible.
 */
export function parsePrice(usd: unknown, observedSec: unknown, nowMs: number): ParsedValue<UsdPrice> {
  const price = readDecimal(usd, PRICE_USD);
  if (!price.ok) return price;
  const observed = readObservedMs(observedSec, 'sec', nowMs);
  if (!observed.ok && observed.reason === 'implausible') return observed;
  return { ok: true, value: { usd: price.value }, measuredMs: observed.ok ? observed.value : undefined };
}
