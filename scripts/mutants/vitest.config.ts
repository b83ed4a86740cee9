import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';
import { SOLIDITY } from './folders.ts';
import reporter from './reporter.ts';
import { compiledMutants } from './solidity/plugin.ts';
import { sourcesOf } from './sources.ts';

const root = join(import.meta.dirname, '../..');
/** Set by `run.ts` for its test runs. */
const { MUTANTS_FOLDER = '', MUTANTS_TESTS = '[]', MUTANTS_ISOLATE, MUTANTS_POSTGRES } = process.env;

/** Serve the sources of the folder with all of their mutants in them. */
function instrumented(): Plugin {
  const codes = sourcesOf(MUTANTS_FOLDER).codes;
  return {
    name: 'mutants',
    enforce: 'pre',
    transform: (_code, id) => codes.get(id.split('?')[0] ?? id),
  };
}

/** Load the helpers of tests anew for each mutant: values that they make while they are loaded have to be made with it. */
function freshHelpers(): Plugin {
  const tests = join(root, 'test/');
  const shared = join(tests, 'support/');
  return {
    name: 'fresh-helpers',
    enforce: 'pre',
    async resolveId(source, importer) {
      const query = importer?.match(/\?mutant=\w+$/)?.[0];
      if (query === undefined || importer === undefined || !source.startsWith('.')) return null;
      const found = await this.resolve(source, importer.slice(0, -query.length), { skipSelf: true });
      return found?.id.startsWith(tests) && !found.id.startsWith(shared) ? `${found.id}${query}` : null;
    },
  };
}

export default defineConfig({
  root,
  plugins: [MUTANTS_FOLDER === SOLIDITY ? compiledMutants() : instrumented(), freshHelpers()],
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: JSON.parse(MUTANTS_TESTS) as string[],
    exclude: [],
    setupFiles: [join(import.meta.dirname, 'setup.ts')],
    globalSetup: MUTANTS_POSTGRES === undefined ? [] : [join(root, 'test/support/global-setup.ts')],
    pool: 'forks',
    isolate: MUTANTS_ISOLATE !== undefined,
    testTimeout: 60_000, // a busy machine is no failure; loops without end are counted
    hookTimeout: 60_000,
    reporters: [reporter],
    passWithNoTests: true,
  },
});
