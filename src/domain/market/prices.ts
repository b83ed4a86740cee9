import type { Chain, Market, Token } from '../../catalog/types.ts';
import { Decimal, ZERO } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import type { ChainFacts, Fact, UsdPrice } from '../facts.ts';
import { gap, gapOfGroup } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { exceededBound } from './oracle-range.ts';
import { peggedTokens } from './statics.ts';

/** Source of a price that is derived from the market's oracle. */
export const ORACLE_SOURCE = 'oracle';

const PEG_MIN_USD: Decimal = new Decimal('0.9');
const PEG_MAX_USD: Decimal = new Decimal('1.1');

export type PriceOrGap =
  | {
      readonly price: Fact<UsdPrice>;
      /**
       * The market whose oracle the price is derived from: the age of that oracle's feeds applies as well. Absent = measured.
       */
      readonly market?: Market | undefined;
      readonly gap?: never;
    }
  | { readonly gap: Gap; readonly price?: never };

export interface PriceContext {
  readonly chain: Chain;
  readonly facts: ChainFacts;
  /** Stablecoins pegged to one dollar. */
  readonly pegged: ReadonlySet<Address>;
  /** The markets of each collateral, in catalog order. */
  readonly byCollateral: ReadonlyMap<Address, readonly Market[]>;
}

export function priceContext(chain: Chain, facts: ChainFacts): PriceContext {
  return { chain, facts, pegged: peggedTokens(chain), byCollateral: marketsByCollateral(chain) };
}

/** Check whether a USD price is plausible: above zero, and within 0.9–1.1 for a pegged stablecoin. */
export function isPlausiblePrice(usd: Decimal, pegged: boolean): boolean {
  return usd.gt(ZERO) && (!pegged || (usd.gte(PEG_MIN_USD) && usd.lte(PEG_MAX_USD)));
}

/**
 * Return the price of the loan token, or why there is none. Only a measured price counts: a price derived from an oracle in
 * loan tokens would be circular.
 */
export function loanPrice(market: Market, context: PriceContext): PriceOrGap {
  return measuredPrice(market.loan, 'loanPrice', context) ?? notMeasured(market.loan, 'loanPrice', context);
}

/**
 * Return the price of a token. A measured price comes first; the native token has the price of its wrapped form. Without one
 * the price is derived from an oracle and a priced loan token (source `oracle`, with the age of the older of the two). The
 * first market of the catalog with a plausible oracle value counts, so that a token has one price everywhere. An implausible
 * measured price is not replaced.
 */
export function tokenPrice(token: Token, field: string, context: PriceContext): PriceOrGap {
  const { chain } = context;
  const named = token.isNative && chain.wrappedNative ? chain.wrappedNative : token;
  const measured = measuredPrice(named, field, context);
  if (measured) return measured;
  const markets = context.byCollateral.get(named.address) ?? [];
  let unbelieved: PriceOrGap | undefined;
  for (const market of markets) {
    const derived = oraclePrice(market, field, context);
    if (derived?.price && isPossible(market, derived.price, context)) return derived;
    if (!unbelieved?.price) unbelieved = derived ?? unbelieved;
  }
  return unbelieved ?? notMeasured(named, field, context);
}

function marketsByCollateral(chain: Chain): ReadonlyMap<Address, readonly Market[]> {
  const markets = new Map<Address, Market[]>();
  for (const market of chain.markets) {
    const { address } = market.collateral;
    const known = markets.get(address);
    if (known) known.push(market);
    else markets.set(address, [market]);
  }
  return markets;
}

/** Value one whole collateral token in USD by its market's oracle and the price of the loan token. */
export function oracleUsd({ collateral, loan }: Market, price: bigint, loanUsd: Decimal): Decimal {
  return new Decimal(price).times(loanUsd).shiftedBy(collateral.decimals - loan.decimals - 36);
}

/** Value the collateral of a market by its oracle; `undefined` while an input is not known. */
function oraclePrice(market: Market, field: string, context: PriceContext): PriceOrGap | undefined {
  const oracle = context.facts.groups.oracle.items.get(market.oracle);
  const loan = loanPrice(market, context);
  if (!oracle || loan.gap) return undefined;
  const usd = oracleUsd(market, oracle.value.price, loan.price.value.usd);
  if (!isPlausiblePrice(usd, false)) {
    return { gap: gap(field, 'IMPLAUSIBLE', 'The oracle values it at zero.', oracle.asOfMs) };
  }
  const asOfMs = Math.min(oracle.asOfMs, loan.price.asOfMs);
  return { price: { value: { usd }, asOfMs, source: ORACLE_SOURCE }, market };
}

function isPossible(market: Market, { value, asOfMs }: Fact<UsdPrice>, context: PriceContext): boolean {
  const loanUsd = loanPrice(market, context).price?.value.usd;
  return loanUsd !== undefined && exceededBound(market, value.usd, loanUsd, asOfMs) === undefined;
}

/** Convert base units into USD at full precision. */
export function usdOf(units: bigint, decimals: number, usd: Decimal): Decimal {
  return new Decimal(units).times(usd).shiftedBy(-decimals);
}

function measuredPrice(token: Token, field: string, context: PriceContext): PriceOrGap | undefined {
  const price = context.facts.groups.price.items.get(token.address);
  if (!price) return undefined;
  // A price off its peg was confirmed before it was published, so it is served, with a warning.
  if (isPlausiblePrice(price.value.usd, false)) return { price };
  const message = 'A price of zero or less was rejected.';
  return { gap: gap(field, 'IMPLAUSIBLE', message, price.asOfMs) };
}

function notMeasured(token: Token, field: string, context: PriceContext): PriceOrGap {
  return { gap: gapOfGroup(field, context.facts.groups.price, token.address) };
}
