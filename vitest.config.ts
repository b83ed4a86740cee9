import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/**
 * Scales every time limit of the tests. The limits end tests that hang; a slow or busy machine must not reach them.
 * `TEST_PATIENCE=3` triples them.
 */
const PATIENCE = Number(process.env.TEST_PATIENCE ?? 1);
/** The tests of a feature are beside it. */
const FOLDERS = '{test,src/features/*/test}';
const SWEEPS = `${FOLDERS}/**/*.sweep.test.ts`;
/** Both tiers run them: with a fixed seed, and with more cases of another one. */
const PROPERTIES = `${FOLDERS}/**/*.properties.test.ts`;

const tests: TestProjectInlineConfiguration['test'] = {
  pool: 'forks',
  // Most of what tests allocate is short-lived: collect it less often. The workers fill the cores: threads for collections
  // beside them take 5 % more CPU time.
  execArgv: ['--max-semi-space-size=64', '--v8-pool-size=0'],
  isolate: false, // no module keeps state of a test; loading the service anew for every file took a third of the time
  testTimeout: 240_000 * PATIENCE,
  hookTimeout: 240_000 * PATIENCE,
  expect: { poll: { timeout: 120_000 * PATIENCE, interval: 20 } },
  retry: 0,
};
const quick = { ...tests, setupFiles: ['test/support/fixed-seed.ts'], provide: { propertyRuns: 1_000 } };
// The packages load graphql by Node's rules; without this the sources would get a second copy of it.
const resolve = { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] };

/**
 * Quick tests with cases about the whole: the generated files, the documentation, and properties of all rows and fields. Every
 * other quick test outside of the features passes on the core alone too.
 */
const WHOLE = [
  'test/config/settings-reach.test.ts',
  'test/docs/examples.test.ts',
  'test/e2e/faults/first-start.test.ts',
  'test/e2e/faults/overload.test.ts',
  'test/e2e/faults/without-postgres.test.ts',
  'test/e2e/gateway/conventions.test.ts',
  'test/e2e/leverage/partial-close.test.ts',
  'test/e2e/rows/rows-equal.test.ts',
  'test/frozen/frozen.test.ts',
  'test/http/access.test.ts',
  'test/http/conventions.test.ts',
  'test/http/departed-clients.test.ts',
  'test/http/edge.test.ts',
  'test/http/query-spellings.test.ts',
  'test/http/unknown-names.test.ts',
  'test/limits/existing-sizes.test.ts',
  'test/limits/limits.test.ts',
  'test/mcp/next-steps.test.ts',
  'test/mcp/tools.test.ts',
  'test/rest/absent-nulls.test.ts',
  'test/rest/descriptions.test.ts',
  'test/rest/openapi-numbers.test.ts',
  'test/rest/openapi.test.ts',
  'test/schema/absent-nulls.test.ts',
  'test/schema/chain-of-ids.test.ts',
  'test/schema/conventions.test.ts',
  'test/schema/ops-page-queries.test.ts',
  'test/schema/schema.test.ts',
];

export default defineConfig({
  test: {
    // Once for all projects: they do not extend this configuration, which would run it for each.
    globalSetup: ['test/support/global-setup.ts'],
    projects: [
      {
        resolve,
        test: { ...quick, name: 'quick', include: [`${FOLDERS}/**/*.test.ts`], exclude: [SWEEPS] },
      },
      {
        // The proof that the core needs no feature: `#features` means none.
        resolve: { ...resolve, conditions: ['core-only', 'node'] },
        ssr: { resolve: { conditions: ['core-only', 'node'] } },
        test: { ...quick, name: 'core', include: ['test/**/*.test.ts'], exclude: [SWEEPS, PROPERTIES, ...WHOLE] },
      },
      {
        // The quick tests that the core alone has not.
        resolve,
        test: {
          ...quick,
          name: 'beyond-core',
          include: ['src/features/*/test/**/*.test.ts', ...WHOLE],
          exclude: [SWEEPS, PROPERTIES],
        },
      },
      {
        resolve,
        test: { ...tests, name: 'sweeps', include: [SWEEPS, PROPERTIES], provide: { propertyRuns: 10_000 } },
      },
    ],
    // One more than cores: some wait for a chain, a process or Postgres. On two cores the suite takes 6 % longer with two workers,
    // and with four 10 % more CPU time: each loads the service and seeds chains of its own.
    maxWorkers: Math.min(4, availableParallelism() + 1),
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'devnet/**/*.ts'],
      exclude: ['**/generated/**', '**/test/**'],
    },
  },
});
