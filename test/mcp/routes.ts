import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { createRoutes } from '../../src/rest/routes/index.ts';
import { equityChainIds } from '../../src/transactions/equity/index.ts';

const catalog = createCatalog(curatedChains);

/** The rows of the curated catalog. */
export const routes = createRoutes({
  chainIds: catalog.chainIds,
  equityChainIds: equityChainIds(catalog.chains),
});
