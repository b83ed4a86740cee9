import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { createRoutes } from '../../src/rest/routes/index.ts';
import { sharedSchema } from '../../src/schema/index.ts';
import { equityChainIds } from '../../src/transactions/equity/index.ts';

const catalog = createCatalog(curatedChains);

/** The rows of the curated catalog. */
export const routes = createRoutes({
  schema: sharedSchema(),
  chainIds: catalog.chainIds,
  equityChainIds: equityChainIds(catalog.chains),
});
