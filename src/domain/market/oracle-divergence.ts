import type { Market } from '../../catalog/types.ts';
import { Decimal, HUNDRED } from '../../shared/decimal.ts';
import type { Fact, OraclePrice, UsdPrice } from '../facts.ts';
import { apart } from '../plausibility/suspect.ts';
import type { OracleDivergence, OracleReference, Warning } from '../plausibility/types.ts';
import { exceededBound } from './oracle-range.ts';
import { ORACLE_SOURCE, oracleUsd } from './prices.ts';

/** An oracle that differs from the collateral's price by more than this gets a warning, percent. */
const ORACLE_DIVERGENCE_PCT = 10;
/** An oracle that differs from its previous value by more than this gets a warning, percent. */
const ORACLE_JUMP_PCT = 20;
/** A jump is reported for a day, ms. */
const JUMP_WARNING_MS = 86_400_000;

/** Inputs of the comparison of an oracle. */
export interface OracleComparison {
  readonly market: Market;
  readonly oracle: Pick<Fact<OraclePrice>, 'value' | 'asOfMs'>;
  readonly loanUsd: Decimal | undefined;
  /** The price of the collateral. A price from an oracle counts only if it is another market's oracle. */
  readonly price: Pick<Fact<UsdPrice>, 'value' | 'source'> | undefined;
}

/** Compare an oracle's value with its reference; `undefined` when it is near, or when there is no reference. */
export function oracleDivergence({ market, oracle, loanUsd, price }: OracleComparison): OracleDivergence | undefined {
  if (!loanUsd) return undefined;
  const { before } = oracle.value;
  const boundOf = (value: Decimal) => exceededBound(market, value, loanUsd, oracle.asOfMs);
  const own = oracleUsd(market, oracle.value.price, loanUsd);
  const usd = price?.value.usd;
  if (usd && apart(own, usd).times(HUNDRED).gt(ORACLE_DIVERGENCE_PCT)) return divergence('price', own, usd);
  if (price && price.source !== ORACLE_SOURCE) return undefined;
  const bound = boundOf(own);
  if (bound) return divergence('range', own, bound);
  const earlier = before && oracleUsd(market, before.price, loanUsd);
  // An earlier value outside of the bounds is no reference.
  return earlier && !boundOf(earlier) ? divergence('before', own, earlier) : undefined;
}

function divergence(against: OracleReference, own: Decimal, reference: Decimal): OracleDivergence | undefined {
  if (!reference.gt(0)) return undefined;
  const divergencePct = own.minus(reference).times(HUNDRED).div(reference);
  return { against, oracleUsd: own, referenceUsd: reference, divergencePct };
}

/**
 * Store the value before a jump with an oracle's value, for a day and while it stays that far away. The chain's value is
 * served at once, with a warning.
 */
export function withJump(fresh: OraclePrice, known: OraclePrice | undefined, nowMs: number): OraclePrice {
  if (!known) return fresh;
  const previous = known.before;
  const before = previous && nowMs - previous.atMs <= JUMP_WARNING_MS ? previous : { price: known.price, atMs: nowMs };
  const isFar = apart(new Decimal(fresh.price), new Decimal(before.price)).times(HUNDRED).gt(ORACLE_JUMP_PCT);
  return isFar ? { ...fresh, before } : fresh;
}

const CODES = { price: 'oracle_divergence', range: 'oracle_out_of_range', before: 'oracle_jump' } as const;

/** Describe in a sentence how far an oracle is from its reference. */
export function divergenceWarning({ against, oracleUsd: own, referenceUsd }: OracleDivergence): Warning {
  const [oracle, reference] = [own.precision(8).toFixed(), referenceUsd.precision(8).toFixed()];
  const compared = {
    price: `its price is ${reference} USD`,
    range: `${reference} USD is the ${own.gt(referenceUsd) ? 'highest' : 'lowest'} possible value of a token of its kind; no other price is known`,
    before: `its value before was ${reference} USD; no other price is known`,
  };
  const message = `The oracle values the collateral at ${oracle} USD, and ${compared[against]}.`;
  return { code: CODES[against], field: 'oracle', value: own.toFixed(), message };
}
