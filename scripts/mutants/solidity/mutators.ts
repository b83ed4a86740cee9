import type { Mutant } from '../mutators.ts';

/** A change of one contract file, by its place in the text. */
export interface SolidityMutant extends Mutant {
  readonly start: number;
  readonly end: number;
}

/** A node of the compiler's syntax tree; `src` is `start:length:file` in bytes. */
interface Node {
  readonly nodeType: string;
  readonly src: string;
  readonly [property: string]: unknown;
}

const FLIPPED: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '==': ['!='],
  '!=': ['=='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '&&': ['||'],
  '||': ['&&'],
};

/** Functions that have a counterpart with the same arguments, also those of assembly. */
const COUNTERPARTS: Readonly<Record<string, string>> = {
  mulDivDown: 'mulDivUp',
  mulDivUp: 'mulDivDown',
  wDivDown: 'wDivUp',
  wDivUp: 'wDivDown',
  toAssetsUp: 'toAssetsDown',
  toAssetsDown: 'toAssetsUp',
  add: 'sub',
  sub: 'add',
  mul: 'div',
  shr: 'shl',
};

/** Statements that can be left out: calls, among them `require`, assignments, events and errors. */
const REMOVABLE: ReadonlySet<string> = new Set([
  'ExpressionStatement',
  'EmitStatement',
  'RevertStatement',
  'YulExpressionStatement',
]);

/** List the mutants of one contract file from its syntax tree. Its text has one character per byte (latin1). */
export function solidityMutants(ast: unknown, text: string, file: string, firstId: number): SolidityMutant[] {
  const mutants: SolidityMutant[] = [];
  const add = (start: number, end: number, replacement: string) => {
    const line = text.slice(0, start).split('\n').length;
    const original = text.slice(start, end);
    const code = text.split('\n')[line - 1]?.trim() ?? '';
    mutants.push({
      id: firstId + mutants.length,
      file,
      line,
      code,
      original,
      replacement,
      isStatic: false,
      start,
      end,
    });
  };
  const visit = (node: Node, parent: Node | undefined) => {
    if (node.nodeType === 'ImportDirective' || node.nodeType === 'PragmaDirective') return;
    const { start, end } = rangeOf(node);
    if (REMOVABLE.has(node.nodeType)) add(start, endOfStatement(text, end), '');
    for (const change of changesOf(node, parent, text)) add(start, end, change);
    for (const child of childrenOf(node)) visit(child, node);
  };
  visit(ast as Node, undefined);
  return mutants;
}

function rangeOf({ src }: Node): { readonly start: number; readonly end: number } {
  const [start = 0, length = 0] = src.split(':').map(Number);
  return { start, end: start + length };
}

/** The place of an expression statement is that of its expression, without the semicolon. */
function endOfStatement(text: string, end: number): number {
  const [rest = ''] = /^\s*;/.exec(text.slice(end)) ?? [];
  return end + rest.length;
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === 'object' && value !== null && 'nodeType' in value);
}

function changesOf(node: Node, parent: Node | undefined, text: string): readonly string[] {
  const own = textOf(node, text);
  switch (node.nodeType) {
    case 'BinaryOperation': {
      const [left, right] = [textOf(node.leftExpression as Node, text), textOf(node.rightExpression as Node, text)];
      const flipped = (FLIPPED[node.operator as string] ?? []).map((operator) => `${left} ${operator} ${right}`);
      return [...flipped, ...conditionChanges(node, parent)];
    }
    case 'UnaryOperation':
      return node.operator === '!' ? [textOf(node.subExpression as Node, text)] : [];
    case 'Assignment': {
      const opposite = { '+=': '-=', '-=': '+=' }[node.operator as string];
      return opposite === undefined ? [] : [own.replace(node.operator as string, opposite)];
    }
    case 'Literal':
      return literalChanges(node, own);
    case 'YulLiteral':
      return [String(BigInt(node.value as string) + 1n)];
    case 'ModifierInvocation':
      return parent?.kind === 'constructor' ? [] : [''];
    case 'FunctionCall':
    case 'YulFunctionCall':
      return [...callChanges(node, text), ...conditionChanges(node, parent)];
    default:
      return conditionChanges(node, parent);
  }
}

function literalChanges({ kind }: Node, own: string): readonly string[] {
  if (kind === 'bool') return [own === 'true' ? 'false' : 'true'];
  return kind === 'number' ? [`(${own} + 1)`] : [];
}

function callChanges(node: Node, text: string): readonly string[] {
  const called = (node.expression ?? node.functionName) as Node;
  const name = (called.memberName ?? called.name) as string | undefined;
  const counterpart = name === undefined ? undefined : COUNTERPARTS[name];
  if (name === undefined || counterpart === undefined) return [];
  const own = textOf(node, text);
  const at = textOf(called, text).length - name.length;
  return [own.slice(0, at) + counterpart + own.slice(at + name.length)];
}

/** The condition of an `if` or a `?:`, always and never met. */
function conditionChanges(node: Node, parent: Node | undefined): readonly string[] {
  const isCondition =
    (parent?.nodeType === 'IfStatement' || parent?.nodeType === 'Conditional') && parent.condition === node;
  return isCondition ? ['true', 'false'] : [];
}

const textOf = (node: Node, text: string): string => {
  const { start, end } = rangeOf(node);
  return text.slice(start, end);
};
