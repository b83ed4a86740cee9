import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createOpenApi } from '../../rest/openapi/document.ts';
import { type AnyRoute, INTERFACE_VERSION } from '../../rest/types.ts';
import { HTML_SECURITY_HEADERS } from '../headers.ts';
import type { StaticFile } from './static-files.ts';

/** Documents change with a deployment only, so an hour is enough. */
const HOUR = 'public, max-age=3600';
const JSON_TYPE = 'application/json; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

const pageOf = (style: string, bundle: string, start: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>spiral-gateway: /v1</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${style}">
  </head>
  <body>
    <div id="ui"></div>
    <script src="${bundle}"></script>
    <script src="${start}"></script>
  </body>
</html>
`;

/** Without an external validator, and without storing keys. */
const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#ui',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
});
`;

/** The OpenAPI description, and a page that shows it. All files are local. */
export function docsFiles(
  routes: readonly AnyRoute[],
  urlOf: (path: string) => Promise<string>,
): Readonly<Record<string, StaticFile>> {
  const asset = (name: string) => () => {
    const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
    return readFile(join(folder, name));
  };
  // Relative, so that the page also works behind a proxy with a path prefix.
  const relative = async (path: string) => (await urlOf(path)).slice(1);
  const page = async () =>
    pageOf(
      await relative('/docs/swagger-ui.css'),
      await relative('/docs/swagger-ui-bundle.js'),
      await relative('/docs/start.js'),
    );
  const openapi = () => JSON.stringify(createOpenApi({ routes, version: INTERFACE_VERSION }));
  return {
    '/openapi.json': { type: JSON_TYPE, load: openapi, cacheControl: HOUR },
    '/docs': { type: 'text/html; charset=utf-8', load: page, cacheControl: HOUR, headers: HTML_SECURITY_HEADERS.docs },
    '/docs/start.js': { type: SCRIPT_TYPE, load: () => START, cacheControl: HOUR },
    '/docs/swagger-ui-bundle.js': { type: SCRIPT_TYPE, load: asset('swagger-ui-bundle.js'), cacheControl: HOUR },
    '/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', load: asset('swagger-ui.css'), cacheControl: HOUR },
  };
}
