import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Folder, STARTS_A_WORLD } from './folders.ts';
import { filesBelow } from './sources.ts';

const NEEDS_POSTGRES = /\b(createTestDatabase|openMigratedDatabase)\(/;
const IMPORT = /from '(\.[^']+\.ts)'/g;
const root = join(import.meta.dirname, '../..');

/** The test files of a folder that start no local world, directly or through a helper of the tests. */
export function testsOf({ tests, needsPostgres, leftOut }: Folder): readonly string[] {
  const files = tests.flatMap((path) => filesBelow(join(root, path))).filter((path) => path.endsWith('.test.ts'));
  return files.filter((path) => {
    if (leftOut?.test(path)) return false;
    const helpers = [...reached(path, new Set())].filter((file) => !file.startsWith(join(root, 'test/support')));
    const texts = helpers.map((file) => readFileSync(file, 'utf8'));
    if (texts.some((text) => STARTS_A_WORLD.test(text))) return false;
    return needsPostgres || !texts.some((text) => NEEDS_POSTGRES.test(text));
  });
}

/** A test and the helpers below `test/` that it imports. */
function reached(path: string, seen: Set<string>): Set<string> {
  if (seen.has(path) || !path.startsWith(join(root, 'test'))) return seen;
  seen.add(path);
  for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(IMPORT)) reached(join(dirname(path), target), seen);
  return seen;
}
