import type { Token } from '../../catalog/types.ts';
import type { UsdPrice } from '../../domain/facts.ts';
import { Decimal } from '../../shared/decimal.ts';
import { parsePrice } from '../prices.ts';
import { type NumericRange, type ParsedValue, readDecimal } from '../readings.ts';
import { priceKey } from '../types.ts';
import type { Prices } from './schema.ts';

/** Prices below this confidence are not used. */
const CONFIDENT: NumericRange = { min: new Decimal('0.7'), minIncluded: true, max: new Decimal(1) };

export function mapPrices(
  tokens: readonly Token[],
  answer: Prices,
  nowMs: number,
): readonly (readonly [string, ParsedValue<UsdPrice>])[] {
  return tokens.map((token) => {
    const coin = answer.coins[coinKey(token.coingeckoId ?? '')];
    const price = parsePrice(coin?.price, coin?.timestamp, nowMs);
    if (!price.ok) return [priceKey(token), price];
    const confidence = readDecimal(coin?.confidence, CONFIDENT);
    return [priceKey(token), confidence.ok ? price : confidence];
  });
}

export function coinKey(coingeckoId: string): string {
  return `coingecko:${coingeckoId}`;
}
