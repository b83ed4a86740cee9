import type * as Sources from '@graphql-yoga/render-graphiql/graphiql';
import { HTML_SECURITY_HEADERS } from '../headers.ts';
import type { exampleTabs } from './example-tabs.ts';
import { htmlPage, placeOf, plainFile } from './page-files.ts';
import type { StaticFile } from './static-files.ts';

const FOLDER = 'graphiql-page';
const HOUR = 'public, max-age=3600';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

/** Path of the page; the GraphQL endpoint serves it to browsers. */
export const GRAPHIQL_PAGE = '/graphiql/page';

const startOf = (
  workers: Readonly<Record<string, string>>,
  options: object,
) => `const workers = ${JSON.stringify(workers)};
self.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_id, label) => workers[label] };
YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), ${JSON.stringify(options)});
`;

/**
 * GraphiQL as separate files. The page names its scripts by their hashes, so that a browser loads the five megabytes once; the
 * package's own page has them inline. The package is imported on the first request for the page.
 */
export function graphiqlFiles(
  tabs: ReturnType<typeof exampleTabs>,
  urlOf: (path: string) => Promise<string>,
): Readonly<Record<string, StaticFile>> {
  const source = (name: keyof typeof Sources) => async () => (await sources())[name];
  // Relative to the page at /graphql, so that it also works behind a proxy with a path prefix.
  const relative = async (path: string) => (await urlOf(path)).slice(1);
  const start = async () =>
    startOf(
      {
        editorWorkerService: await relative('/graphiql/editor-worker.js'),
        json: await relative('/graphiql/json-worker.js'),
        graphql: await relative('/graphiql/graphql-worker.js'),
      },
      { title: 'spiral-gateway', defaultTabs: tabs, credentials: 'omit', endpoint: 'graphql' },
    );
  const own = (name: string) => plainFile(() => placeOf(FOLDER, name), name);
  const script = (load: StaticFile['load']): StaticFile => ({ type: SCRIPT_TYPE, load, cacheControl: HOUR });
  return {
    [GRAPHIQL_PAGE]: htmlPage({
      place: () => placeOf(FOLDER, 'index.html'),
      slots: {},
      files: [
        'favicon.svg',
        ...['style.css', 'page.css', 'app.js', 'start.js', 'tabs.js'].map((name) => `graphiql/${name}`),
      ],
      urlOf,
      policy: HTML_SECURITY_HEADERS.graphiql,
    }),
    '/graphiql/page.css': own('style.css'),
    '/graphiql/tabs.js': own('tabs.js'),
    '/graphiql/start.js': script(start),
    '/graphiql/app.js': script(source('js')),
    '/graphiql/editor-worker.js': script(source('editorWorkerService')),
    '/graphiql/json-worker.js': script(source('jsonWorker')),
    '/graphiql/graphql-worker.js': script(source('graphqlWorker')),
    '/graphiql/style.css': { type: 'text/css; charset=utf-8', load: source('css'), cacheControl: HOUR },
  };
}

const sources = (): Promise<typeof Sources> => import('@graphql-yoga/render-graphiql/graphiql');
