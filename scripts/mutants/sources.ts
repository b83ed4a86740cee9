import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { FOLDERS } from './folders.ts';
import { type Mutant, mutate } from './mutators.ts';

const root = join(import.meta.dirname, '../..');

/** The instrumented sources of a folder by their absolute paths, and all of their mutants. */
export function sourcesOf(name: string): {
  readonly codes: ReadonlyMap<string, string>;
  readonly mutants: readonly Mutant[];
} {
  const folder = FOLDERS.find((known) => known.name === name);
  if (folder === undefined) throw new Error(`There is no folder ${name}: ${FOLDERS.map((known) => known.name)}`);
  const codes = new Map<string, string>();
  const mutants: Mutant[] = [];
  for (const path of filesBelow(join(root, folder.sources))) {
    const file = relative(root, path);
    if (folder.without?.test(file)) continue;
    const mutated = mutate(readFileSync(path, 'utf8'), file, mutants.length + 1);
    codes.set(path, mutated.code);
    mutants.push(...mutated.mutants);
  }
  return { codes, mutants };
}

/** All TypeScript files below a folder, or the file itself, in a stable order. */
export function filesBelow(path: string): string[] {
  if (path.endsWith('.ts')) return [path];
  return readdirSync(path, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) return filesBelow(inner);
      return entry.name.endsWith('.ts') ? [inner] : [];
    });
}
