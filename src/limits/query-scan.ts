import { Lexer, Source, TokenKind } from 'graphql';

/** Measures of a document by its tokens, before it is parsed. */
export interface Scan {
  readonly tokens: number;
  readonly lines: number;
  /** Maximum nesting of brackets of all kinds. */
  readonly brackets: number;
  /** Fields, aliases, spreads and type conditions in the text. */
  readonly selections: number;
  /** Fragment definitions; the same limit holds for the number of distinct spread fragments. */
  readonly fragments: number;
  /** Cost of parsing and maximum cost of validating, in units of query cost. */
  readonly parseCost: number;
  readonly validationCost: number;
}

/** Measures that are limited during the scan. */
export type ScanMeasure = 'tokens' | 'lines' | 'brackets' | 'selections' | 'fragments';

const MEASURES = ['tokens', 'lines', 'brackets', 'selections', 'fragments'] as const;
const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);
/** A name after one of these is a type or part of a selection that is already counted. */
const CONTINUES: ReadonlySet<string> = new Set([TokenKind.SPREAD, TokenKind.COLON, TokenKind.AT, TokenKind.DOLLAR]);

/**
 * Scan the tokens of a document, and stop at the first limit. Parsing, measuring and validating are recursive, and validation
 * compares fields of one name, fragments and operations with each other, so a document that would take them too long is
 * refused before.
 *
 * @returns the scan, or the first measure beyond its limit
 * @throws GraphQLError for characters that are not GraphQL
 */
export function scanDocument(text: string, limits: Readonly<Record<ScanMeasure, number>>): Scan | ScanMeasure {
  const lexer = new Lexer(new Source(text));
  const counts: Record<ScanMeasure, number> = { tokens: 0, lines: 0, brackets: 0, selections: 0, fragments: 0 };
  const names = new Map<string, number>();
  let depth = 0;
  /** Open brackets of arguments and values: names in them are not fields. */
  let inputs = 0;
  let definitions = 0;
  let spreads = 0;
  /** Spread fragments, defined or not: validation compares all fragments of a selection with each other. */
  const spread = new Set<string>();
  let previous: string = TokenKind.SOF;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    const { kind, value } = token;
    counts.tokens += 1;
    counts.lines = token.line;
    if (OPENING.has(kind)) {
      if (depth === 0 && kind === TokenKind.BRACE_L) definitions += 1;
      depth += 1;
      if (inputs > 0 || kind !== TokenKind.BRACE_L) inputs += 1;
      counts.brackets = Math.max(counts.brackets, depth);
    } else if (CLOSING.has(kind)) {
      depth -= 1;
      inputs = Math.max(0, inputs - 1);
    } else if (kind === TokenKind.SPREAD) {
      counts.selections += 1;
      spreads += 1;
    } else if (kind === TokenKind.NAME && inputs === 0 && !CONTINUES.has(previous)) {
      if (depth > 0) {
        counts.selections += 1;
        names.set(value, (names.get(value) ?? 0) + 1);
      } else if (value === 'fragment') counts.fragments += 1;
    }
    if (previous === TokenKind.SPREAD && kind === TokenKind.NAME && value !== 'on') spread.add(value);
    if (spread.size > limits.fragments) return 'fragments';
    previous = kind;
    const beyond = MEASURES.find((measure) => counts[measure] > limits[measure]);
    if (beyond !== undefined) return beyond;
  }
  let pairs = 0;
  for (const count of names.values()) pairs += (count * (count - 1)) / 2;
  const { tokens, fragments } = counts;
  return {
    ...counts,
    parseCost: tokens / TOKENS_PER_COST,
    validationCost:
      tokens / TOKENS_PER_COST +
      pairs / PAIRS_PER_COST +
      (fragments * (spreads + definitions)) / SPREADS_PER_COST +
      ((definitions - fragments) * tokens) / OPERATION_TOKENS_PER_COST,
  };
}

/**
 * Measured with the worst documents of each kind that the limits allow (`test/attacks`), so that 100 units, which are one
 * point, are at most about 10 ms of a core. The parts are: parsing and validating tokens; comparing fields of one name;
 * following spreads from every fragment and operation; collecting the variables of every operation.
 */
const TOKENS_PER_COST = 15;
const PAIRS_PER_COST = 100;
const SPREADS_PER_COST = 25;
const OPERATION_TOKENS_PER_COST = 200;
