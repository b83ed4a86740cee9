import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import ts from 'typescript';
import { describe, expect, it, vi } from 'vitest';
import { filesOf, packageFiles, parse, sourceFiles } from './sources.ts';

// The first test parses every file, which takes long on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const FOLDERS = ['src', 'packages', 'test', 'bench', 'devnet', 'scripts'];
const MAX_FILE_LINES = 350;
const MAX_FUNCTION_LINES = 100;
const MAX_FILES_IN_FOLDER = 20;

/** The functions that are longer than they may be. */
function longFunctions(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const [first, last] = [lineOf(node.getStart(source)), lineOf(node.end)];
      if (last - first + 1 > MAX_FUNCTION_LINES) found.push(`${source.fileName}:${first} (${last - first + 1} lines)`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe('sizes', () => {
  const files = [...sourceFiles, ...packageFiles];

  it(`default: no file has more than ${MAX_FILE_LINES} lines, in sources, packages, tests, benchmarks and scripts`, () => {
    const lines = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n').length;
    expect(FOLDERS.flatMap(filesOf).filter((file) => lines(file) > MAX_FILE_LINES)).toEqual([]);
  });

  it(`default: no function has more than ${MAX_FUNCTION_LINES} lines`, () => {
    expect(files.map(parse).flatMap(longFunctions)).toEqual([]);
  });

  it('behavior: a long function is seen', () => {
    const text = `const f = () => {\n${'f();\n'.repeat(MAX_FUNCTION_LINES)}};`;
    const source = ts.createSourceFile('long.ts', text, ts.ScriptTarget.Latest, true);
    expect(longFunctions(source)).toEqual(['long.ts:1 (102 lines)']);
  });

  it(`default: no folder has more than ${MAX_FILES_IN_FOLDER} files of its own`, () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MAX_FILES_IN_FOLDER)).toEqual([]);
  });
});

const bare = (node: ts.Expression): ts.Expression =>
  ts.isParenthesizedExpression(node) ? bare(node.expression) : node;

/** The spreads of literals, `...{ a }`, and those that add properties on a condition: `...(x && { … })`, `...(x ? { … } : {})`. */
function needlessSpreads(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const isEmpty = (node: ts.Expression) => ts.isObjectLiteralExpression(node) && node.properties.length === 0;
  const visit = (node: ts.Node): void => {
    if (ts.isSpreadAssignment(node)) {
      const spread = bare(node.expression);
      const isConditional = ts.isConditionalExpression(spread)
        ? [spread.whenTrue, spread.whenFalse].some((side) => isEmpty(bare(side)))
        : ts.isBinaryExpression(spread) && spread.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken;
      if (isConditional || ts.isObjectLiteralExpression(spread))
        found.push(`${source.fileName}: ${node.getText(source)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe('properties', () => {
  it('default: no object takes them from a spread of a literal or of a condition', () => {
    const files = FOLDERS.flatMap(filesOf);
    const withSpread = files.filter((file) => /\.\.\.[({]/.test(readFileSync(file, 'utf8')));
    expect(withSpread.map(parse).flatMap(needlessSpreads)).toEqual([]);
  });

  it('behavior: detects all forms, and allows a choice of two objects', () => {
    const text =
      'const o = { ...(a && { a }), ...(b ? { b } : {}), ...(c === 0 ? {} : { c }), ...{ h }, ...(d ? e : f), ...g };';
    const source = ts.createSourceFile('spreads.ts', text, ts.ScriptTarget.Latest, true);
    expect(needlessSpreads(source)).toHaveLength(4);
  });
});

/** Each provider has these of its own, with one meaning: the form of its answers, and the port that they are mapped to. */
const PER_PROVIDER = ['chartSchema', 'Chart', 'mapPrices'];

describe('names', () => {
  it.each([
    ['the service', sourceFiles],
    ['the packages', packageFiles],
  ])('default: an exported name of %s has one meaning', (_, sources) => {
    const files = new Map<string, Set<string>>();
    for (const file of sources) {
      for (const name of exportsOf(parse(file))) files.set(name, (files.get(name) ?? new Set()).add(file));
    }
    const shared = [...files].filter(([name, places]) => places.size > 1 && !PER_PROVIDER.includes(name));
    expect(shared.map(([name, places]) => `${name}: ${[...places].join(', ')}`)).toEqual([]);
  });
});

function exportsOf(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    const isExported = ts.canHaveModifiers(statement)
      ? ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      : false;
    if (!isExported) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText(source));
    const { name } = statement as ts.DeclarationStatement;
    return name ? [name.getText(source)] : [];
  });
}
