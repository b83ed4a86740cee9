import { writeFileSync } from 'node:fs';
import { createCatalog, curatedChains } from '../src/catalog/index.ts';
import { createOpenApi } from '../src/rest/openapi/document.ts';
import { createRoutes } from '../src/rest/routes/index.ts';
import { INTERFACE_VERSION } from '../src/rest/types.ts';
import { sharedSchema } from '../src/schema/index.ts';
import { equityChainIds } from '../src/transactions/equity/index.ts';

const { chains, chainIds } = createCatalog(curatedChains);
const routes = createRoutes({ schema: sharedSchema(), chainIds, equityChainIds: equityChainIds(chains) });
const document = createOpenApi({ routes, version: INTERFACE_VERSION });
writeFileSync(new URL('../openapi.json', import.meta.url), `${JSON.stringify(document, null, 2)}\n`);
