import { InputError, InvalidAnswerError } from './errors.ts';
import type { operations } from './generated/openapi.ts';
import { type QueryForms, ROWS } from './generated/rows.ts';
import type { CallOptions, Requests, ServiceRequest } from './http/requests.ts';
import { isRecord, jsonCopyOf } from './json.ts';

type RowName = keyof operations & keyof typeof ROWS;

type Content<Answer> = Answer extends { readonly content: { readonly 'application/json': infer Body } } ? Body : never;
type BodyOf<Name extends RowName> = operations[Name] extends {
  readonly requestBody: { readonly content: { readonly 'application/json': infer Body } };
}
  ? Body
  : never;
type Given<Parameters> = [NonNullable<Parameters>] extends [never] ? Record<never, never> : NonNullable<Parameters>;
type ParametersOf<Name extends RowName> = Given<operations[Name]['parameters']['query']> &
  Given<operations[Name]['parameters']['path']>;

/** Input of a row: its body, or the parameters of its path and query in one object. */
export type RowInput<Name extends RowName> = Name extends keyof QueryForms
  ? QueryForms[Name]
  : [BodyOf<Name>] extends [never]
    ? ParametersOf<Name>
    : BodyOf<Name>;
/** The answer of a row. */
export type RowAnswer<Name extends RowName> = Content<operations[Name]['responses'][200]>;

/** One method for every documented row of `/v1`, under its `operationId`, `health` and `ready` included. */
export type Rows = {
  readonly [Name in RowName]: Record<never, never> extends RowInput<Name>
    ? (input?: RowInput<Name>, options?: CallOptions) => Promise<RowAnswer<Name>>
    : (input: RowInput<Name>, options?: CallOptions) => Promise<RowAnswer<Name>>;
};

interface Row {
  readonly method: string;
  readonly path: string;
  readonly pathNames: readonly string[];
  readonly queryNames: readonly string[];
  readonly hasBody: boolean;
  readonly isRead: boolean;
  readonly takesIdempotencyKey: boolean;
  readonly hasEntityTag: boolean;
  /** By status: the fields that its record always has. */
  readonly answers: Readonly<Record<string, readonly string[]>>;
}

/** Create the methods. `onAnswer` sees each answer with the request that led to it. */
export function createRows(requests: Requests, onAnswer: (name: string, input: unknown, answer: object) => void): Rows {
  const methods = Object.entries<Row>(ROWS).map(([name, row]) => {
    const method = async (input: unknown = {}, options: CallOptions = {}): Promise<unknown> => {
      // The caller may change his object while the answer is under way. A repetition, and a plan, are of what was sent first.
      const given = row.hasBody && isRecord(input) ? jsonCopyOf(input) : input;
      const { status, body } = await requests.send(requestOf(row, given), options);
      const missing = missingFields(body, row.answers[status] ?? []);
      if (missing !== undefined) {
        throw new InvalidAnswerError('shape', status, `The answer of ${row.method} ${row.path} ${missing}.`);
      }
      onAnswer(name, given, body as object);
      return body;
    };
    return [name, method];
  });
  return Object.fromEntries(methods) as Rows;
}

function missingFields(body: unknown, fields: readonly string[]): string | undefined {
  if (!isRecord(body)) return 'is not an object';
  const missing = fields.filter((field) => body[field] === undefined);
  return missing.length === 0 ? undefined : `lacks ${missing.join(', ')}`;
}

function requestOf(row: Row, input: unknown): ServiceRequest {
  const base = {
    method: row.method,
    isRead: row.isRead,
    takesIdempotencyKey: row.takesIdempotencyKey,
    hasEntityTag: row.hasEntityTag,
    statuses: Object.keys(row.answers).map(Number),
  };
  if (!isRecord(input)) throw new InputError(`${row.method} ${row.path} takes an object.`);
  if (row.hasBody) return { ...base, path: row.path, body: input };
  const names = [...row.pathNames, ...row.queryNames];
  const unknown = Object.keys(input).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new InputError(`${row.path} takes ${names.join(', ') || 'no parameters'}, not ${unknown.join(', ')}.`);
  }
  let path = row.path;
  for (const name of row.pathNames) path = path.replace(`{${name}}`, segment(name, input[name]));
  const query = row.queryNames.flatMap((name) =>
    input[name] === undefined ? [] : [`${name}=${encodeURIComponent(String(input[name]))}`],
  );
  return { ...base, path: query.length === 0 ? path : `${path}?${query.join('&')}` };
}

/** A value as one segment of a path, so that it cannot name another path. */
function segment(name: string, value: unknown): string {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return String(value);
  if (typeof value !== 'string' || value === '' || /^\.+$/.test(value)) {
    throw new InputError(`${name} is ${JSON.stringify(value)}: give an id or an address.`);
  }
  return encodeURIComponent(value);
}
