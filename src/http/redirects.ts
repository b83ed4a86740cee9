import type { RestRequest, RestResponse } from '../rest/types.ts';

export interface Redirects {
  /** `undefined` = no redirect for this path. */
  answer(request: RestRequest): RestResponse | undefined;
}

export interface RedirectOptions {
  readonly pages: readonly string[];
  /** Whether a row of the REST contract has this path. */
  readonly isRow: (path: string) => boolean;
}

/**
 * Create the redirects of paths that people type into a browser: a page or a row with a trailing slash leads to the same path
 * without it.
 */
export function createRedirects({ pages, isRow }: RedirectOptions): Redirects {
  const known = new Set(pages);
  return {
    answer({ method, path, query }) {
      if (method !== 'GET' && method !== 'HEAD') return undefined;
      const page = path.slice(0, -1);
      if (!path.endsWith('/') || !(known.has(page) || isRow(page))) return undefined;
      // Relative, so that it also works behind a proxy with a path prefix.
      const location = `../${page.slice(page.lastIndexOf('/') + 1)}${query === '' ? '' : `?${query}`}`;
      return { status: 308, headers: { location, 'cache-control': 'public, max-age=3600' }, body: '' };
    },
  };
}
