import { z } from 'zod';
import { ADDRESS_PATTERN, MARKET_ID_PATTERN } from '../../shared/ids.ts';
import { WARNING_CODES, WARNING_MEANINGS } from '../../shared/vocabulary.ts';

/** Examples for tools that would otherwise generate invalid ones from a pattern: sUSDe and its market with PYUSD. */
const EXAMPLE_ADDRESS = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';
const EXAMPLE_MARKET_ID = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';

/** Percent with up to 2 decimals, signed. */
export const pct = (description: string) =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .meta({ description: `${description} Decimal string, percent.`, examples: ['12.34'] });
export const decimalString = (description: string) =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .meta({ description, examples: ['1250.5'] });
export const usd = (description: string) => z.number().meta({ description: `${description} USD.`, examples: [1250.5] });
export const dateTime = (description: string) => z.iso.datetime().describe(description);
/** The block of a reading. */
export const readAt = z
  .object({
    blockNumber: z.string().regex(/^\d+$/).describe('Number of the block.'),
    blockTime: dateTime('Time of the block.'),
  })
  .describe('The block at which holdings, debt and prices were read; an older price is named by `freshness`.');
/** The block of a preview or a plan; absent when the node did not report it. */
export const pricedAtSchema = readAt
  .optional()
  .describe(
    'The block at which the prices and the debt behind it were read; absent where the node did not tell which.',
  );
/** Null = the price needs no feed; absent = not known. */
export const oraclePriceAsOf = dateTime(
  "When the feeds behind the oracle's price were updated, the oldest of them; null = it needs none, absent = not known.",
)
  .nullable()
  .optional();
export const addressString = (description: string) =>
  z
    .string()
    .regex(ADDRESS_PATTERN)
    .meta({ description, examples: [EXAMPLE_ADDRESS] });
export const marketIdString = (description: string) =>
  z
    .string()
    .regex(MARKET_ID_PATTERN)
    .meta({ description, examples: [EXAMPLE_MARKET_ID] });

export interface ChainParamOptions {
  readonly chainIds: readonly number[];
  readonly defaultChainId: number;
}

/** Query parameter `chainId`: a supported chain, or the default when it is left out. */
export function chainIdParam({ chainIds, defaultChainId }: ChainParamOptions): z.ZodType<number> {
  return chainIdChoice(chainIds)
    .default(defaultChainId)
    .describe(`Chain id: ${chainIds.join(' or ')}. Default ${defaultChainId}.`);
}

/** `chainId` without a default. */
export function chainIdChoice(chainIds: readonly number[]): z.ZodType<number, string> {
  return z
    .string()
    .refine((value) => /^[1-9]\d{0,8}$/.test(value) && chainIds.includes(Number(value)), {
      error: `expected a supported chain id: ${chainIds.join(' or ')}`,
    })
    .transform(Number)
    .meta({ type: 'integer', enum: [...chainIds] });
}

/** Path parameter: a market id, lower-cased. */
export const marketIdParam = z
  .string()
  .regex(MARKET_ID_PATTERN, 'expected a market id: 0x followed by 64 hex characters')
  .transform((value) => value.toLowerCase())
  .meta({ description: 'Market id: 0x followed by 64 hex characters.', pattern: MARKET_ID_PATTERN.source });

export const addressParam = z
  .string()
  .regex(ADDRESS_PATTERN, 'expected an address: 0x followed by 40 hex characters')
  .meta({ description: 'Address: 0x followed by 40 hex characters.', pattern: ADDRESS_PATTERN.source });

/** Assumptions for required fields while one of their inputs is not known. */
export const assumedGaps = z
  .array(
    z.object({
      field: z.string().describe('The field.'),
      reason: z.string().describe('NOT_MEASURED, SOURCE_FAILED or IMPLAUSIBLE.'),
      message: z.string().describe('One plain sentence.'),
    }),
  )
  .optional()
  .describe(
    'Required fields that carry the conservative value that their description names because an input is not known; absent when there is none.',
  );

export const freshnessValue = z
  .object({
    asOf: dateTime('When the value was measured.'),
    staleAfterSec: z.int().describe('Freshness budget in seconds.'),
    staleForSec: z.int().optional().describe('Seconds past the budget; present only when the value is stale.'),
  })
  .meta({ id: 'Freshness', description: 'How old a value is and how old it may get.' });

/** Fees of the contract that holds positions. */
export const fees = z
  .object({
    yieldFeePct: pct(
      'Of the yield, at closing and withdrawing on correlated markets; 0 on an uncorrelated one. The documented 5 while the contract does not tell its own, see gaps.',
    ),
    depositFeePct: pct(
      'Of what is paid in on uncorrelated markets; 0 on a correlated one. The documented 1 while the contract does not tell its own, see gaps.',
    ),
    treasury: addressString('Receives the fees; absent = not known.').optional(),
    freshness: freshnessValue.optional().describe('Age of what the contract told; absent = it has told nothing yet.'),
  })
  .meta({ id: 'Fees', description: 'What the contract that holds positions takes, at its rates of today.' });

/** Terms of the deployed contract for positions on a market; unknown ones are left out. */
export const deployment = z
  .object({
    source: z.string().describe('Who told it.'),
    freshness: freshnessValue.describe('How old the older part of it is.'),
    paused: z
      .boolean()
      .optional()
      .describe('Whether the contract lets nothing happen; absent = not known, taken as open.'),
    supported: z
      .boolean()
      .optional()
      .describe('Whether it opens positions on the market; absent = not known, taken as supported.'),
    correlated: z
      .boolean()
      .optional()
      .describe("What kind of market its fees take it for; absent = not known, the catalog's kind is taken."),
    liquidationBufferPct: pct(
      'Points between the liquidation LTV and the highest LTV that it accepts; absent = not known, 0.25 are taken.',
    ).optional(),
  })
  .meta({ id: 'Deployment', description: 'What the deployed contract says that limits and listing rest on.' });

/** Warnings about displayed values. */
export const warnings = z.array(
  z.object({
    code: z.enum(WARNING_CODES).describe(WARNING_MEANINGS),
    field: z.string().describe('The field of the strategy that it is about.'),
    value: decimalString('What was told: USD of prices, percent of rates.'),
    message: z.string().describe('One plain sentence.'),
  }),
);

/** Facts of one chain that are missing in a list. */
export const missingFacts = z.object({
  groups: z.array(z.string()).describe('Groups of facts of which nothing, or not everything, was asked yet.'),
  strategies: z
    .array(
      z.object({
        id: z.string().describe('The id that it has once it is there.'),
        symbol: z.string().describe('Its symbols.'),
        waitingFor: z.array(z.string()).describe('Groups of facts that it waits for.'),
      }),
    )
    .describe('Strategies left out, because a fact that they need was never measured.'),
});

/** Chains that are missing in an answer. */
export const leftOutChains = z
  .array(
    z.object({
      chainId: z.int().describe('Chain id.'),
      waitingFor: z.array(z.string()).describe('Groups of facts that it waits for.'),
    }),
  )
  .optional()
  .describe('Chains of which nothing was measured yet; absent when there is none.');
