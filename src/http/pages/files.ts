import type { AnyRoute, RestRequest, RestResponse } from '../../rest/types.ts';
import { compress } from '../compression.ts';
import { docsFiles } from './docs.ts';
import type { exampleTabs } from './example-tabs.ts';
import { GRAPHIQL_PAGE, graphiqlFiles } from './graphiql.ts';
import { opsPageFiles } from './ops-page.ts';
import { createStaticFiles, type StaticFile, type StaticFiles, type StaticFilesDeps } from './static-files.ts';

export interface FilesDeps extends Pick<StaticFilesDeps, 'charge'> {
  readonly routes: readonly AnyRoute[];
  /** Initial tabs of GraphiQL; `null` = GraphiQL is off. */
  readonly tabs: ReturnType<typeof exampleTabs> | null;
}

export interface Files extends Pick<StaticFiles, 'paths' | 'answer'> {
  page(request: RestRequest): Promise<RestResponse>;
}

/** Gather the static files: the description of the interface with its page, GraphiQL, and the ops page. */
export function createFiles({ routes, tabs, charge }: FilesDeps): Files {
  const urlOf = (path: string): Promise<string> => served.urlOf(path);
  const graphiql = tabs ? graphiqlFiles(tabs, urlOf) : undefined;
  const files: Readonly<Record<string, StaticFile>> = {
    ...docsFiles(routes, urlOf),
    ...opsPageFiles(),
    ...graphiql,
  };
  const served = createStaticFiles({ files, compress, charge });
  return {
    paths: served.paths,
    answer: served.answer,
    async page(request) {
      const response = served.answer({ ...request, path: GRAPHIQL_PAGE, query: '' });
      if (response === undefined) throw new Error('GraphiQL is not served');
      return response;
    },
  };
}
