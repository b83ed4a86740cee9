import { type OracleType, oracleTypeOf } from '../../domain/market/oracle-basis.ts';
import type { ComposedMarket } from '../../domain/market/types.ts';
import type { ReadAt } from '../../domain/position/types.ts';
import type { Decimal } from '../../shared/decimal.ts';

/** LTV limits, percent. */
export interface LtvLimitsView {
  readonly liquidation: Decimal | string;
  readonly max: Decimal | string;
  readonly safe: Decimal | string;
}

/** An oracle with its latest reading. */
export interface OracleReading {
  readonly address: string;
  readonly type: OracleType | undefined;
  /** Loan base units per collateral base unit, scaled by 1e36. */
  readonly price: bigint;
  readonly readAt: ReadAt;
}

/** Show the oracle of a market with its latest reading. */
export function oracleOf({ market, facts: { oracle } }: ComposedMarket): OracleReading {
  const { price, blockNumber } = oracle.value;
  return {
    address: market.oracle,
    type: oracleTypeOf(oracle.value),
    price,
    readAt: { blockNumber, blockTimeMs: oracle.asOfMs },
  };
}
