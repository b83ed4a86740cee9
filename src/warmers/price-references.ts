import type { Chain, Market, Token } from '../catalog/types.ts';
import type { ChainFacts, UsdPrice } from '../domain/facts.ts';
import { oracleUsd } from '../domain/market/prices.ts';
import { peggedTokens } from '../domain/market/statics.ts';
import { agree, isOffPeg, type PriceReferences } from '../domain/plausibility/judge.ts';
import { Decimal } from '../shared/decimal.ts';
import type { Address } from '../shared/ids.ts';

/** What prices were told of a token, by whoever answered. */
export type Told = (address: string) => readonly UsdPrice[];

const ONE = new Decimal(1);

/**
 * What a price is compared with before it is published: the last good one, and what an oracle says of it in a loan token. That
 * one is worth its last good price; without one a stablecoin what is told near its peg, or the peg; another what two oracles
 * make of it, and without them what all who tell it agree on. A loan token itself is worth what two oracles make of it.
 */
export function referencesOf(chain: Chain, facts: ChainFacts, token: Token, told: Told): PriceReferences {
  const { price, oracle } = facts.groups;
  const pegged = peggedTokens(chain);
  const oracleOf = (market: Market) => oracle.items.get(market.oracle)?.value.price;

  const known = (address: Address): Decimal | undefined => {
    const lastGood = price.items.get(address)?.value.usd;
    if (lastGood) return lastGood;
    const prices = told(address);
    if (pegged.has(address)) return prices.find(({ usd }) => !isOffPeg(usd))?.usd ?? ONE;
    const [first] = prices;
    return crossed(address) ?? (first && prices.every(({ usd }) => agree(first.usd, usd)) ? first.usd : undefined);
  };
  /** One collateral has an oracle in dollars and one in the token: wstETH in USDC and in WETH tell WETH. */
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
