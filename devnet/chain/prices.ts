import type { Market } from '../../src/catalog/index.ts';
import { Decimal, toUnits } from '../../src/shared/decimal.ts';
import { tokenSeed } from '../seed/tokens.ts';

/** Oracle price of a market that agrees with the seeded USD prices: loan base units per collateral base unit, times 1e36. */
export function seededOraclePrice(market: Market): bigint {
  const { collateral, loan, chainId } = market;
  const ratio = new Decimal(tokenSeed(chainId, collateral.symbol).usdPrice).div(
    tokenSeed(chainId, loan.symbol).usdPrice,
  );
  return toUnits(ratio, 36 + loan.decimals - collateral.decimals);
}
