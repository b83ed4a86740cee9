import type { RestRequest, RestResponse } from '../rest/types.ts';

export interface Redirects {
  /** `undefined` = no redirect for this path. */
  answer(request: RestRequest): RestResponse | undefined;
}

export interface RedirectOptions {
  readonly pages: readonly string[];
  /** Paths with a trailing slash. */
  readonly folders: readonly string[];
  /** Whether a row of the REST contract has this path. */
  readonly isRow: (path: string) => boolean;
}

/**
 * Create the redirects of misspelt paths: a page or a row with a trailing slash leads to the same path without it, and a folder
 * without one to the same path with it. They hold for every method, because the status 308 keeps method and body.
 */
export function createRedirects({ pages, folders, isRow }: RedirectOptions): Redirects {
  const known = new Set(pages);
  return {
    answer({ path, query }) {
      const search = query === '' ? '' : `?${query}`;
      if (folders.includes(`${path}/`)) return moved(`.${path.slice(path.lastIndexOf('/'))}/${search}`);
      const page = path.slice(0, -1);
      if (!path.endsWith('/') || !(known.has(page) || isRow(page))) return undefined;
      // Relative, so that it also works behind a proxy with a path prefix.
      return moved(`../${page.slice(page.lastIndexOf('/') + 1)}${search}`);
    },
  };
}

function moved(location: string): RestResponse {
  return { status: 308, headers: { location, 'cache-control': 'public, max-age=3600' }, body: '' };
}
