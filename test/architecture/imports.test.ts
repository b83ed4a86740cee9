import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FEATURE_IMPORTERS, FEATURES, LAYERS, PROCESS_DOORS } from './layers.ts';
import { type Import, importsIn, importsOf, packageFiles, sourceFiles, targetOf } from './sources.ts';

/** Where a file is: the feature that it belongs to, if any, and its row of the table: its folder, or itself directly under `src/`. */
function placeOf(path: string): { readonly feature: string | undefined; readonly layer: string } {
  const [first = '', second = '', ...more] = relative('src', path).split('/');
  if (first !== FEATURES) return { feature: undefined, layer: first };
  // The list of features, the door of a feature and its wiring put parts together, as the composition root does.
  return { feature: second, layer: more.length > 1 ? (more[0] ?? '') : 'app' };
}

const doorOf = (feature: string) => join('src', FEATURES, feature, 'index.ts');

function forbidden({ file, to, typeOnly }: Import): boolean {
  const target = targetOf({ file, to, typeOnly });
  if (to === '#features') return !FEATURE_IMPORTERS.includes(file);
  if (!target.startsWith('src/')) return !(file === 'src/main.ts' && target.startsWith('devnet/'));
  const [from, into] = [placeOf(file), placeOf(target)];
  if (into.feature !== undefined && into.feature !== from.feature) {
    const isList = file === join('src', FEATURES, 'index.ts');
    return !((isList || from.feature !== undefined) && target === doorOf(into.feature));
  }
  if (from.feature !== undefined && into.feature === from.feature && into.layer === 'domain') return false;
  const allowed = LAYERS[from.layer] ?? [];
  if (into.layer === from.layer || allowed.includes('*')) return false;
  return !(allowed.includes(into.layer) || (typeOnly && allowed.includes(`types:${into.layer}`)));
}

/** The files that import each other in a circle, and those between two circles: the rest without the ends of chains. */
function circular(imports: readonly (readonly [string, string])[]): string[] {
  const [importing, imported] = [new Set(imports.map(([from]) => from)), new Set(imports.map(([, to]) => to))];
  const inner = imports.filter(([from, to]) => imported.has(from) && importing.has(to));
  if (inner.length < imports.length) return circular(inner);
  return [...new Set(inner.flat())].sort();
}

describe('layers', () => {
  it('default: every folder of src/ has a row', () => {
    const folders = new Set(sourceFiles.map((file) => placeOf(file).layer));
    expect([...folders].filter((folder) => !(folder in LAYERS))).toEqual([]);
  });

  it('default: imports follow the table', () => {
    const broken = sourceFiles.flatMap(importsOf).filter(forbidden);
    expect(broken.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  it('behavior: an import is seen wherever it is in a file', () => {
    const head = "import {\n  a,\n} from './a.ts';\nimport './b.ts';";
    const later = `${head}\nconst c = 1;\nexport * from "./c.ts"`;
    expect(importsIn(`${head}\nconst c = 1;\n`)).toBe(head);
    expect(importsIn(`${later};\nf();\n`)).toBe(`${later};`);
    expect(importsIn('const from = 1;')).toBe('');
    for (const text of ["const d = await import('./d.ts');", "type E = typeof import ('./e.ts');\n"]) {
      expect(importsIn(`${head}\n${text}\nf();\n`)).toBe(`${head}\n${text}\nf();\n`);
    }
  });

  it('behavior: detects a forbidden import', () => {
    expect(forbidden({ file: 'src/domain/x.ts', to: '../upstreams/y.ts', typeOnly: false })).toBe(true);
    expect(forbidden({ file: 'src/loaders/x.ts', to: '../resolvers/y.ts', typeOnly: false })).toBe(true);
    expect(forbidden({ file: 'src/loaders/x.ts', to: '../resolvers/y.ts', typeOnly: true })).toBe(false);
    expect(forbidden({ file: 'src/shared/x.ts', to: '../../devnet/y.ts', typeOnly: true })).toBe(true);
  });

  it('behavior: the core imports no feature, and a feature another one through its door only', () => {
    const isForbidden = (file: string, to: string) => forbidden({ file, to, typeOnly: true });
    expect(isForbidden('src/app/core.ts', '../features/alerts/index.ts')).toBe(true);
    expect(isForbidden('src/app/pages.ts', '#features')).toBe(true);
    expect(isForbidden('src/app/core.ts', '#features')).toBe(false);
    expect(isForbidden('src/features/risk/wiring.ts', '../alerts/domain/types.ts')).toBe(true);
    expect(isForbidden('src/features/risk/wiring.ts', '../alerts/index.ts')).toBe(false);
    expect(isForbidden('src/features/alerts/domain/x.ts', '../database/y.ts')).toBe(true);
    expect(isForbidden('src/features/alerts/domain/x.ts', '../../../chain/y.ts')).toBe(true);
    expect(isForbidden('src/features/alerts/rest/x.ts', '../domain/y.ts')).toBe(false);
  });

  it('default: a package imports no file outside of its sources', () => {
    expect(packageFiles.length).toBeGreaterThan(10);
    const rootOf = (file: string) => file.slice(0, file.indexOf('/src/') + 5);
    const broken = packageFiles.flatMap(importsOf).filter((found) => !targetOf(found).startsWith(rootOf(found.file)));
    expect(broken.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  it('default: no files import each other in a circle, not even types', () => {
    const edges = [...sourceFiles, ...packageFiles]
      .flatMap(importsOf)
      .map((found) => [found.file, targetOf(found)] as const);
    expect(circular(edges)).toEqual([]);
  });

  it('behavior: a circle is seen, and nothing that only leads into it or out of it', () => {
    const edges = [
      ['main', 'a'],
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
      ['c', 'leaf'],
    ] as const;
    expect(circular(edges)).toEqual(['a', 'b', 'c']);
  });

  it('default: only config reads the environment, and only main ends the process', () => {
    const offenders = sourceFiles.filter((file) => {
      const text = readFileSync(file, 'utf8');
      const outside = (doors: readonly string[]) => !doors.some((door) => file.startsWith(door));
      return (
        (/process\.env/.test(text) && outside(PROCESS_DOORS.env)) ||
        (/process\.exit\(/.test(text) && outside(PROCESS_DOORS.exit))
      );
    });
    expect(offenders).toEqual([]);
  });
});
