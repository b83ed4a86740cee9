import { type Address, type Hex, parseAbi } from 'viem';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import type { Market } from '../../src/catalog/index.ts';
import { Decimal, toUnits } from '../../src/shared/decimal.ts';
import { feedsOf, oracleSeed } from '../seed/oracles.ts';
import { tokenSeed } from '../seed/tokens.ts';

/** Oracle price of a market that agrees with the seeded USD prices: loan base units per collateral base unit, times 1e36. */
export function seededOraclePrice(market: Market): bigint {
  const { collateral, loan, chainId } = market;
  const ratio = new Decimal(tokenSeed(chainId, collateral.symbol).usdPrice).div(
    tokenSeed(chainId, loan.symbol).usdPrice,
  );
  return toUnits(ratio, 36 + loan.decimals - collateral.decimals);
}

const pricesAbi = parseAbi(['function setPrice(uint256 price)', 'function setAnswer(int256 answer)']);

/** The owner's call that sets the price of an oracle: of the feed behind it where it has one. */
export function priceCall(market: Market, price: bigint): { readonly to: Address; readonly data: Hex } {
  if (oracleSeed(market).kind !== 'feed') {
    return { to: market.oracle, data: encodeFunctionData({ abi: pricesAbi, functionName: 'setPrice', args: [price] }) };
  }
  const data = encodeFunctionData({ abi: pricesAbi, functionName: 'setAnswer', args: [price] });
  return { to: feedsOf(market).base, data };
}
