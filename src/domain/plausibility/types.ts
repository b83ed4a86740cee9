import type { Decimal } from '../../shared/decimal.ts';
import type { WarnedField, WarningCode } from '../../shared/vocabulary.ts';

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
