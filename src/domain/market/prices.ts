import type { Market, Token } from '../../catalog/types.ts';
import { Decimal, shifted, slim, ZERO } from '../../shared/decimal.ts';
import type { Fact, OraclePrice, UsdPrice } from '../facts.ts';
import { gap, gapOfGroup } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import type { CompositionContext } from './context.ts';

/** Source of a price that follows from the market's oracle. */
export const ORACLE_SOURCE = 'oracle';

const PEG_MIN_USD: Decimal = new Decimal('0.9');
const PEG_MAX_USD: Decimal = new Decimal('1.1');

export type PriceOrGap = { readonly price: Fact<UsdPrice>; readonly gap?: never } | { readonly gap: Gap };

/** What tells whether a measured price is believed. */
export type PriceContext = Pick<CompositionContext, 'facts' | 'pegged'>;

/** Say whether a USD price can be believed: above zero, and within 0.9–1.1 for a stablecoin held at one dollar. */
export function isPlausiblePrice(usd: Decimal, pegged: boolean): boolean {
  return usd.gt(ZERO) && (!pegged || (usd.gte(PEG_MIN_USD) && usd.lte(PEG_MAX_USD)));
}

/** Find the believed price of the loan token, or why there is none. */
export function loanPrice(market: Market, context: PriceContext): PriceOrGap {
  return measuredPrice(market.loan, 'loan.priceUsd', context) ?? notMeasured(market.loan, 'loan.priceUsd', context);
}

/**
 * Find the price of the collateral: the measured one, else oracle price × loan price (source `oracle`, as old as the older
 * of the two). A measured price that is not believed is not replaced.
 */
export function collateralPrice(
  market: Market,
  oracle: Fact<OraclePrice>,
  loan: PriceOrGap,
  context: CompositionContext,
): PriceOrGap {
  const field = 'collateral.priceUsd';
  const measured = measuredPrice(market.collateral, field, context);
  if (measured) return measured;
  if (loan.gap) return notMeasured(market.collateral, field, context);
  const places = market.collateral.decimals - market.loan.decimals - 36;
  const usd = slim(shifted(new Decimal(oracle.value.price).times(loan.price.value.usd), places));
  if (!isPlausiblePrice(usd, false)) {
    return { gap: gap(field, 'IMPLAUSIBLE', 'The oracle says that it is worth nothing.', oracle.asOfMs) };
  }
  return { price: { value: { usd }, asOfMs: Math.min(oracle.asOfMs, loan.price.asOfMs), source: ORACLE_SOURCE } };
}

/** Convert base units into USD at full precision. */
export function usdOf(units: bigint, decimals: number, usd: Decimal): Decimal {
  return shifted(new Decimal(units).times(usd), -decimals);
}

function measuredPrice(token: Token, field: string, context: PriceContext): PriceOrGap | undefined {
  const price = context.facts.groups.price.items.get(token.address);
  if (!price) return undefined;
  if (isPlausiblePrice(price.value.usd, context.pegged.has(token.address))) return { price };
  const message = context.pegged.has(token.address)
    ? 'A stablecoin price outside 0.9–1.1 USD is not believed.'
    : 'A price that is not above zero is not believed.';
  return { gap: gap(field, 'IMPLAUSIBLE', message, price.asOfMs) };
}

function notMeasured(token: Token, field: string, context: PriceContext): PriceOrGap {
  return { gap: gapOfGroup(field, context.facts.groups.price, token.address) };
}
