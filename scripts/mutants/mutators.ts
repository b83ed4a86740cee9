import ts from 'typescript';

/** A small change of a source that tests should notice. */
export interface Mutant {
  readonly id: number;
  readonly file: string;
  readonly line: number;
  /** The text of that line. */
  readonly code: string;
  readonly original: string;
  readonly replacement: string;
  /** Whether it stands outside of all functions, so that it works only when its module is loaded. */
  readonly isStatic: boolean;
}

const FLIPPED: ReadonlyMap<ts.SyntaxKind, readonly string[]> = new Map([
  [ts.SyntaxKind.LessThanToken, ['<=', '>=']],
  [ts.SyntaxKind.LessThanEqualsToken, ['<', '>']],
  [ts.SyntaxKind.GreaterThanToken, ['>=', '<=']],
  [ts.SyntaxKind.GreaterThanEqualsToken, ['>', '<']],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, ['!==']],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, ['===']],
  [ts.SyntaxKind.PlusToken, ['-']],
  [ts.SyntaxKind.MinusToken, ['+']],
  [ts.SyntaxKind.AsteriskToken, ['/']],
  [ts.SyntaxKind.SlashToken, ['*']],
  [ts.SyntaxKind.PercentToken, ['*']],
  [ts.SyntaxKind.AmpersandAmpersandToken, ['||']],
  [ts.SyntaxKind.BarBarToken, ['&&']],
]);

/** Methods of exact numbers, lists and `Math` that have a counterpart with the same arguments. */
const COUNTERPARTS: ReadonlyMap<string, string> = new Map([
  ['plus', 'minus'],
  ['minus', 'plus'],
  ['times', 'div'],
  ['div', 'times'],
  ['lt', 'lte'],
  ['lte', 'lt'],
  ['gt', 'gte'],
  ['gte', 'gt'],
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['mulDivUp', 'mulDivDown'],
  ['mulDivDown', 'mulDivUp'],
  ['wDivUp', 'wDivDown'],
  ['wDivDown', 'wDivUp'],
  ['wMulDown', 'wMulUp'],
  ['wMulUp', 'wMulDown'],
]);

const SORTED: ReadonlySet<string> = new Set(['sort', 'toSorted', 'reverse', 'filter']);

/**
 * Write every mutant into one source, each behind a condition on the one that is active, and list them.
 * @param firstId id of the first mutant
 */
export function mutate(
  text: string,
  file: string,
  firstId: number,
): { readonly code: string; readonly mutants: Mutant[] } {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  const mutants: Mutant[] = [];
  const lines = text.split('\n');
  const add = (node: ts.Node, replacement: string): number => {
    const id = firstId + mutants.length;
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    const isStatic = ts.findAncestor(node, ts.isFunctionLike) === undefined;
    const code = lines[line]?.trim() ?? '';
    mutants.push({ id, file, line: line + 1, code, original: node.getText(), replacement, isStatic });
    return id;
  };

  /** The text of a node with the mutants inside it. */
  const emit = (node: ts.Node): string => {
    const children = childrenOf(node);
    let out = '';
    let at = node.getStart();
    for (const child of children) {
      out += text.slice(at, child.getStart()) + visit(child);
      at = child.getEnd();
    }
    return out + text.slice(at, node.getEnd());
  };

  const visit = (node: ts.Node): string => {
    if (ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node))
      return node.getText();
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.getText();
    if (ts.isIterationStatement(node, false)) return guardLoop(node);
    if (isRemovable(node)) {
      const id = add(node, '');
      return `if (!__mutants.on(${id})) { ${emit(node)} }`;
    }
    const changes = isPlace(node) ? changesOf(node) : [];
    const body = emit(node);
    if (changes.length === 0) return body;
    const choices = changes.map((change) => `__mutants.on(${add(node, change)}) ? (${change}) : `);
    const whole = `(${choices.join('')}(${body}))`;
    return ts.isReturnStatement(node.parent) || ts.isArrowFunction(node.parent) ? ` ${whole}` : whole;
  };

  /** A loop that a mutant makes endless ends with an error. */
  const guardLoop = (node: ts.IterationStatement): string => {
    const { statement } = node;
    const head = emitBetween(node, statement);
    const inside = ts.isBlock(statement) ? emit(statement).slice(1, -1) : `${visit(statement)}`;
    const tail = text.slice(statement.getEnd(), node.getEnd());
    return `${head}{ __mutants.tick(); ${inside} }${tail}`;
  };
  const emitBetween = (node: ts.Node, end: ts.Node): string => {
    let out = '';
    let at = node.getStart();
    for (const child of childrenOf(node)) {
      if (child === end) break;
      if (child.getStart() >= end.getEnd()) break;
      out += text.slice(at, child.getStart()) + visit(child);
      at = child.getEnd();
    }
    return out + text.slice(at, end.getStart());
  };

  const code = emit(source);
  return { code: text.slice(0, source.getStart()) + code, mutants };
}

function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    if (child.getEnd() > child.getStart()) children.push(child);
  });
  return children.sort((a, b) => a.getStart() - b.getStart());
}

/** Whether an expression may stand in parentheses there. */
function isPlace(node: ts.Node): boolean {
  const { parent } = node;
  if (!ts.isExpression(node) || ts.isDecorator(parent)) return false;
  if (ts.findAncestor(node, (above) => ts.isTypeNode(above) || ts.isEnumMember(above))) return false;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return false;
  if (ts.isAsExpression(parent) && parent.type.getText() === 'const') return false;
  if (ts.isBinaryExpression(parent) && isAssignment(parent.operatorToken.kind) && parent.left === node) return false;
  if (ts.isPrefixUnaryExpression(parent) && ts.isNumericLiteral(node)) return false;
  if (ts.isPropertyName(node) && (ts.isPropertyDeclaration(parent) || ts.isMethodDeclaration(parent))) return false;
  return !ts.isImportTypeNode(parent) && !ts.isLiteralTypeNode(parent);
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

/** Statements that can be left out: calls, assignments and errors. Log lines are no behaviour to test. */
function isRemovable(node: ts.Node): node is ts.Statement {
  if (!ts.isBlock(node.parent ?? node) && !ts.isSourceFile(node.parent ?? node)) return false;
  if (ts.isThrowStatement(node)) return ts.findAncestor(node, ts.isFunctionLike) !== undefined;
  if (!ts.isExpressionStatement(node)) return false;
  const { expression } = node;
  if (ts.isCallExpression(expression) && /^(super|logger\.|deps\.logger\.)/.test(expression.getText())) return false;
  return !ts.isStringLiteral(expression) && ts.findAncestor(node, ts.isFunctionLike) !== undefined;
}

function changesOf(node: ts.Node): readonly string[] {
  if (ts.isBinaryExpression(node)) return binaryChanges(node);
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [node.operand.getText()];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ['false'];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ['true'];
  if (ts.isNumericLiteral(node)) return [`${node.getText()} + 1`];
  if (ts.isBigIntLiteral(node)) return [`${node.getText()} + 1n`];
  if (ts.isCallExpression(node)) return callChanges(node);
  return conditionChanges(node);
}

function binaryChanges({ left, right, operatorToken: { kind } }: ts.BinaryExpression): readonly string[] {
  const [a, b] = [left.getText(), right.getText()];
  if (kind === ts.SyntaxKind.QuestionQuestionToken) return [b];
  if (kind === ts.SyntaxKind.PlusToken && [left, right].some(isText)) return [];
  return (FLIPPED.get(kind) ?? []).map((operator) => `${a} ${operator} ${b}`);
}

function isText(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node)) return isText(node.left) || isText(node.right);
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function callChanges(node: ts.CallExpression): readonly string[] {
  const { expression } = node;
  if (!ts.isPropertyAccessExpression(expression) || ts.isOptionalChain(node)) return [];
  const { name } = expression;
  const from = expression.expression.getText();
  const rest = node.getText().slice(name.getEnd() - node.getStart());
  if (SORTED.has(name.text)) return [from];
  const counterpart = COUNTERPARTS.get(name.text);
  return counterpart === undefined ? [] : [`${from}.${counterpart}${rest}`];
}

/** The condition of an `if`, a `?:` or a loop, always and never met. */
function conditionChanges(node: ts.Node): readonly string[] {
  const { parent } = node;
  const isCondition =
    (ts.isIfStatement(parent) && parent.expression === node) ||
    (ts.isConditionalExpression(parent) && parent.condition === node);
  return isCondition ? ['true', 'false'] : [];
}
