/** When a value was measured and how long it counts as fresh. `staleForSec` is rendered from it, never stored. */
export interface Stamp {
  readonly asOfMs: number;
  readonly staleAfterSec: number;
}

/** Why a field carries no value. */
export type GapReason =
  /** The field has no meaning for this object (the maturity of a token without one). */
  | 'NOT_APPLICABLE'
  /** Measured: there is none (no running incentive). */
  | 'NONE'
  /** Nothing measures it yet, or its source is not configured. */
  | 'NOT_MEASURED'
  /** The request to its source failed, and there is no last-good value. */
  | 'SOURCE_FAILED'
  /** A value was received and was implausible. */
  | 'IMPLAUSIBLE'
  /** The history is shorter than the window. */
  | 'TOO_SHORT';

/** One empty field of an object, and why. The contract decides whether it is `null` or absent in REST. */
export interface Gap {
  /** Dotted path inside the object by the names of the schema, e.g. `collateral.maturesAt`. */
  readonly field: string;
  readonly reason: GapReason;
  /** One plain sentence. */
  readonly message: string;
  /** Start of the failures, or time at which the absence was established, ms; absent when no attempt was made. */
  readonly sinceMs?: number | undefined;
}
