import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesOf, parse, parseImports, sourceFiles, targetOf } from './sources.ts';

/** Files that may use an export of `src`: sources, tests, benchmarks, scripts and those at the root. */
const READERS = [...['src', 'test', 'bench', 'devnet', 'doctor', 'scripts'].flatMap(filesOf), 'codegen.ts'];

/** The names that a file takes from other files, as `path name`; `*` = all of them. */
function importedNames(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const add = (specifier: ts.Node | undefined, names: readonly string[]) => {
    if (!specifier || !ts.isStringLiteralLike(specifier) || !/^[.#]/.test(specifier.text)) return;
    const path = targetOf({ file: source.fileName, to: specifier.text, typeOnly: false });
    found.push(...names.map((name) => `${path} ${name}`));
  };
  const nameOf = ({ propertyName, name }: ts.ImportSpecifier | ts.ExportSpecifier) => (propertyName ?? name).text;
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings;
      add(node.moduleSpecifier, bindings && ts.isNamedImports(bindings) ? bindings.elements.map(nameOf) : ['*']);
    }
    if (ts.isExportDeclaration(node)) {
      const { exportClause } = node;
      add(
        node.moduleSpecifier,
        exportClause && ts.isNamedExports(exportClause) ? exportClause.elements.map(nameOf) : ['*'],
      );
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], ['*']);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const { qualifier } = node;
      add(node.argument.literal, [qualifier && ts.isIdentifier(qualifier) ? qualifier.text : '*']);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The names that a file exports by a declaration of its own, or out of another file. */
function exportedNames(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause } = statement;
      return exportClause && ts.isNamedExports(exportClause) ? exportClause.elements.map(({ name }) => name.text) : [];
    }
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    if (!modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (!ts.isVariableStatement(statement))
      return [(statement as ts.DeclarationStatement).name?.getText(source) ?? 'default'];
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name)
        ? [name.text]
        : name.elements.flatMap((element) => (ts.isBindingElement(element) ? [element.name.getText(source)] : [])),
    );
  });
}

/** Whether a name is a type that the file itself uses, as the types in signatures of its other exports. */
function isOwnType(source: ts.SourceFile, name: string): boolean {
  const isType = source.statements.some(
    (statement) =>
      (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) && statement.name.text === name,
  );
  return isType && (source.text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0) > 1;
}

describe('exports', () => {
  it('default: another file imports every exported value of src, and every exported type that its own file does not use', () => {
    const imported = new Set(READERS.map(parseImports).flatMap(importedNames));
    // What `#features` means for the core alone.
    imported.add('src/features/none.ts features');
    const unused = sourceFiles.flatMap((file) =>
      exportedNames(parse(file))
        .filter((name) => !imported.has(`${file} ${name}`) && !imported.has(`${file} *`))
        .filter((name) => !isOwnType(parse(file), name))
        .map((name) => `${file}: ${name}`),
    );
    expect(unused).toEqual([]);
  });

  it('behavior: names of all forms of imports and exports are found', () => {
    const source = (text: string) => ts.createSourceFile('src/a/b.ts', text, ts.ScriptTarget.Latest, true);
    const importing = `import { x, type y as z } from '../c.ts'; import * as all from './d.ts'; export { e } from './e.ts';
      const f = await import('./f.ts'); type G = import('./g.ts').G; import 'viem';`;
    expect(importedNames(source(importing))).toEqual([
      ...['src/c.ts x', 'src/c.ts y', 'src/a/d.ts *', 'src/a/e.ts e', 'src/a/f.ts *', 'src/a/g.ts G'],
    ]);
    const exporting = `export const a = 1, [b, { c }] = x; export function d() {} export type E = 1; const own = 2;
      export { f as g } from './f.ts';`;
    expect(exportedNames(source(exporting))).toEqual(['a', 'b', '{ c }', 'd', 'E', 'g']);
  });
});
