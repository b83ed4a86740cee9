import type { Decimal } from '../../shared/decimal.ts';

export const WARNING_CODES = [
  'suspect_price',
  'suspect_apy',
  'suspect_incentive',
  'suspect_exit',
  'off_peg',
  'oracle_divergence',
  'oracle_out_of_range',
  'oracle_jump',
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];
/** Warnings on one market: of each code one per token. */
export const MAX_WARNINGS: number = 2 * WARNING_CODES.length;
/** The values that warnings are about, as paths in a strategy of /v1. */
export const WARNED_FIELDS = [
  'collateral.priceUsd',
  'loan.priceUsd',
  'collateralApyPct',
  'borrowIncentive',
  'exitLiquidity',
  'oracle',
] as const;
export type WarnedField = (typeof WARNED_FIELDS)[number];

/** A caveat about a value, for clients that rely on it. */
export interface Warning {
  readonly code: WarningCode;
  readonly field: WarnedField;
  /** The unconfirmed or divergent value as plain decimal: USD for prices, percent for rates. */
  readonly value: string;
  /** One plain sentence. */
  readonly message: string;
}

/**
 * Reference of the comparison. `price`: a price of the collateral that does not depend on this oracle. Without one: `range`,
 * the bounds for a token of its kind; `before`, the oracle's own value before a jump.
 */
export type OracleReference = 'price' | 'range' | 'before';

/** Distance between an oracle's value of the collateral and its reference. */
export interface OracleDivergence {
  readonly against: OracleReference;
  /** USD per whole collateral token, by the oracle and the loan token's price. */
  readonly oracleUsd: Decimal;
  readonly referenceUsd: Decimal;
  /** Of the oracle's value from the reference, signed percent. */
  readonly divergencePct: Decimal;
}
