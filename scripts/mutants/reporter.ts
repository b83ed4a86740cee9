import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Write the state of each test file as soon as it ends. */
export default {
  onTestModuleStart: ({ moduleId }) => write({ started: moduleId }),
  onTestModuleEnd: (module) => write({ ended: module.moduleId, failed: reasonOf(module) }),
} satisfies Reporter;

function reasonOf(module: TestModule): string | null {
  for (const test of module.children.allTests('failed')) return test.fullName;
  if (module.state() !== 'failed') return null;
  const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  return [...module.errors(), ...suites][0]?.message ?? 'it could not be loaded';
}

function write(line: object): void {
  const { MUTANTS_RESULTS } = process.env;
  if (MUTANTS_RESULTS !== undefined) appendFileSync(MUTANTS_RESULTS, `${JSON.stringify(line)}\n`);
}
