import type { Address } from 'viem';
import type { Catalog, Token } from '../../src/catalog/index.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { Decimal, fromUnits } from '../../src/shared/decimal.ts';
import { tokenSeed } from '../seed/tokens.ts';
import { createCampaignBook } from './campaigns.ts';
import { connectLocalChain, type LocalChain } from './local-chain.ts';
import type { World } from './types.ts';

/** Prices are integer divisions on chain. Rounded to this many decimals they equal the seeded number. */
const PRICE_DECIMALS = 8;

/** Connect the providers with the catalog, the seeds and the local chains. */
export function createWorld(options: {
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** By chain id. A chain without one has no quotes and no lending state; its prices are the seeded ones. */
  readonly rpcUrls: Readonly<Record<number, string>>;
  readonly vaults: readonly { readonly chainId: number; readonly address: Address }[];
}): World {
  const { catalog, clock, rpcUrls, vaults } = options;
  const locals = new Map<number, LocalChain>();
  for (const chain of catalog.chains) {
    const rpcUrl = rpcUrls[chain.chainId];
    const addresses = vaults.filter(({ chainId }) => chainId === chain.chainId).map(({ address }) => address);
    if (rpcUrl !== undefined) locals.set(chain.chainId, connectLocalChain(chain, rpcUrl, addresses));
  }

  return {
    catalog,
    clock,
    startedMs: clock.now(),
    campaigns: createCampaignBook(),

    chain(chainId) {
      const local = locals.get(chainId);
      if (local === undefined) throw new Error(`The simulated upstreams run without local chain ${chainId}`);
      return local;
    },

    async pricesUsd(tokens) {
      const chainIds = [...new Set(tokens.map(({ chainId }) => chainId))];
      const onChain = new Map(
        await Promise.all(
          chainIds.map(async (chainId) => {
            const router = catalog.chain(chainId)?.swapRouters.AggregatorOne?.[0];
            const local = locals.get(chainId);
            const addresses = tokens.filter((token) => token.chainId === chainId).map(({ address }) => address);
            const prices = router && local ? await local.venuePrices(router, addresses) : new Map<Address, bigint>();
            return [chainId, prices] as const;
          }),
        ),
      );
      return new Map(
        tokens.map((token) => {
          const price = onChain.get(token.chainId)?.get(token.address) ?? 0n;
          return [token, price === 0n ? seededPrice(token) : rounded(fromUnits(price, 18))] as const;
        }),
      );
    },

    apyPct(token) {
      const { apyPct } = tokenSeed(token.chainId, token.symbol);
      return apyPct === undefined ? undefined : new Decimal(apyPct);
    },
  };
}

function seededPrice(token: Token): Decimal {
  return new Decimal(tokenSeed(token.chainId, token.symbol).usdPrice);
}

function rounded(price: Decimal): Decimal {
  return price.decimalPlaces(PRICE_DECIMALS);
}
