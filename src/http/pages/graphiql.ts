import type * as Sources from '@graphql-yoga/render-graphiql/graphiql';
import { HTML_SECURITY_HEADERS } from '../headers.ts';
import type { ExampleTabs } from './example-tabs.ts';
import { htmlPage, placeOf, plainFile } from './page-files.ts';
import type { StaticFile } from './static-files.ts';

const FOLDER = 'graphiql';
const HOUR = 'public, max-age=3600';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

/** Path of the page; the GraphQL endpoint serves it to browsers. */
export const GRAPHIQL_PAGE = '/graphiql/page';

/**
 * GraphiQL as separate files. The page names its scripts by their hashes, so that a browser loads the five megabytes once; the
 * package's own page has them inline. The package is imported on the first request for the page.
 */
export function graphiqlFiles(
  { starters, menu }: ExampleTabs,
  slots: Readonly<Record<string, string>>,
  urlOf: (path: string) => Promise<string>,
): Readonly<Record<string, StaticFile>> {
  const source = (name: keyof typeof Sources) => async () => (await sources())[name];
  // Relative to the page at /graphql, so that it also works behind a proxy with a path prefix.
  const relative = async (path: string) => (await urlOf(path)).slice(1);
  const settings = async () => {
    const workers = {
      editorWorkerService: await relative('/graphiql/editor-worker.js'),
      json: await relative('/graphiql/json-worker.js'),
      graphql: await relative('/graphiql/graphql-worker.js'),
    };
    const options = { title: 'spiral-gateway', defaultTabs: starters, credentials: 'omit', endpoint: 'graphql' };
    // The editor puts itself at `self.monaco` when this is set before it is loaded.
    return `self.MonacoEnvironment = { globalAPI: true };\nself.graphiqlSettings = ${JSON.stringify({ workers, menu, options })};\n`;
  };
  const own = (name: string) => plainFile(() => placeOf(FOLDER, name), name);
  const script = (load: StaticFile['load']): StaticFile => ({ type: SCRIPT_TYPE, load, cacheControl: HOUR });
  return {
    [GRAPHIQL_PAGE]: htmlPage({
      place: () => placeOf(FOLDER, 'index.html'),
      slots,
      files: [
        'favicon.svg',
        ...['style.css', 'page.css', 'app.js', 'settings.js', 'start.js', 'tabs.js'].map((name) => `graphiql/${name}`),
      ],
      urlOf,
      policy: HTML_SECURITY_HEADERS.graphiql,
    }),
    '/graphiql/page.css': own('style.css'),
    '/graphiql/tabs.js': own('tabs.js'),
    '/graphiql/start.js': own('start.js'),
    '/graphiql/settings.js': script(settings),
    '/graphiql/app.js': script(source('js')),
    '/graphiql/editor-worker.js': script(source('editorWorkerService')),
    '/graphiql/json-worker.js': script(source('jsonWorker')),
    '/graphiql/graphql-worker.js': script(source('graphqlWorker')),
    '/graphiql/style.css': { type: 'text/css; charset=utf-8', load: source('css'), cacheControl: HOUR },
  };
}

const sources = (): Promise<typeof Sources> => import('@graphql-yoga/render-graphiql/graphiql');
