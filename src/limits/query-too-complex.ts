import { QUERY_MEASURES } from '../shared/contract/error-details.ts';
import { AppError } from '../shared/errors.ts';
import type { ScanMeasure } from './query-scan.ts';
import type { Tier, TierLimits } from './tier-limits.ts';

/** Measures of a query that have a limit. */
export type QueryMeasure =
  | ScanMeasure
  | 'validation'
  | 'depth'
  | 'fields'
  | 'aliases'
  | 'directives'
  | 'cost'
  | 'batch';

export interface QueryTooComplexDetails {
  readonly measure: QueryMeasure;
  readonly limit: number;
  /** Absent when counting stopped at the limit. */
  readonly actual?: number | undefined;
  readonly tier: Tier;
}

/** Name of each measure, and the next step for callers. */
const MESSAGES: Readonly<Record<QueryMeasure, readonly [what: string, wayOut: string]>> = {
  tokens: ['The number of tokens', 'Split it into several requests'],
  lines: ['The number of lines', 'Leave out empty lines'],
  brackets: ['The nesting of brackets', 'Send deep values as variables, and nested objects as several requests'],
  selections: ['The number of selections', 'Split it into several requests'],
  fragments: ['The number of fragments', 'Send fewer fragments per request'],
  validation: [
    'The validation cost',
    'Name each field once per selection, and send fewer fragments and operations per request',
  ],
  depth: ['The depth', 'Request the nested objects by their ids in a second request'],
  fields: ['The number of fields, fragments expanded,', 'Request fewer fields, or spread fewer fragments'],
  aliases: ['The number of aliases', 'Send the aliased fields as several requests'],
  directives: ['The number of directives', 'Leave out fields instead of skipping them'],
  cost: ['The cost', 'Lower "first" and page with "after", or request fewer fields of lists'],
  batch: ['The number of operations', 'Send fewer operations per request'],
};

export class QueryTooComplexError extends AppError<QueryTooComplexDetails> {
  constructor(details: QueryTooComplexDetails) {
    const { measure, limit, actual, tier } = details;
    const [what, wayOut] = MESSAGES[measure];
    super(
      'query_too_complex',
      actual === undefined
        ? `${what} of the query is above ${limit}, the limit for ${tier} callers. ${wayOut}.`
        : `${what} of the query is ${actual}; the limit for ${tier} callers is ${limit}. ${wayOut}.`,
      { details },
    );
  }
}

/**
 * Check a document against the limits of a tier.
 * @throws QueryTooComplexError
 */
export function checkShape(
  shape: Readonly<Record<(typeof QUERY_MEASURES)[number], number>>,
  limits: TierLimits,
  tier: Tier,
): void {
  for (const measure of QUERY_MEASURES) {
    if (shape[measure] > limits[measure]) {
      throw new QueryTooComplexError({ measure, limit: limits[measure], actual: shape[measure], tier });
    }
  }
}
