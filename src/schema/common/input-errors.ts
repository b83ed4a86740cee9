import { GraphQLError, Kind, type Token, type ValueNode } from 'graphql';
import { AppError, BadRequestError } from '../../shared/errors.ts';
import { formatValue } from '../../shared/ids.ts';

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Turn issues of an argument schema into the product's bad-request error, naming the first field and all of them. */
export function validationError(
  failure: { readonly issues: readonly Issue[] },
  args: Readonly<Record<string, unknown>>,
): BadRequestError {
  const issues = failure.issues.map((issue) => {
    const path = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part));
    return { field: path.map(String).join('.'), message: issue.message, value: valueAt(args, path) };
  });
  const first = issues[0] ?? { field: 'arguments', message: 'invalid', value: undefined };
  return new BadRequestError(`${first.field || 'arguments'}: ${first.message}`, {
    field: first.field || 'arguments',
    value: first.value === undefined ? undefined : formatValue(first.value),
    issues: issues.length > 1 ? issues.map(({ field, message }) => ({ field, message })) : undefined,
  });
}

/**
 * Find the product's error behind an error of the GraphQL engine. A scalar that refuses a value does not know where the
 * value stood: the variable's or argument's name is filled in from the error's place in the document.
 * @returns `undefined` when no product error is behind it.
 */
export function appErrorBehind(error: GraphQLError): AppError | undefined {
  let cause: unknown = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  if (cause instanceof BadRequestError && cause.details) {
    const field = placeOf(error);
    if (field === undefined) return cause;
    return new BadRequestError(cause.message, { ...cause.details, field });
  }
  return cause instanceof AppError ? cause : undefined;
}

/** The name under which the refused value was given; only known for errors that come before execution. */
function placeOf(error: GraphQLError): string | undefined {
  const node = error.path === undefined ? error.nodes?.[0] : undefined;
  return variableOf(error) ?? (node === undefined ? undefined : argumentBefore(node as ValueNode));
}

/** Name the variable that an error from before the execution is about, e.g. `variables.input.amount`. */
export function variableOf(error: GraphQLError): string | undefined {
  const node = error.path === undefined ? error.nodes?.[0] : undefined;
  if (node?.kind !== Kind.VARIABLE_DEFINITION) return undefined;
  return `variables.${placeInVariable(error) ?? node.variable.name.value}`;
}

/**
 * The place inside an input object, e.g. `input.amount`. The engine reports it in its message only:
 * `Variable "$input" got invalid value "x" at "input.amount"; <the scalar's message>`.
 */
function placeInVariable({ message, originalError }: GraphQLError): string | undefined {
  const said = originalError?.message ?? '';
  const before = message.endsWith(`; ${said}`) ? message.slice(0, -said.length - 2) : '';
  return / at "([\w.[\]]+)"$/.exec(before)?.[1]?.replaceAll(/\[(\d+)\]/g, '.$1');
}

/** Walk back from a literal to the name before its colon; lists hold scalars only, so nothing else can be between them. */
function argumentBefore(node: ValueNode): string | undefined {
  let token: Token | null | undefined = node.loc?.startToken.prev;
  while (token && token.kind !== ':') token = token.prev;
  return token?.prev?.value;
}

function valueAt(args: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = args;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return typeof value === 'object' ? undefined : value;
}
