import type { Strategy } from '../client.ts';
import type { LtvLimits } from '../parts/ltv-bar.ts';

/** The strategy of a form that opens something, and what follows the form. */
export interface StrategyForm {
  readonly strategy: Strategy;
  readonly limits: LtvLimits;
  /** The leverage has moved. */
  onChange(leverage: number): void;
  /** A preview has come, or there is none. */
  onPreview(leverage: number, found?: Previewed): void;
}

export interface Previewed {
  /** Net APY, percent. */
  readonly apyPct: string | undefined;
  /** The own money in it; `undefined` = its price is not known. */
  readonly equityUsd: string | undefined;
  /** LTV after the expected fill, percent. */
  readonly ltvPct: string;
}
