import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import ts from 'typescript';

/** Every TypeScript file of a folder, by its path from the root, without builds. Tests of the generators check generated files. */
export function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .filter((file) => !/\/(generated|dist|node_modules)\//.test(file));
}

/** Without the tests that are beside the features. */
export const sourceFiles = filesOf('src').filter((file) => !/^src\/features\/[^/]+\/test\//.test(file));
/** The published packages. */
export const packageFiles = filesOf('packages').filter((file) => file.includes('/src/'));

export interface Import {
  readonly file: string;
  /** As written. */
  readonly to: string;
  readonly typeOnly: boolean;
}

const parsed = new Map<string, ts.SourceFile>();
/** Nothing here is about the text of comments. */
const OPTIONS: ts.CreateSourceFileOptions = {
  languageVersion: ts.ScriptTarget.Latest,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
};

/** The syntax tree of a file. Its nodes do not know their parents: give `getText` and `getStart` the file. */
export function parse(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known) return known;
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), OPTIONS);
  parsed.set(file, source);
  return source;
}

const heads = new Map<string, ts.SourceFile>();

/**
 * The syntax tree of a file up to its last import or export of another file: of most files a few lines, which take a tenth of
 * the time of the whole.
 */
export function parseImports(file: string): ts.SourceFile {
  const known = heads.get(file);
  if (known) return known;
  const head = importsIn(readFileSync(file, 'utf8'));
  const source = ts.createSourceFile(file, head, OPTIONS);
  heads.set(file, source);
  return source;
}

/** The text up to the end of the line of the last import; the whole text if an import may be within an expression or a type. */
export function importsIn(text: string): string {
  if (/\bimport\s*\(/.test(text)) return text;
  const [last] = [...text.matchAll(/\b(?:from|import)\s*['"].*/g)].slice(-1);
  return last === undefined ? '' : text.slice(0, last.index + last[0].length);
}

/** The imports of a file from the repository: of values and of types, exports of another file included. */
export function importsOf(file: string): Import[] {
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
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      found.push({ file, to: node.argument.literal.text, typeOnly: true });
    }
    ts.forEachChild(node, visit);
  };
  visit(parseImports(file));
  return found.filter(({ to }) => /^[.#]/.test(to));
}

/** What `#features` means, unless it means none. */
const FEATURE_LIST = 'src/features/index.ts';

/** The file that an import means, from the root. */
export function targetOf({ file, to }: Import): string {
  return to === '#features' ? FEATURE_LIST : normalize(join(file, '..', to));
}
