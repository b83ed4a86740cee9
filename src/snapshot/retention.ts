import type { Catalog } from '../catalog/types.ts';
import type { FactGroup } from '../domain/facts.ts';
import type { ChainId } from '../shared/ids.ts';
import type { KeepItem } from './merge.ts';

const BY_MARKET: readonly FactGroup[] = [
  'lendingState',
  'incentives',
  'incentiveHistory',
  'sharedLiquidity',
  'borrowHistory',
  'marketSupport',
];
const BY_TOKEN: readonly FactGroup[] = ['collateralApy', 'price', 'exitLiquidity', 'tokenContract'];

/**
 * Return which persisted items of a chain are still in the catalog. Pools of the stable index are not in the catalog and stay.
 */
export function keepCatalogItems(catalog: Catalog, chainId: ChainId): KeepItem {
  const chain = catalog.chain(chainId);
  const markets = new Set<string>(chain?.markets.map((market) => market.id));
  const oracles = new Set<string>(chain?.markets.map((market) => market.oracle));
  const tokens = new Set<string>(chain?.tokens.map((token) => token.address));
  return (group, key) => {
    if (BY_MARKET.includes(group)) return markets.has(key);
    if (BY_TOKEN.includes(group)) return tokens.has(key);
    return group === 'oracle' ? oracles.has(key) : true;
  };
}
