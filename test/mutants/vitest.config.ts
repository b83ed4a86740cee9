import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The pure tests of the domain alone: no world, no database, so that a run per mutant takes moments. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/domain/**/*.test.ts', 'test/transactions/ltv.test.ts', 'test/transactions/plan-bounds.test.ts'],
    exclude: ['**/*.sweep.test.ts'],
    setupFiles: ['test/support/fixed-seed.ts'],
    provide: { propertyRuns: 200 },
  },
});
