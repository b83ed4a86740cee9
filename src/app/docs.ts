import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { errorResponse } from '../rest/envelope.ts';
import { createOpenApi } from '../rest/openapi/document.ts';
import { MethodNotAllowedError } from '../rest/router.ts';
import { type AnyRoute, INTERFACE_VERSION, type RestRequest, type RestResponse } from '../rest/types.ts';
import { HTML_SECURITY_HEADERS } from '../server/headers.ts';

export interface DocsPages {
  readonly paths: readonly string[];
  /** `undefined` = not a page of this kind. */
  answer(request: RestRequest): RestResponse | undefined;
}

/** Documents change with a deployment only; an hour is short enough for that. */
const CACHE = 'public, max-age=3600';
const JSON_TYPE = 'application/json; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>spiral-gateway: /v1</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/** Without a validator elsewhere, and without keeping the key that somebody tries. */
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

/** Serve the description of the interface, and a page that shows it: all of it from here, nothing from elsewhere. */
export function createDocsPages({ routes }: { readonly routes: readonly AnyRoute[] }): DocsPages {
  const asset = (name: string) => {
    const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
    return readFileSync(join(folder, name));
  };
  const page = (
    type: string,
    body: string | Uint8Array,
    extra: Readonly<Record<string, string>> = {},
  ): RestResponse => ({
    status: 200,
    headers: { 'content-type': type, 'cache-control': CACHE, ...extra },
    body,
  });
  const makers: Readonly<Record<string, () => RestResponse>> = {
    '/openapi.json': () => page(JSON_TYPE, JSON.stringify(createOpenApi({ routes, version: INTERFACE_VERSION }))),
    '/docs': () => page('text/html; charset=utf-8', PAGE, HTML_SECURITY_HEADERS.docs),
    '/docs/start.js': () => page(SCRIPT_TYPE, START),
    '/docs/swagger-ui-bundle.js': () => page(SCRIPT_TYPE, asset('swagger-ui-bundle.js')),
    '/docs/swagger-ui.css': () => page('text/css; charset=utf-8', asset('swagger-ui.css')),
  };
  const made = new Map<string, RestResponse>();
  return {
    paths: Object.keys(makers),
    answer(request) {
      const make = Object.hasOwn(makers, request.path) ? makers[request.path] : undefined;
      if (!make) return undefined;
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        const { code, message, status } = new MethodNotAllowedError(request.method, request.path, ['GET', 'HEAD']);
        return errorResponse({ code, message, status, allow: ['GET', 'HEAD'] }, request.correlationId);
      }
      const known = made.get(request.path) ?? make();
      made.set(request.path, known);
      return known;
    },
  };
}
