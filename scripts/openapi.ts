import { writeFileSync } from 'node:fs';
import { curatedChains } from '../src/catalog/index.ts';
import { createOpenApi } from '../src/rest/openapi/document.ts';
import { createRoutes } from '../src/rest/routes/index.ts';
import { INTERFACE_VERSION } from '../src/rest/types.ts';

const routes = createRoutes({ chainIds: curatedChains.map(({ chainId }) => chainId) });
const document = createOpenApi({ routes, version: INTERFACE_VERSION });
writeFileSync(new URL('../openapi.json', import.meta.url), `${JSON.stringify(document, null, 2)}\n`);
