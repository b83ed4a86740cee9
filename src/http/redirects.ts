import type { RestRequest, RestResponse } from '../rest/types.ts';

export interface NearMisses {
  /** `undefined` = nothing is close to this path. */
  answer(request: RestRequest): RestResponse | undefined;
}

/** What people type into a browser: the host alone means the documents, and a slash behind a page means the page. */
export function createNearMisses({ pages }: { readonly pages: readonly string[] }): NearMisses {
  const known = new Set(pages);
  return {
    answer({ method, path, query }) {
      if (method !== 'GET' && method !== 'HEAD') return undefined;
      const page = path === '/' ? '/docs' : path.slice(0, -1);
      if (!path.endsWith('/') || !known.has(page)) return undefined;
      // Relative, so that it also holds behind a proxy that serves us under a prefix.
      const up = path === '/' ? './' : '../';
      const location = `${up}${page.slice(1)}${query === '' ? '' : `?${query}`}`;
      return { status: 308, headers: { location, 'cache-control': 'public, max-age=3600' }, body: '' };
    },
  };
}
