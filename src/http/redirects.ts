import type { RestRequest, RestResponse } from '../rest/types.ts';

export interface Redirects {
  /** `undefined` = no redirect for this path. */
  answer(request: RestRequest): RestResponse | undefined;
}

/**
 * Create the redirects of paths that people type into a browser: the host alone leads to the documents, and a page with a
 * trailing slash to the page.
 */
export function createRedirects({ pages }: { readonly pages: readonly string[] }): Redirects {
  const known = new Set(pages);
  return {
    answer({ method, path, query }) {
      if (method !== 'GET' && method !== 'HEAD') return undefined;
      const page = path === '/' ? '/docs' : path.slice(0, -1);
      if (!path.endsWith('/') || !known.has(page)) return undefined;
      // Relative, so that it also works behind a proxy with a path prefix.
      const up = path === '/' ? './' : '../';
      const location = `${up}${page.slice(1)}${query === '' ? '' : `?${query}`}`;
      return { status: 308, headers: { location, 'cache-control': 'public, max-age=3600' }, body: '' };
    },
  };
}
