import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it, vi } from 'vitest';
import { clausesIn } from '../schema/lint/descriptions.ts';

// Hundreds of files are parsed, which takes long on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const FOLDERS = ['src', 'packages', 'devnet', 'scripts', 'bench', 'examples', 'test'];
const SKIPPED = /(^|\/)(generated|dist|node_modules)\//;
const files = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
).filter((file) => /\.(ts|js|mjs)$/.test(file) && !SKIPPED.test(file));

/** Every fault has one of these words at the beginning of a comment, a sentence or a string: other files are not parsed. */
const CANDIDATE = /(?:(?:\/\/|\*|[.!?])\s*(?:What|Who)|['"`](?:\w+: )?(?:what|who))(?:ever)?\b|Whichever|: whichever/i;

interface Text {
  readonly line: number;
  readonly text: string;
}

/** The comments of a file. Consecutive lines of `//` are one comment. */
function commentsOf(source: ts.SourceFile): Text[] {
  const text = source.getFullText();
  const ranges = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    const around = [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ];
    for (const range of around) ranges.set(range.pos, range);
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
  const comments: { first: number; last: number; isLine: boolean; text: string }[] = [];
  for (const { pos, end, kind } of [...ranges.values()].sort((a, b) => a.pos - b.pos)) {
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia;
    const line = source.getLineAndCharacterOfPosition(pos).line + 1;
    const content = text.slice(pos + 2, isLine ? end : end - 2).replace(/^[\s*]+/gm, '');
    const previous = comments.at(-1);
    if (isLine && previous?.isLine && previous.last === line - 1) {
      previous.last = line;
      previous.text += ` ${content}`;
    } else comments.push({ first: line, last: line, isLine, text: content });
  }
  return comments.map(({ first, text: content }) => ({ line: first, text: content }));
}

/** The titles of the tests of a file, without `behavior:` and its like, beginning with a capital letter. */
function titlesOf(source: ts.SourceFile): Text[] {
  const found: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(it|test|describe)\b/.test(node.expression.getText(source))) {
      const [title] = node.arguments;
      if (title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) {
        const text = (ts.isTemplateExpression(title) ? title.getText(source).slice(1, -1) : title.text)
          .replace(/^[a-z]+: /, '')
          .replace(/^./, (letter) => letter.toUpperCase());
        found.push({ line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, text });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The sentences of comments and test titles that begin with a clause in place of a noun. */
function clausesOf(file: string, text: string): string[] {
  if (!CANDIDATE.test(text)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return [...commentsOf(source), ...titlesOf(source)].flatMap((part) =>
    clausesIn(part.text).map((clause) => `${file}:${part.line}: ${clause}`),
  );
}

describe('words', () => {
  it('default: no sentence of a comment and no test title begins with a clause such as "What …" in place of a noun', () => {
    expect(files.length).toBeGreaterThan(1000);
    expect(files.flatMap((file) => clausesOf(file, readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('default: no description of openapi.json does', () => {
    const descriptions = [...readFileSync('openapi.json', 'utf8').matchAll(/"description": ("(?:[^"\\]|\\.)*")/g)];
    expect(descriptions.length).toBeGreaterThan(1000);
    expect(descriptions.flatMap(([, text]) => clausesIn(JSON.parse(text ?? '""') as string))).toEqual([]);
  });

  it.each([
    '/** What is read. */',
    '/**\n * The fee. Whatever is left\n * goes back.\n */',
    'f(); // Who waits.',
    '// The first line ends here.\n// Whichever comes first.',
    'const o = {\n  // What is kept\n};',
    "test('behavior: what is gone', () => {});",
    "describe('whoever asks', () => {});",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a title
    'it.each([1])(`what ${name} says`, () => {});',
  ])('behavior: sees the clause of %j', (text) => {
    expect(clausesOf('some.ts', text)).toHaveLength(1);
  });

  it.each([
    '// What does a query cost?',
    "const pattern = 'src/**/What is.ts'; // The glob.",
    "say('What was mined lacks events.');",
    "test('says what is wrong', () => {});",
    '/** The owner, who waits. */',
  ])('behavior: allows %j', (text) => {
    expect(clausesOf('some.ts', text)).toEqual([]);
  });
});
