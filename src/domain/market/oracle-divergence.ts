import type { Market } from '../../catalog/types.ts';
import { Decimal, HUNDRED } from '../../shared/decimal.ts';
import type { Fact, OraclePrice, UsdPrice } from '../facts.ts';
import { apart } from '../plausibility/judge.ts';
import { exceededBound } from './oracle-range.ts';
import { ORACLE_SOURCE, oracleUsd } from './prices.ts';
import type { Warning } from './types.ts';

/** An oracle that values the collateral further from its price than this is told, percent. */
const ORACLE_DIVERGENCE_PCT = 10;
/** An oracle value further from the one before than this is told, percent. */
const ORACLE_JUMP_PCT = 20;
/** For so long a jump is told while it lasts, ms: a day. */
const JUMP_TOLD_MS = 86_400_000;

/**
 * `price`: the collateral has a price that this oracle has no part in. It has none otherwise: `range`, the oracle is outside what
 * a token of its kind can be worth; `before`, the oracle's own value from before a jump stands in.
 */
export type OracleReference = 'price' | 'range' | 'before';

/** How far what an oracle says of the collateral is from what it can be compared with. */
export interface OracleDivergence {
  readonly against: OracleReference;
  /** USD per whole collateral token, by the oracle and the loan token's price. */
  readonly oracleUsd: Decimal;
  readonly referenceUsd: Decimal;
  /** Of the oracle from the reference, signed percent. */
  readonly divergencePct: Decimal;
}

/** What an oracle is compared with. */
export interface OracleComparison {
  readonly market: Market;
  readonly oracle: Pick<Fact<OraclePrice>, 'value' | 'asOfMs'>;
  readonly loanUsd: Decimal | undefined;
  /** The price of the collateral; one that comes from an oracle is only one where it is another market's. */
  readonly price: Pick<Fact<UsdPrice>, 'value' | 'source'> | undefined;
}

/** Compare an oracle's value; `undefined` where it is near, and where nothing is known to compare it with. */
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
  // What was impossible then is no measure of what is told now.
  return earlier && !boundOf(earlier) ? divergence('before', own, earlier) : undefined;
}

function divergence(against: OracleReference, own: Decimal, reference: Decimal): OracleDivergence | undefined {
  if (!reference.gt(0)) return undefined;
  const divergencePct = own.minus(reference).times(HUNDRED).div(reference);
  return { against, oracleUsd: own, referenceUsd: reference, divergencePct };
}

/**
 * Remember with an oracle's value the one from before a jump, for a day and while it is that far away: what a chain tells is
 * shown at once, and marked.
 */
export function withJump(fresh: OraclePrice, known: OraclePrice | undefined, nowMs: number): OraclePrice {
  if (!known) return fresh;
  const told = known.before;
  const before = told && nowMs - told.atMs <= JUMP_TOLD_MS ? told : { price: known.price, atMs: nowMs };
  const isFar = apart(new Decimal(fresh.price), new Decimal(before.price)).times(HUNDRED).gt(ORACLE_JUMP_PCT);
  return isFar ? { ...fresh, before } : fresh;
}

const CODES = { price: 'oracle_divergence', range: 'oracle_out_of_range', before: 'oracle_jump' } as const;

/** Say in a sentence that an oracle is far from its reference. */
export function divergenceWarning({ against, oracleUsd: own, referenceUsd }: OracleDivergence): Warning {
  const [oracle, reference] = [own.precision(8).toFixed(), referenceUsd.precision(8).toFixed()];
  const compared = {
    price: `its price is ${reference} USD`,
    range: `${reference} USD is the ${own.gt(referenceUsd) ? 'most' : 'least'} that a token of its kind can be worth; no other price of it is known`,
    before: `said ${reference} USD before; no other price of it is known`,
  };
  const message = `The oracle values the collateral at ${oracle} USD, and ${compared[against]}.`;
  return { code: CODES[against], field: 'oracle', value: own.toFixed(), message };
}
