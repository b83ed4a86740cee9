import { mkdirSync, writeFileSync } from 'node:fs';
import type { TrustedChain } from '../packages/client/src/verify/types.ts';
import type { Chain } from '../src/catalog/index.ts';
import { createCatalog, curatedChains } from '../src/catalog/index.ts';

/** The part of a chain that the client verifies plans with. */
export function trustedChain(chain: Chain): TrustedChain {
  const { morphoBlue, flashLeverage, flashLeverageRouter, equityRouter } = chain.contracts;
  const routers = Object.values(chain.swapRouters).flatMap((addresses) => addresses ?? []);
  return {
    chainId: chain.chainId,
    nativeSymbol: chain.native.symbol,
    contracts: { morphoBlue, flashLeverage, flashLeverageRouter, equityRouter },
    swapRouters: [...new Set(routers)],
    tokens: chain.tokens.map(({ address, symbol, decimals }) => ({ address, symbol, decimals })),
    markets: chain.markets.map(({ id, loan, collateral, oracle, irm, lltv, correlated }) => ({
      id,
      loanToken: loan.address,
      collateralToken: collateral.address,
      oracle,
      irm,
      lltv: String(lltv),
      correlated,
    })),
    vaults: chain.equityVaults.map(({ id, stockMarket, yieldMarket, targetLtvPct }) => ({
      id,
      stockMarketId: stockMarket.id,
      yieldMarketId: yieldMarket.id,
      targetLtvPct,
    })),
  };
}

/** Write the module with the chains of the catalog, one token, market or vault a line. */
export function renderChains(chains: readonly Chain[]): string {
  return `// Made from the catalog by \`npm run generate\`.

/** The contracts, tokens, markets and vaults of the service's catalog. */
export const CATALOG_CHAINS = [
${chains.map((chain) => renderChain(trustedChain(chain))).join('\n')}
] as const;
`;
}

function renderChain(chain: TrustedChain): string {
  const fields = Object.entries(chain).map(([name, value]) => {
    if (!Array.isArray(value)) return `    ${name}: ${JSON.stringify(value)},`;
    return `    ${name}: [\n${value.map((item) => `      ${JSON.stringify(item)},`).join('\n')}\n    ],`;
  });
  return `  {\n${fields.join('\n')}\n  },`;
}

/** Write the module with the chains of the catalog. */
export function writeChains(): void {
  const folder = new URL('../packages/client/src/verify/generated/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL('chains.ts', folder), renderChains(createCatalog(curatedChains).chains));
}
