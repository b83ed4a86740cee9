import { Decimal, formatPct } from '../../shared/decimal.ts';
import type { Conversions } from '../derive/conversion.ts';
import type { JsonSchema, Refer } from '../openapi/json-schema.ts';

/** The time of a value that was never measured, in fields that have to have one. */
const EPOCH = '1970-01-01T00:00:00.000Z';
/** Digits after the point of a USD price that is derived rather than quoted. */
const PRICE_PLACES = 12;
const DATE_CHARS = 'YYYY-MM-DD'.length;

const same = (of: JsonSchema): JsonSchema => of;
const integer = (): JsonSchema => ({ type: 'integer', minimum: 0, format: 'int64' });
/** Whether the text of a number may be negative. */
const isSigned = ({ pattern }: JsonSchema) => String(pattern).startsWith('^-');
const msOf = (at: unknown) => Date.parse(String(at));

/** Single values in another form. */
export const valueConversions = {
  /** A time as whole unix seconds. */
  unixSeconds: { says: 'Unix seconds.', schema: integer, convert: (at) => Math.floor(msOf(at) / 1_000) },
  /** A whole number of text, a JSON number. */
  integer: { schema: integer, convert: Number },
  /** A time as unix milliseconds. */
  unixMs: { says: 'Unix milliseconds.', schema: integer, convert: msOf },
  /** The calendar day of a time, YYYY-MM-DD. */
  date: {
    says: 'YYYY-MM-DD.',
    schema: () => ({ type: 'string', format: 'date' }),
    convert: (at) => String(at).slice(0, DATE_CHARS),
  },
  /** A value that is always there when the row answers. @throws Error when it is not */
  known: {
    schema: same,
    takesNull: true,
    convert: (value) => {
      if (value === null) throw new Error('The answer lacks a required field.');
      return value;
    },
  },
  /** A time that has to be there: the epoch where nothing was ever measured. */
  epochIfNever: { schema: same, takesNull: true, convert: (at) => at ?? EPOCH },
  /** The age of a list; unknown is stale. */
  orUnknownAge: { schema: same, takesNull: true, convert: (age) => age ?? { asOf: null, stale: true } },
  /** A percentage rounded to 2 places. */
  twoPlaces: { schema: same, convert: (pct) => formatPct(new Decimal(String(pct))) },
  /** A borrow APY as a fraction, a JSON number: 5 % is 0.05. */
  borrowApyFraction: {
    schema: () => ({ type: 'number', minimum: 0, description: 'Borrow APY, a fraction: 0.05 is 5 %.' }),
    convert: (pct) => new Decimal(String(pct)).shiftedBy(-2).toNumber(),
  },
  /** The APR of an incentive, a JSON number. */
  incentiveApr: {
    schema: () => ({ type: 'number', minimum: 0, description: 'APR of the incentives, percent.' }),
    convert: (pct) => new Decimal(String(pct)).toNumber(),
  },
  /** A price with at most 12 places. */
  price: { schema: same, convert: (usd) => new Decimal(String(usd)).decimalPlaces(PRICE_PLACES).toFixed() },
  /** An amount; absent when it is zero. */
  unlessZero: { schema: same, mayBeAbsent: true, convert: (amount) => (amount === '0' ? undefined : amount) },
  /** True, or absent. */
  onlyIfTrue: {
    schema: () => ({ type: 'boolean', const: true }),
    mayBeAbsent: true,
    convert: (flag) => (flag === true ? true : undefined),
  },
  /** A name of an enumeration in lower case. */
  lowerCase: {
    schema: (of) => ({ ...of, enum: (of.enum as readonly string[]).map((name) => name.toLowerCase()) }),
    convert: (name) => String(name).toLowerCase(),
  },
  /** Whether the status of an age is past its budget, or last-good after a failure. */
  isStale: { schema: () => ({ type: 'boolean' }), convert: (status) => status === 'stale' },
  /** An exact decimal in the tag of the app market model. */
  bn: {
    says: (of) => (isSigned(of) ? 'Exact decimal.' : 'Exact decimal, 0 or more.'),
    schema: (_of, refer) => exactDecimal(refer),
    convert: (value) => ({ $bn: String(value) }),
  },
  /** An exact integer in the tag of the app market model. */
  bigint: {
    says: (of) => (isSigned(of) ? 'Exact integer.' : 'Exact integer, 0 or more.'),
    schema: (_of, refer) => refer('ExactInteger', () => EXACT_INTEGER),
    convert: (value) => ({ $bigint: String(value) }),
  },
} as const satisfies Conversions;

/** The tag of an exact decimal. */
export const exactDecimal = (refer: Refer): JsonSchema => refer('ExactDecimal', () => EXACT_DECIMAL);

const EXACT_DECIMAL: JsonSchema = {
  type: 'object',
  description: 'An exact decimal.',
  required: ['$bn'],
  properties: {
    $bn: {
      type: 'string',
      pattern: '^-?\\d+(\\.\\d+)?$',
      description: 'Plain decimal, no exponent. The field that has it names unit and range.',
      examples: ['1250.5'],
    },
  },
};

const EXACT_INTEGER: JsonSchema = {
  type: 'object',
  description: 'An exact integer.',
  required: ['$bigint'],
  properties: {
    $bigint: {
      type: 'string',
      pattern: '^-?\\d+$',
      description: 'Plain integer. The field that has it names unit and range.',
      examples: ['1250500000'],
    },
  },
};
