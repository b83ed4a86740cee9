import { createOpenApi } from '../../rest/openapi/document.ts';
import { type AnyRoute, INTERFACE_VERSION } from '../../rest/types.ts';
import { HTML_SECURITY_HEADERS } from '../headers.ts';
import { htmlPage, placeOf, placeOfPackaged, plainFile, styleFile } from './page-files.ts';
import type { StaticFile } from './static-files.ts';

/** The description changes with a deployment only, so an hour is enough. */
const HOUR = 'public, max-age=3600';
const JSON_TYPE = 'application/json; charset=utf-8';
const FOLDER = 'docs';
const VIEWER = 'openapi-explorer.min.js';

export interface DocsOptions {
  readonly routes: readonly AnyRoute[];
  readonly urlOf: (path: string) => Promise<string>;
  readonly slots: Readonly<Record<string, string>>;
}

/** The OpenAPI description, and a page that shows it. All files are local. */
export function docsFiles({ routes, urlOf, slots }: DocsOptions): Readonly<Record<string, StaticFile>> {
  const own = (name: string) => plainFile(() => placeOf(FOLDER, name), name);
  const openapi = () => JSON.stringify(createOpenApi({ routes, version: INTERFACE_VERSION }));
  return {
    '/openapi.json': { type: JSON_TYPE, load: openapi, cacheControl: HOUR },
    '/docs': htmlPage({
      place: () => placeOf(FOLDER, 'index.html'),
      slots,
      files: ['favicon.svg', 'docs/style.css', 'docs/start.js', 'docs/viewer.js'],
      urlOf,
      policy: HTML_SECURITY_HEADERS.docs,
      markdownAt: '/docs/guides.md',
    }),
    '/docs/style.css': styleFile(() => placeOf(FOLDER, 'style.css')),
    '/docs/start.js': own('start.js'),
    '/docs/viewer.js': plainFile(() => placeOfPackaged(FOLDER, VIEWER, 'openapi-explorer/dist/browser'), VIEWER),
  };
}
