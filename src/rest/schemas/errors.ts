import { z } from 'zod';
import { SWAP_SOURCES } from '../../catalog/schema.ts';
import { VISIBILITY_CHECKS } from '../../domain/strategy/types.ts';
import { CONFLICTS, INELIGIBILITIES, LIQUIDITY_PLACES, QUERY_MEASURES } from '../../shared/contract/error-details.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import { addressString, dateTime, marketIdString } from './common.ts';
import { decimalString, jsonNumber, leverageString, pct, wholeNumber } from './numbers.ts';

/**
 * Details of each code. Objects are strict: a new detail of an error class fails the test that compares both, until it is
 * added here.
 */

const place = z.string().meta({
  description: 'Place of the value, e.g. `body.leverage`, `query.chainId` or `path.address`.',
  examples: ['body.leverage'],
});
const word = z.union([z.string(), jsonNumber('A limit, in the unit of the field.', {})]);

const inputDetails = z
  .strictObject({
    field: place,
    value: z
      .string()
      .optional()
      .meta({ description: 'The received value, shortened; absent when there was none.', examples: ['12'] }),
    limit: z
      .record(z.string(), z.union([word, z.boolean(), z.array(word)]))
      .optional()
      .meta({
        description:
          'The limit by name, e.g. `{"maxLeverage": "10.5"}`, `{"oneOf": [1, 4663]}` or `{"maxDecimals": 6}`.',
        examples: [{ maxLeverage: '10.5', maxLtvPct: '90.50' }],
      }),
    issues: z
      .array(z.strictObject({ field: place, message: z.string().describe('The problem.') }))
      .optional()
      .describe('All issues, if there are several.'),
  })
  .meta({ id: 'InputDetails', description: 'An invalid input, or an input above a limit.' });

const notEligibleDetails = z
  .strictObject({
    reason: z.enum(INELIGIBILITIES).describe('Why.'),
    rule: z.enum(VISIBILITY_CHECKS).optional().describe('The failed listing rule, if any.'),
    pointer: z.string().optional().describe('Path to use instead; absent = none.'),
    alternatives: z
      .array(
        z.strictObject({
          action: z.enum(['repay', 'add_collateral', 'close']).describe('Action to build instead.'),
          amount: decimalString('Its amount, whole tokens.'),
          symbol: z.string().describe('The token of the amount.'),
          thenRepay: z.boolean().optional().describe('Whether its payout has to be repaid afterwards; absent = no.'),
        }),
      )
      .optional()
      .describe('Actions that each lead to the requested result; absent = none.'),
  })
  .meta({ id: 'NotEligibleDetails', description: 'A strategy or position that does not support the action.' });

const positionProxyDetails = z
  .strictObject({
    field: place,
    value: addressString('The contract that holds a position. It cannot sign.'),
    owner: addressString('The owner of the position: send this address instead.'),
    positionId: wholeNumber("Index of the owner's position on chain."),
  })
  .meta({ id: 'PositionProxyDetails', description: 'An address that is not a wallet.' });

const ambiguousYieldLoopsDetails = z
  .strictObject({
    field: place,
    vaultId: z.string().describe('The vault.'),
    yieldPositionIds: z
      .array(wholeNumber('Index of a position on chain.'))
      .describe('Ids of the candidate loops, ascending.'),
  })
  .meta({ id: 'AmbiguousYieldLoopsDetails', description: 'An ambiguous vault: the request has to name its loops.' });

const venueAnswer = z.strictObject({
  source: z.enum(SWAP_SOURCES).describe('The venue.'),
  answer: z.string().describe('`no_route`, `implausible`, or the reason of its failure.'),
});

/** Details by code; `null` = it has none. */
export const ERROR_DETAILS = {
  bad_request: z.union([inputDetails, notEligibleDetails, positionProxyDetails, ambiguousYieldLoopsDetails]),
  unauthorized: null,
  not_found: z.strictObject({
    resource: z.string().describe('Kind of the unknown resource.'),
    id: z.string().describe('The requested id, address or path, shortened.'),
  }),
  method_not_allowed: z.strictObject({ allow: z.array(z.string()).describe('Methods of the path.') }),
  conflict: z.strictObject({
    field: place,
    value: z.string().describe('The received value, shortened.'),
    resource: z.string().describe('Kind of the earlier resource, e.g. `alert`.'),
    id: z.string().describe('Its id.'),
    reason: z
      .enum(CONFLICTS)
      .describe(
        'other_request: the key was sent with another request. deleted: its resource is deleted. secret_shown: its secret is no longer shown.',
      ),
  }),
  payload_too_large: z.strictObject({ limitBytes: wholeNumber('Largest body, bytes.') }),
  unsupported_media_type: z.strictObject({ accepts: z.array(z.string()).describe('Supported media types.') }),
  query_too_complex: z.strictObject({
    measure: z.enum([...QUERY_MEASURES, 'cost', 'batch']).describe('The exceeded measure of the query.'),
    limit: jsonNumber('The limit, in the unit of the measure: a count, or cost points.'),
    actual: jsonNumber(
      'Measured value of the query, in the same unit; absent if counting stopped at the limit.',
    ).optional(),
    tier: z.enum(['anonymous', 'partner', 'ops']).describe('Tier of the caller.'),
  }),
  rate_limited: z.strictObject({
    scope: z
      .enum(['client', 'field', 'streams', 'waits', 'queue'])
      .describe(
        'The budget of the client, the calls of one field, the subscriptions kept open, or the reads that wait for a block.',
      ),
    policy: z.enum(['anonymous', 'partner', 'ops']).describe('Tier of the caller.'),
    limit: jsonNumber(
      'Limit per window: cost points, or a number of calls; or the number of open streams or waiting reads.',
    ),
    windowSec: wholeNumber('Length of the window, seconds.'),
    field: z.string().optional().describe('The field, for limits of one field.'),
  }),
  not_ready: z.strictObject({ waitingFor: z.array(z.string()).describe('Groups of facts without a measurement.') }),
  upstream_unavailable: z.strictObject({
    provider: z.string().describe('Public name of the failed source, e.g. `chain`.'),
    reason: z.string().describe('The failure in a word, e.g. `timeout` or `malformed`.'),
  }),
  stale_data: z.strictObject({
    group: z.enum(['lendingState', 'oracle']).describe('The stale group of facts.'),
    asOf: dateTime('Time of the measurement.'),
    staleAfterSec: wholeNumber('Freshness budget in seconds.'),
    staleForSec: wholeNumber('Seconds past the budget; 0 if the age itself is unknown.'),
    reference: z.string().optional().describe('The oracle with a price that is too old or of unknown age.'),
    feed: addressString('The feed past its heartbeat.').optional(),
    deviationPct: pct('Deviation of a price of unknown age from the USD prices of its tokens.').optional(),
  }),
  no_route: z.strictObject({
    tokenIn: addressString('The token to sell.'),
    tokenOut: addressString('The token to buy.'),
    amountIn: z
      .string()
      .regex(/^\d+$/)
      .meta({ description: 'Amount, base units of `tokenIn`.', examples: ['1000000'] }),
    venues: z.array(venueAnswer).describe('Every requested venue.'),
  }),
  insufficient_liquidity: z.strictObject({
    needed: decimalString('Required liquidity, whole loan tokens.'),
    available: decimalString('Available liquidity, whole loan tokens.'),
    symbol: z.string().describe('The loan token.'),
    place: z
      .enum(LIQUIDITY_PLACES)
      .describe(
        'Place: `market` = the liquidity of the market, reallocation included; `protocol` = the holdings of the lending protocol during the flash loan.',
      ),
    marketId: marketIdString('The market, if it is one.').optional(),
    maxAmount: decimalString(
      'Largest `amount` that would pass, everything else unchanged, whole tokens of its own token.',
    ).optional(),
    maxLeverage: leverageString('Highest `leverage` that would pass, for an action without an amount.').optional(),
    maxLtvPct: decimalString('The same as `desiredLtv`, percent.').optional(),
  }),
  simulation_reverted: z.strictObject({
    reason: z.string().describe("Name of the contract's error; `unknown` if it is undecodable."),
    args: z.record(z.string(), z.string()).describe('Its arguments by name.'),
    callIndex: wholeNumber('Index of the call that reverted, from 0: the approvals first, the transaction last.'),
    cause: z.string().optional().describe('The cause, in one sentence; absent if it is unknown.'),
    nextStep: z.string().optional().describe('The next step; absent with `cause`.'),
  }),
  simulation_mismatch: z.strictObject({
    of: z
      .enum(['swap_output', 'net_value'])
      .describe('The value with the shortfall: the output of one swap, or the value of the position less its debt.'),
    expected: decimalString('Planned amount, whole tokens.'),
    simulated: decimalString('Simulated amount, whole tokens.'),
    symbol: z.string().describe('The token of both numbers.'),
    tolerancePct: decimalString('Tolerated shortfall, percent of `expected`.'),
    source: z.enum(SWAP_SOURCES).optional().describe('The venue, for one swap.'),
  }),
  internal: null,
} as const satisfies Readonly<Record<ErrorCode, z.ZodType | null>>;

/** The error envelope of the contract, with the details of one code. */
export function errorEnvelopeOf(code: ErrorCode): z.ZodType {
  return ENVELOPES[code];
}

const ENVELOPES = Object.fromEntries(
  Object.entries(ERROR_DETAILS).map(([code, details]) => [code, envelope(code, details)]),
) as Readonly<Record<ErrorCode, z.ZodType>>;

function envelope(code: string, details: z.ZodType | null): z.ZodType {
  const name = code.replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
  const fields = {
    code: z.literal(code).describe('Stable code.'),
    message: z.string().describe('The problem, the limit, and the next step.'),
    correlationId: z.string().describe('Identifies the failing request; the same as the header x-correlation-id.'),
  };
  return z
    .strictObject({
      error: z
        .strictObject(
          details === null
            ? fields
            : { ...fields, details: named(details, `${name}Details`).describe('Details of the code.') },
        )
        .meta({ id: `${name}Problem`, description: `The error with the code \`${code}\`.` }),
    })
    .meta({ id: `${name}Error`, description: `The error body with the code \`${code}\`.` });
}

/** Name details that have no name of their own; details with several forms are a union of named ones. */
function named(details: z.ZodType, id: string): z.ZodType {
  return details instanceof z.ZodUnion ? details : details.meta({ id, description: 'Details of the code.' });
}
