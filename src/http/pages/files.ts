import type { ExampleApp } from '../../config/config.ts';
import type { AnyRoute, RestRequest, RestResponse } from '../../rest/types.ts';
import { compress } from '../compression.ts';
import { docsFiles } from './docs.ts';
import { exampleAppFiles } from './example-app.ts';
import type { ExampleTabs } from './example-tabs.ts';
import { GRAPHIQL_PAGE, graphiqlFiles } from './graphiql.ts';
import { guideFiles } from './guide-files.ts';
import type { GuideText } from './guides.ts';
import { homeFiles } from './home.ts';
import { looksForPage, notFoundPage } from './not-found.ts';
import { opsPageFiles } from './ops-page.ts';
import { createStaticFiles, type StaticFile, type StaticFiles, type StaticFilesDeps } from './static-files.ts';

export interface FilesDeps extends Pick<StaticFilesDeps, 'charge'> {
  readonly routes: readonly AnyRoute[];
  readonly guides: readonly GuideText[];
  /** Tabs of GraphiQL; `null` = GraphiQL is off. */
  readonly tabs: ExampleTabs | null;
  /** Prints the schema in SDL; absent = introspection is off. */
  readonly sdl?: (() => string) | undefined;
  /** Keys of the local world, which its pages name. */
  readonly sampleKeys: readonly string[];
  /** Of the local world. */
  readonly exampleApp?: ExampleApp | undefined;
}

export interface Files extends Pick<StaticFiles, 'paths' | 'answer'> {
  page(request: RestRequest): Promise<RestResponse>;
  /** The page for a path that leads nowhere; `undefined` = the caller does not look for a page, or it is a row. */
  missing(request: RestRequest, isRow: (path: string) => boolean): Promise<RestResponse> | undefined;
  /** Paths with a trailing slash. */
  readonly folders: readonly string[];
}

/** The schema changes with a deployment only, so an hour is enough. */
const HOUR = 'public, max-age=3600';
const GRAPHIQL_CARD =
  '<li><a href="graphql"><strong>GraphiQL</strong><span>The GraphQL schema, with queries to run.</span></a></li>';
const APP_CARD =
  '<li><a href="app/"><strong>Example app</strong><span>Strategies, previews and positions, with a wallet of the local world.</span></a></li>';
const SCHEMA_LINK = '<a href="schema.graphql">Schema</a>';
const GRAPHIQL_LINK = '<a href="graphql">GraphiQL</a>';

/** Gather the static files: the home page, the description of the interface with its page, GraphiQL, and the ops page. */
export function createFiles({ routes, guides, tabs, sdl, sampleKeys, exampleApp, charge }: FilesDeps): Files {
  const urlOf = (path: string): Promise<string> => served.urlOf(path);
  const keys =
    sampleKeys.length === 0
      ? ''
      : ` Keys of this local world: ${sampleKeys.map((key) => `<code>${key}</code>`).join(', ')}.`;
  const graphiql = tabs ? graphiqlFiles(tabs, { schema: sdl ? SCHEMA_LINK : '' }, urlOf) : undefined;
  const files: Readonly<Record<string, StaticFile>> = {
    ...homeFiles({ urlOf, slots: { graphiql: tabs ? GRAPHIQL_CARD : '', app: exampleApp ? APP_CARD : '', keys } }),
    ...docsFiles({ routes, urlOf, slots: { graphiql: tabs ? GRAPHIQL_LINK : '', keys } }),
    ...guideFiles(guides, urlOf),
    ...opsPageFiles(),
    ...exampleAppFiles(exampleApp),
    ...graphiql,
    ...(sdl && { '/schema.graphql': { type: 'text/plain; charset=utf-8', load: sdl, cacheControl: HOUR } }),
  };
  const served = createStaticFiles({ files, compress, charge });
  return {
    paths: served.paths,
    answer: served.answer,
    folders: served.paths.filter((path) => path.endsWith('/') && path !== '/'),
    missing(request, isRow) {
      if (!looksForPage(request) || isRow(request.path)) return undefined;
      return Promise.all([urlOf('/docs/guide.css'), urlOf('/favicon.svg'), charge(request, 1)]).then(
        ([style, icon, charged]) => notFoundPage(request, { style, icon, charged }),
      );
    },
    async page(request) {
      const response = served.answer({ ...request, path: GRAPHIQL_PAGE, query: '' });
      if (response === undefined) throw new Error('GraphiQL is not served');
      return response;
    },
  };
}
