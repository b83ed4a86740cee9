import { z } from 'zod';
import type { ErrorCode } from '../../shared/errors.ts';
import { INELIGIBILITIES, LIQUIDITY_PLACES, SWAP_SOURCES, VISIBILITY_CHECKS } from '../../shared/vocabulary.ts';
import { addressString, dateTime, decimalString, marketIdString, pct } from './common.ts';

/**
 * Details of each code. Objects are strict: a new detail of an error class fails the test that compares both, until it is
 * added here.
 */

const place = z.string().meta({
  description: 'Where the value stood, e.g. `body.leverage`, `query.chainId` or `path.address`.',
  examples: ['body.leverage'],
});
const word = z.union([z.string(), z.number()]);

const inputDetails = z
  .strictObject({
    field: place,
    value: z
      .string()
      .optional()
      .meta({ description: 'The value as received, shortened; absent when nothing was given.', examples: ['12'] }),
    limit: z
      .record(z.string(), z.union([word, z.boolean(), z.array(word)]))
      .optional()
      .meta({
        description:
          'The limit by name, e.g. `{"maxLeverage": "10.5"}`, `{"oneOf": [1, 4663]}` or `{"maxDecimals": 6}`.',
        examples: [{ maxLeverage: '10.5', maxLtvPct: '90.50' }],
      }),
    issues: z
      .array(z.strictObject({ field: place, message: z.string().describe('What is wrong with it.') }))
      .optional()
      .describe('All issues, when there is more than one.'),
  })
  .meta({ id: 'InputDetails', description: 'An input that is not valid, or above a limit.' });

const notEligibleDetails = z
  .strictObject({
    reason: z.enum(INELIGIBILITIES).describe('Why.'),
    rule: z.enum(VISIBILITY_CHECKS).optional().describe('The listing rule that decided, where it is one.'),
    pointer: z.string().optional().describe('Path to use instead; absent when there is none.'),
    alternatives: z
      .array(
        z.strictObject({
          action: z.enum(['repay', 'add_collateral', 'close']).describe('Action to build instead.'),
          amount: decimalString('Its amount, whole tokens.'),
          symbol: z.string().describe('The token of the amount.'),
          thenRepay: z
            .boolean()
            .optional()
            .describe('Whether what it pays out has to be repaid afterwards; absent = no.'),
        }),
      )
      .optional()
      .describe('Each of them alone leads to what was asked for; absent when nothing does.'),
  })
  .meta({ id: 'NotEligibleDetails', description: 'A strategy or position that does not take the action.' });

const positionProxyDetails = z
  .strictObject({
    field: place,
    value: addressString('The contract that holds a position. It cannot sign.'),
    owner: addressString('The wallet whose position it holds: send it instead.'),
    positionId: z.int().describe("Which of the owner's positions."),
  })
  .meta({ id: 'PositionProxyDetails', description: 'An address that is no wallet.' });

const ambiguousYieldLoopsDetails = z
  .strictObject({
    field: place,
    vaultId: z.string().describe('The vault.'),
    candidates: z.array(z.int()).describe('Ids of the loops that may be its own, ascending.'),
  })
  .meta({ id: 'AmbiguousYieldLoopsDetails', description: 'Loops that have to be named.' });

const venueAnswer = z.strictObject({
  source: z.enum(SWAP_SOURCES).describe('The venue.'),
  answer: z.string().describe('`no_route`, `implausible`, or the reason of its failure.'),
});

/** Details by code; `null` = it has none. */
export const ERROR_DETAILS = {
  bad_request: z.union([inputDetails, notEligibleDetails, positionProxyDetails, ambiguousYieldLoopsDetails]),
  unauthorized: null,
  not_found: z.strictObject({
    resource: z.string().describe('What kind of thing was looked for.'),
    id: z.string().describe('The id, address or path it was looked for by, shortened.'),
  }),
  method_not_allowed: z.strictObject({ allow: z.array(z.string()).describe('Methods that the path takes.') }),
  payload_too_large: z.strictObject({ limitBytes: z.int().describe('Largest body.') }),
  unsupported_media_type: z.strictObject({ accepts: z.array(z.string()).describe('Media types that are taken.') }),
  query_too_complex: z.strictObject({
    measure: z
      .enum([
        'tokens',
        'brackets',
        'selections',
        'fragments',
        'validation',
        'depth',
        'fields',
        'aliases',
        'directives',
        'cost',
        'batch',
      ])
      .describe('What of the query is over its limit.'),
    limit: z.number().describe('The limit.'),
    actual: z.number().optional().describe('What the query has; absent where counting stopped at the limit.'),
    tier: z.enum(['anonymous', 'partner', 'ops']).describe('Tier of the caller.'),
  }),
  rate_limited: z.strictObject({
    scope: z
      .enum(['client', 'field', 'streams'])
      .describe('The budget of the client, the calls of one field, or the subscriptions kept open.'),
    policy: z.enum(['anonymous', 'partner', 'ops']).describe('Tier of the caller.'),
    limit: z.number().describe('How much per window, or open at once.'),
    windowSec: z.int().describe('Length of the window.'),
    field: z.string().optional().describe('The field, where it is the calls of one.'),
  }),
  not_ready: z.strictObject({ waitingFor: z.array(z.string()).describe('Groups of facts that are not measured yet.') }),
  upstream_unavailable: z.strictObject({
    provider: z.string().describe('Public name of what did not answer, e.g. `chain`.'),
    reason: z.string().describe('How it failed in a word, e.g. `timeout` or `malformed`.'),
  }),
  stale_data: z.strictObject({
    group: z.enum(['lendingState', 'oracle']).describe('Group of facts that is too old.'),
    asOf: dateTime('When it was measured.'),
    staleAfterSec: z.int().describe('Freshness budget in seconds.'),
    staleForSec: z.int().describe('Seconds past the budget; 0 where the age itself is not known.'),
    reference: z.string().optional().describe('The oracle whose price is too old, or of unknown age.'),
    feed: addressString('The feed behind it that is past its heartbeat.').optional(),
    deviationPct: pct('How far a price of unknown age is from the USD prices of its tokens.').optional(),
  }),
  no_route: z.strictObject({
    tokenIn: addressString('What was to be sold.'),
    tokenOut: addressString('What was to be bought.'),
    amountIn: z
      .string()
      .regex(/^\d+$/)
      .meta({ description: 'How much, base units of `tokenIn`.', examples: ['1000000'] }),
    venues: z.array(venueAnswer).describe('Every venue that was asked.'),
  }),
  insufficient_liquidity: z.strictObject({
    needed: decimalString('What has to be there, whole loan tokens.'),
    available: decimalString('What is there now, whole loan tokens.'),
    symbol: z.string().describe('The loan token.'),
    place: z
      .enum(LIQUIDITY_PLACES)
      .describe(
        'Where: `market` = what the market lends, with what a reallocation brings; `protocol` = what the lending protocol holds while the flash loan is out.',
      ),
    marketId: marketIdString('Which market, where it is one.').optional(),
    maxAmount: decimalString(
      'Largest `amount` that would do at everything else asked for, in its own token.',
    ).optional(),
    maxLeverage: decimalString('Highest `leverage` that would do, on an action that takes no amount.').optional(),
    maxLtvPct: decimalString('The same as `desiredLtv`, percent.').optional(),
  }),
  simulation_reverted: z.strictObject({
    reason: z.string().describe("Name of the contract's error; `unknown` when nothing decodes it."),
    args: z.record(z.string(), z.string()).describe('Its arguments by name.'),
    callIndex: z.int().describe('Which call reverted, from 0: the approvals first, the transaction last.'),
    cause: z.string().optional().describe('Why, in one sentence; absent where nothing is known about the reason.'),
    nextStep: z.string().optional().describe('What to do about it; absent with `cause`.'),
  }),
  simulation_mismatch: z.strictObject({
    of: z
      .enum(['swap_output', 'net_value'])
      .describe('What fell short: the output of one swap, or the value of the position less its debt.'),
    expected: decimalString('What was planned, whole tokens.'),
    simulated: decimalString('What the simulation ended with, whole tokens.'),
    symbol: z.string().describe('The token of both numbers.'),
    tolerancePct: decimalString('Percent of `expected` that may be missing.'),
    source: z.enum(SWAP_SOURCES).optional().describe('The venue, where it is one swap.'),
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
  const said = {
    code: z.literal(code).describe('Stable code.'),
    message: z.string().describe('What was wrong, the limit, and the next step.'),
    correlationId: z.string().describe('Identifies the failing request; the same as the header x-correlation-id.'),
  };
  return z
    .strictObject({
      error: z
        .strictObject(details === null ? said : { ...said, details: details.describe('What it is about.') })
        .describe('What went wrong.'),
    })
    .meta({ id: `${name}Error`, description: `The error body with the code \`${code}\`.` });
}
