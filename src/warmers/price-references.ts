import type { Chain, Market, Token } from '../catalog/types.ts';
import type { ChainFacts, UsdPrice } from '../domain/facts.ts';
import { oracleUsd } from '../domain/market/prices.ts';
import { peggedTokens } from '../domain/market/statics.ts';
import { agree, isOffPeg, type PriceReferences } from '../domain/plausibility/suspect.ts';
import { Decimal } from '../shared/decimal.ts';
import type { Address } from '../shared/ids.ts';

/** All prices received for a token, from any provider. */
export type ReceivedPrices = (address: string) => readonly UsdPrice[];

const ONE = new Decimal(1);

/**
 * References of a price before it is published: the last good one, and the value by an oracle in a loan token. The loan token
 * is valued at its last good price. Without one, a pegged stablecoin is valued at a received price near its peg, or at the
 * peg; another token at the value that two oracles agree on, or else at the price that all providers agree on.
 */
export function referencesOf(chain: Chain, facts: ChainFacts, token: Token, received: ReceivedPrices): PriceReferences {
  const { price, oracle } = facts.groups;
  const pegged = peggedTokens(chain);
  const oracleOf = (market: Market) => oracle.items.get(market.oracle)?.value.price;

  const known = (address: Address): Decimal | undefined => {
    const lastGood = price.items.get(address)?.value.usd;
    if (lastGood) return lastGood;
    const prices = received(address);
    if (pegged.has(address)) return prices.find(({ usd }) => !isOffPeg(usd))?.usd ?? ONE;
    const [first] = prices;
    return crossed(address) ?? (first && prices.every(({ usd }) => agree(first.usd, usd)) ? first.usd : undefined);
  };
  /** WETH follows from two oracles of one collateral: wstETH in USDC and wstETH in WETH. */
  const crossed = (address: Address): Decimal | undefined => {
    for (const inToken of chain.markets) {
      if (inToken.loan.address !== address) continue;
      for (const inDollars of chain.markets) {
        if (inDollars.collateral.address !== inToken.collateral.address || !pegged.has(inDollars.loan.address))
          continue;
        const [tokens, dollars] = [oracleOf(inToken), oracleOf(inDollars)];
        const stable = known(inDollars.loan.address);
        if (tokens && dollars && stable)
          return oracleUsd(inDollars, dollars, stable).div(oracleUsd(inToken, tokens, ONE));
      }
    }
    return undefined;
  };
  const byOracle = (): Decimal | undefined => {
    for (const market of chain.markets) {
      if (market.collateral.address !== token.address) continue;
      const [value, loanUsd] = [oracleOf(market), known(market.loan.address)];
      if (value !== undefined && loanUsd) return oracleUsd(market, value, loanUsd);
    }
    return crossed(token.address);
  };
  return {
    pegged: pegged.has(token.address),
    lastGood: price.items.get(token.address)?.value.usd,
    oracle: byOracle(),
  };
}
