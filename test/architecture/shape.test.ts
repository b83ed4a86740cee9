import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesOf, packageFiles, parse, sourceFiles } from './sources.ts';

const FOLDERS = ['packages', 'bench', 'devnet', 'doctor', 'scripts'];
const MAX_FILE_LINES = 350;
const MAX_FUNCTION_LINES = 100;

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

  it(`default: no file has more than ${MAX_FILE_LINES} lines, in sources, packages, benchmarks and scripts`, () => {
    const lines = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n').length;
    const all = [...sourceFiles, ...FOLDERS.flatMap(filesOf)];
    expect(all.filter((file) => lines(file) > MAX_FILE_LINES)).toEqual([]);
  });

  it(`default: no function has more than ${MAX_FUNCTION_LINES} lines`, () => {
    expect(files.map(parse).flatMap(longFunctions)).toEqual([]);
  });

  it('behavior: a long function is seen', () => {
    const text = `const f = () => {\n${'f();\n'.repeat(MAX_FUNCTION_LINES)}};`;
    const source = ts.createSourceFile('long.ts', text, ts.ScriptTarget.Latest, true);
    expect(longFunctions(source)).toEqual(['long.ts:1 (102 lines)']);
  });
});
