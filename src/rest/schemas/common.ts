import { z } from 'zod';
import { ADDRESS_PATTERN, MARKET_ID_PATTERN, STRATEGY_ID_PATTERN } from '../../shared/ids.ts';
import { WARNING_CODES, WARNING_MEANINGS } from '../../shared/vocabulary.ts';
import { chainIdNumber, decimalString, pct, wholeNumber } from './numbers.ts';

/** Examples for tools that would otherwise generate invalid ones from a pattern: sUSDe and its market with PYUSD. */
export const EXAMPLE_ADDRESS = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';
export const EXAMPLE_MARKET_ID = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';

export const dateTime = (description: string) => z.iso.datetime().describe(description);
/** A calendar day, YYYY-MM-DD. */
export const date = (description: string) => z.iso.date().describe(description);
/** The absolute address of a page. */
export const uri = (description: string) => z.url().describe(description);
/** The block of a reading. */
export const readAt = z
  .object({
    blockNumber: z.string().regex(/^\d+$/).describe('Number of the block.'),
    blockTime: dateTime('Time of the block.'),
  })
  .meta({
    id: 'BlockReading',
    description: 'The block at which holdings, debt and prices were read; `freshness` shows the age of older prices.',
  });
/** The block of a preview or a plan; absent when the node did not report it. */
export const pricedAtSchema = readAt
  .optional()
  .describe('The block at which the prices and the debt were read; absent if the node did not return it.');
/** Null = the price needs no feed; absent = not known. */
export const oraclePriceAsOf = dateTime(
  "Oldest update of the feeds behind the oracle's price; null = the oracle has no feed, absent = unknown.",
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

/** `chainId` beside a strategy id, which names its chain: another one is refused. */
export function chainIdOfStrategy(chainIds: readonly number[]) {
  return chainIdChoice(chainIds)
    .optional()
    .describe('Chain id; not needed, because the id names its chain. Another chain is refused with 400.');
}

/** `chainId` without a default. */
export function chainIdChoice(chainIds: readonly number[]): z.ZodType<number, string> {
  return z
    .string()
    .refine((value) => /^[1-9]\d{0,8}$/.test(value) && chainIds.includes(Number(value)), {
      error: `expected a supported chain id: ${chainIds.join(' or ')}`,
      params: { limit: { oneOf: chainIds } },
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

/** Path parameter: a market id or the id of an equity vault, lower-cased. */
export const strategyIdParam = z
  .string()
  .regex(
    STRATEGY_ID_PATTERN,
    'expected a market id (0x followed by 64 hex characters) or the id of an equity vault (equity- and a market id)',
  )
  .transform((value) => value.toLowerCase())
  .meta({
    description: 'Market id: 0x followed by 64 hex characters; or the id of an equity vault: equity- and a market id.',
    pattern: STRATEGY_ID_PATTERN.source,
  });

export const addressParam = z
  .string()
  .regex(ADDRESS_PATTERN, 'expected an address: 0x followed by 40 hex characters')
  .meta({ description: 'Address: 0x followed by 40 hex characters.', pattern: ADDRESS_PATTERN.source });

/** An integer in a query string, within bounds. */
export function integerParam({ min, max }: { readonly min: number; readonly max: number }) {
  return z
    .string()
    .refine((value) => /^\d{1,10}$/.test(value) && Number(value) >= min && Number(value) <= max, {
      error: `expected a whole number from ${min} to ${max}`,
      params: { limit: { min, max } },
    })
    .transform(Number)
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** One of several integers in a query string. */
export function integerChoice(values: readonly number[]) {
  return z
    .string()
    .refine((value) => /^\d{1,6}$/.test(value) && values.includes(Number(value)), {
      error: `expected one of ${values.join(', ')}`,
      params: { limit: { oneOf: values } },
    })
    .transform(Number)
    .meta({ type: 'integer', enum: [...values] });
}

/** Assumptions for required fields while one of their inputs is not known. */
export const assumedGaps = z
  .array(
    z
      .object({
        field: z.string().describe('The field.'),
        reason: z.string().describe('NOT_MEASURED, SOURCE_FAILED or IMPLAUSIBLE.'),
        message: z.string().describe('One plain sentence.'),
      })
      .meta({
        id: 'AssumedGap',
        description: 'A required field with a conservative value, because an input is unknown.',
      }),
  )
  .optional()
  .describe(
    'Required fields with a conservative value (see their description) because an input is unknown; absent when there is none.',
  );

export const freshnessValue = z
  .object({
    asOf: dateTime('Time of the value.'),
    staleAfterSec: wholeNumber('Freshness budget in seconds.', { min: 1 }),
    staleForSec: wholeNumber('Seconds past the budget; present only when the value is stale.', { min: 0 }).optional(),
  })
  .meta({ id: 'Freshness', description: 'Age of a value and its budget.' });

export const fees = z
  .object({
    yieldFeePct: pct(
      "Share of the yield, due when closing and withdrawing on correlated markets; 0 on an uncorrelated one. The documented 5 while the contract's own is unknown, see gaps.",
      { min: 0 },
    ),
    depositFeePct: pct(
      "Share of each payment on uncorrelated markets; 0 on a correlated one. The documented 1 while the contract's own is unknown, see gaps.",
      { min: 0 },
    ),
    treasury: addressString('Receiver of the fees; absent = unknown.').optional(),
    freshness: freshnessValue.optional().describe("Age of the contract's terms; absent = not read yet."),
  })
  .meta({ id: 'Fees', description: "Fees of the product's contract, at its present rates." });

/** Terms of the deployed contract for positions on a market; unknown ones are left out. */
export const deployment = z
  .object({
    source: z.string().describe('Source of the terms.'),
    freshness: freshnessValue.describe('Age of the older part.'),
    paused: z.boolean().optional().describe('Whether the contract is paused; absent = unknown, counts as not paused.'),
    supported: z
      .boolean()
      .optional()
      .describe('Whether it opens positions on the market; absent = unknown, counts as supported.'),
    correlated: z
      .boolean()
      .optional()
      .describe("Kind of market for its fees; absent = unknown, the catalog's kind is used."),
    liquidationBufferPct: pct(
      'Points between the liquidation LTV and the highest LTV that it accepts; absent = unknown, 0.25 is used.',
      { min: 0 },
    ).optional(),
  })
  .meta({ id: 'Deployment', description: 'Terms of the deployed contract behind limits and listing.' });

export const warnings = z.array(
  z
    .object({
      code: z.enum(WARNING_CODES).describe(WARNING_MEANINGS),
      field: z.string().describe('The affected field of the strategy.'),
      value: decimalString('The reported value: USD for prices, percent for rates.', {}),
      message: z.string().describe('One plain sentence.'),
    })
    .meta({ id: 'Warning', description: 'A warning about a shown value.' }),
);

/** Facts of one chain that are missing in a list. */
export const missingFacts = z.object({
  groups: z.array(z.string()).describe('Groups of facts that were not read completely yet.'),
  strategies: z
    .array(
      z
        .object({
          id: z.string().describe('Id of the strategy.'),
          symbol: z.string().describe('Its symbols.'),
          waitingFor: z.array(z.string()).describe('Missing groups of facts.'),
        })
        .meta({ id: 'LeftOutStrategy', description: 'A strategy that waits for its first facts.' }),
    )
    .describe('Strategies that were left out because a required fact was never measured.'),
});

/** Chains that are missing in an answer. */
export const leftOutChains = z
  .array(
    z
      .object({
        chainId: chainIdNumber(),
        waitingFor: z.array(z.string()).describe('Missing groups of facts.'),
      })
      .meta({ id: 'LeftOutChain', description: 'A chain that waits for its first facts.' }),
  )
  .optional()
  .describe('Chains without any measurement; absent when there is none.');
