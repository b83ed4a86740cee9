import { z } from 'zod';
import type { LimitValue } from '../shared/errors.ts';
import { formatValue } from '../shared/ids.ts';

/** One fault of an input. */
export interface InputIssue {
  readonly field: string;
  readonly message: string;
  readonly input: unknown;
  /** The limit that it breaks, by name; absent = it has none that can be named. */
  readonly limit?: Limit | undefined;
}

type Limit = Readonly<Record<string, LimitValue>>;

/** Name of each type for authors of JSON. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'a JSON object',
};

/** Describe the expected value, if the schema has no message of its own. `undefined` = the schema library's message. */
export function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPES[issue.expected] ?? issue.expected}${quotesHint(issue.expected, issue.input)}`;
    case 'invalid_value':
      return `expected ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `expected at least ${counted(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `expected at most ${counted(issue.maximum, issue.origin)}`;
    case 'invalid_format':
      return issue.format === 'datetime' ? 'expected a time such as 2026-11-23T12:00:00Z' : undefined;
    default:
      return undefined;
  }
}

/** A hint for the most frequent mistake in JSON: a number in quotes, or a string without them. */
function quotesHint(expected: string, input: unknown): string {
  if (expected === 'string' && typeof input === 'number') return ': send the number as a string, in quotes';
  const isNumber = expected === 'number' || expected === 'int';
  return isNumber && typeof input === 'string' ? ': send it without quotes' : '';
}

function counted(bound: number | bigint, origin: string): string {
  if (origin === 'array') return `${bound} entries`;
  return origin === 'string' ? `${bound} characters` : String(bound);
}

/** Maximum number of issues in an answer. */
const MAX_ISSUES = 20;

/** List the faults of an input, up to `MAX_ISSUES`. An unknown name is an issue of its own. */
export function issuesOf(
  schema: z.ZodType,
  value: unknown,
  { issues }: z.ZodError,
  whereIs: (name: string | undefined) => string,
): readonly InputIssue[] {
  const fieldOf = (path: readonly PropertyKey[]) => [whereIs(path[0]?.toString()), ...path.map(String)].join('.');
  const listed = issues.slice(0, MAX_ISSUES).flatMap((issue): readonly InputIssue[] => {
    if (issue.code !== 'unrecognized_keys') {
      return [{ field: fieldOf(issue.path), message: issue.message, input: issue.input, limit: limitOf(issue) }];
    }
    const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    return issue.keys.slice(0, MAX_ISSUES).map((key) => ({
      field: fieldOf([...issue.path, formatValue(key)]),
      message: `is not a field of this request, which takes ${known.join(', ')}`,
      input: (value as Readonly<Record<string, unknown>>)[key],
      limit: { oneOf: known },
    }));
  });
  return listed.slice(0, MAX_ISSUES);
}

/** The limit behind an issue. A check of its own names it as `params.limit`. */
function limitOf(issue: z.core.$ZodIssue): Limit | undefined {
  switch (issue.code) {
    case 'custom':
      return issue.params?.limit;
    case 'invalid_value': {
      const values = issue.values.filter((value) => typeof value === 'string' || typeof value === 'number');
      return values.length === 0 ? undefined : { oneOf: values };
    }
    case 'invalid_union':
      return issue.errors
        .flat()
        .map(limitOf)
        .find((limit) => limit !== undefined);
    case 'too_small':
      return { [BOUNDS[issue.origin]?.min ?? 'min']: Number(issue.minimum) };
    case 'too_big':
      return { [BOUNDS[issue.origin]?.max ?? 'max']: Number(issue.maximum) };
    default:
      return undefined;
  }
}

/** Names of the bounds that are not those of the value itself. */
const BOUNDS: Readonly<Record<string, { readonly min: string; readonly max: string }>> = {
  string: { min: 'minLength', max: 'maxLength' },
  array: { min: 'minItems', max: 'maxItems' },
};
