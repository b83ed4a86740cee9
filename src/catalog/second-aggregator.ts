import type { ChainData } from './schema.ts';

const NAMED_CHAIN_ID = 1;
const OPTIONAL_CHAIN_ID = 4663;

/**
 * Add the second aggregator to chain 4663, under its name for that chain. It trades there through the same router as on chain 1
 * by a public client of it, which the provider does not document: so it is a setting.
 * @param name absent = the curated data alone
 */
export function withSecondAggregator(data: readonly ChainData[], name: string | undefined): readonly ChainData[] {
  const routers = data.find(({ chainId }) => chainId === NAMED_CHAIN_ID)?.swapRouters.AggregatorTwo;
  if (name === undefined || routers === undefined) return data;
  return data.map((row) =>
    row.chainId === OPTIONAL_CHAIN_ID
      ? {
          ...row,
          providers: { ...row.providers, openocean: name },
          swapRouters: { ...row.swapRouters, AggregatorTwo: routers },
        }
      : row,
  );
}
