import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { LAYERS, PROCESS_DOORS } from './layers.ts';

interface Import {
  readonly file: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const root = process.cwd();
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src', name));

function importsOf(file: string): Import[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Import[] = [];
  const visit = (node: ts.Node): void => {
    if (
      (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
      node.moduleSpecifier &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      const typeOnly = ts.isImportDeclaration(node)
        ? node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
        : node.isTypeOnly;
      found.push({ file, to: node.moduleSpecifier.text, typeOnly });
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [target] = node.arguments;
      if (target && ts.isStringLiteral(target)) found.push({ file, to: target.text, typeOnly: false });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.filter(({ to }) => to.startsWith('.'));
}

/** The row of the table that a file belongs to: its folder, or itself when it lies directly under `src/`. */
function layerOf(path: string): string {
  return relative('src', path).split('/')[0] ?? '';
}

function forbidden({ file, to, typeOnly }: Import): boolean {
  const target = relative(root, resolve(dirname(file), to));
  const from = layerOf(file);
  if (!target.startsWith('src/')) return !(file === 'src/main.ts' && target.startsWith('devnet/'));
  const into = layerOf(target);
  const allowed = LAYERS[from] ?? [];
  if (into === from || allowed.includes('*')) return false;
  if (into === 'app.ts') return !allowed.includes('app');
  return !(allowed.includes(into) || (typeOnly && allowed.includes(`types:${into}`)));
}

describe('layers', () => {
  it('default: every folder of src/ has a row', () => {
    const folders = new Set(files.map(layerOf));
    expect([...folders].filter((folder) => !(folder in LAYERS))).toEqual([]);
  });

  it('default: imports follow the table', () => {
    const broken = files.flatMap(importsOf).filter(forbidden);
    expect(broken.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  it('behavior: a forbidden import is seen', () => {
    expect(forbidden({ file: 'src/domain/x.ts', to: '../upstreams/y.ts', typeOnly: false })).toBe(true);
    expect(forbidden({ file: 'src/loaders/x.ts', to: '../resolvers/y.ts', typeOnly: false })).toBe(true);
    expect(forbidden({ file: 'src/loaders/x.ts', to: '../resolvers/y.ts', typeOnly: true })).toBe(false);
    expect(forbidden({ file: 'src/shared/x.ts', to: '../../devnet/y.ts', typeOnly: true })).toBe(true);
  });

  it('default: the environment is read and the process ended only at their doors', () => {
    const offenders = files.filter((file) => {
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
