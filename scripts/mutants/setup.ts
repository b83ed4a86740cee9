import { appendFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { mutantState } from './state.ts';

const state = mutantState();
fc.configureGlobal({ endOnFailure: true });

/** The run without a mutant: which test file reaches which mutants. */
const coverageFile = process.env.MUTANTS_COVERAGE;
if (coverageFile !== undefined) {
  state.hits.clear();
  const startedMs = performance.now();
  afterAll(() => {
    appendFileSync(
      coverageFile,
      `${JSON.stringify({ file: expect.getState().testPath, ms: performance.now() - startedMs, hits: [...state.hits] })}\n`,
    );
  });
} else {
  let failed = false;
  beforeEach(({ skip }) => {
    if (failed) skip();
  });
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });
}
