import type { RestRequest, RestResponse } from '../../rest/types.ts';
import { acceptsType } from '../../shared/contract/accepts.ts';
import { formatValue } from '../../shared/ids.ts';
import { HTML_SECURITY_HEADERS } from '../headers.ts';
import { escaped } from './guide-html.ts';

/** Whether a person looks for a page: a browser names HTML in `Accept`, and programs do not. Paths of /v1 answer in JSON. */
export function looksForPage({ method, path, headers: { accept } }: RestRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return (
    isRead && !path.startsWith('/v1/') && accept?.includes('text/html') === true && acceptsType(accept, 'text/html')
  );
}

/** The page for a path that leads nowhere. Its URLs are relative, because a proxy may add a path prefix. */
export function notFoundPage(
  { path, correlationId }: Pick<RestRequest, 'path' | 'correlationId'>,
  {
    style,
    icon,
    charged,
  }: { readonly style: string; readonly icon: string; readonly charged: RestResponse['headers'] },
): RestResponse {
  const root = '../'.repeat(path.split('/').length - 2) || './';
  return {
    status: 404,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'accept',
      ...HTML_SECURITY_HEADERS.strict,
      ...charged,
    },
    body: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>No page at this address · spiral-gateway</title>
    <link rel="icon" href="${root}${icon.slice(1)}" type="image/svg+xml">
    <link rel="stylesheet" href="${root}${style.slice(1)}">
  </head>
  <body>
    <main id="content">
      <h1>No page at this address</h1>
      <p>Nothing has the path <code>${escaped(formatValue(path))}</code>.</p>
      <ul>
        <li><a href="${root}">Home</a>: all pages, and the status</li>
        <li><a href="${root}docs">REST interface</a>: every operation</li>
        <li><a href="${root}docs/guides">Guides</a>: every document</li>
      </ul>
      <p>Correlation id: <code>${escaped(correlationId)}</code></p>
    </main>
  </body>
</html>
`,
  };
}
