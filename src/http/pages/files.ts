import type { ExampleApp } from '../../config/config.ts';
import type { AnyRoute, RestRequest, RestResponse } from '../../rest/types.ts';
import { compress } from '../compression.ts';
import { docsFiles } from './docs.ts';
import { exampleAppFiles } from './example-app.ts';
import type { exampleTabs } from './example-tabs.ts';
import { GRAPHIQL_PAGE, graphiqlFiles } from './graphiql.ts';
import { guideFiles } from './guide-files.ts';
import type { GuideText } from './guides.ts';
import { homeFiles } from './home.ts';
import { opsPageFiles } from './ops-page.ts';
import { createStaticFiles, type StaticFile, type StaticFiles, type StaticFilesDeps } from './static-files.ts';

export interface FilesDeps extends Pick<StaticFilesDeps, 'charge'> {
  readonly routes: readonly AnyRoute[];
  readonly guides: readonly GuideText[];
  /** Initial tabs of GraphiQL; `null` = GraphiQL is off. */
  readonly tabs: ReturnType<typeof exampleTabs> | null;
  /** Keys of the local world, which its pages name. */
  readonly sampleKeys: readonly string[];
  /** Of the local world. */
  readonly exampleApp?: ExampleApp | undefined;
}

export interface Files extends Pick<StaticFiles, 'paths' | 'answer'> {
  page(request: RestRequest): Promise<RestResponse>;
  /** Paths with a trailing slash. */
  readonly folders: readonly string[];
}

const GRAPHIQL_CARD =
  '<li><a href="graphql"><strong>GraphiQL</strong><span>The GraphQL schema, with queries to run.</span></a></li>';
const APP_CARD =
  '<li><a href="app/"><strong>Example app</strong><span>Strategies, previews and positions, with a wallet of the local world.</span></a></li>';
const GRAPHIQL_LINK = '<a href="graphql">GraphiQL</a>';

/** Gather the static files: the home page, the description of the interface with its page, GraphiQL, and the ops page. */
export function createFiles({ routes, guides, tabs, sampleKeys, exampleApp, charge }: FilesDeps): Files {
  const urlOf = (path: string): Promise<string> => served.urlOf(path);
  const keys =
    sampleKeys.length === 0
      ? ''
      : ` Keys of this local world: ${sampleKeys.map((key) => `<code>${key}</code>`).join(', ')}.`;
  const graphiql = tabs ? graphiqlFiles(tabs, urlOf) : undefined;
  const files: Readonly<Record<string, StaticFile>> = {
    ...homeFiles({ urlOf, slots: { graphiql: tabs ? GRAPHIQL_CARD : '', app: exampleApp ? APP_CARD : '', keys } }),
    ...docsFiles({ routes, urlOf, slots: { graphiql: tabs ? GRAPHIQL_LINK : '', keys } }),
    ...guideFiles(guides, urlOf),
    ...opsPageFiles(),
    ...exampleAppFiles(exampleApp),
    ...graphiql,
  };
  const served = createStaticFiles({ files, compress, charge });
  return {
    paths: served.paths,
    answer: served.answer,
    folders: served.paths.filter((path) => path.endsWith('/') && path !== '/'),
    async page(request) {
      const response = served.answer({ ...request, path: GRAPHIQL_PAGE, query: '' });
      if (response === undefined) throw new Error('GraphiQL is not served');
      return response;
    },
  };
}
