import { z } from 'zod';
import { withoutUndefined } from '../../shared/without-undefined.ts';

/** Range of a number. Without a lower bound it may be negative. */
export interface NumberRange {
  /** Included. */
  readonly min?: number | undefined;
  /** Not included. */
  readonly above?: number | undefined;
  /** Included. */
  readonly max?: number | undefined;
}

const SIGNED = /^-?\d+(\.\d+)?$/;
const UNSIGNED = /^\d+(\.\d+)?$/;
const ANY: NumberRange = {};
const NOT_NEGATIVE: NumberRange = { min: 0 };

/** The range as a sentence, for schemas that cannot express it. */
export function rangeSentence({ min, above, max }: NumberRange): string {
  if (min === undefined && above === undefined)
    return max === undefined ? 'May be negative.' : `At most ${max}; may be negative.`;
  if (above !== undefined) return max === undefined ? `Above ${above}.` : `Above ${above}, at most ${max}.`;
  return max === undefined ? `${min} or more.` : `From ${min} to ${max}.`;
}

/** The range as keywords of JSON Schema. */
export function rangeKeywords({ min, above, max }: NumberRange): Readonly<Record<string, number>> {
  return withoutUndefined({ minimum: min, exclusiveMinimum: above, maximum: max });
}

function isUnsigned({ min, above }: NumberRange): boolean {
  return (min ?? above ?? -1) >= 0;
}

/** A decimal as text. The description names its unit. */
export function decimalString(description: string, range: NumberRange = NOT_NEGATIVE) {
  return z
    .string()
    .regex(isUnsigned(range) ? UNSIGNED : SIGNED)
    .meta({ description: `${description} ${rangeSentence(range)}`, examples: ['1250.5'] });
}

/** A percentage as text, signed unless a range is given. */
export function pct(description: string, range: NumberRange = ANY) {
  return z
    .string()
    .regex(isUnsigned(range) ? UNSIGNED : SIGNED)
    .meta({ description: `${description} Decimal string, percent. ${rangeSentence(range)}`, examples: ['12.34'] });
}

/** A leverage as text: 1 = without a debt. */
export function leverageString(description: string) {
  return decimalString(`${description} Multiple of the equity.`, { min: 1 });
}

/** A JSON number. The description names its unit. */
export function jsonNumber(description: string, range: NumberRange = NOT_NEGATIVE) {
  return bounded(z.number(), range).describe(`${description} ${rangeSentence(range)}`);
}

/** A whole JSON number. The description names the counted things, or the unit. */
export function wholeNumber(description: string, range: NumberRange = NOT_NEGATIVE) {
  return bounded(z.int(), range).describe(description);
}

/** A whole number of more than 32 bits: a unix time, a block, an amount of gas. */
export function largeNumber(description: string, range: NumberRange = NOT_NEGATIVE) {
  return wholeNumber(description, range).meta({ format: 'int64' });
}

/** The id of a chain in an answer. */
export function chainIdNumber(description = 'Chain id.') {
  return wholeNumber(description, { min: 1 });
}

function bounded<T extends z.ZodNumber>(type: T, { min, above, max }: NumberRange): T {
  let bounds = type;
  if (min !== undefined) bounds = bounds.min(min);
  if (above !== undefined) bounds = bounds.gt(above);
  if (max !== undefined) bounds = bounds.max(max);
  return bounds;
}
