import { z } from 'zod';
import { ADDRESS_PATTERN, MARKET_ID_PATTERN } from '../../shared/ids.ts';

/** Percent with up to 2 decimals, signed. */
export const pct = (description: string) =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .describe(`${description} Decimal string, percent.`);
export const decimalString = (description: string) =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .describe(description);
export const usd = (description: string) => z.number().describe(`${description} USD.`);
export const dateTime = (description: string) => z.iso.datetime().describe(description);
export const addressString = (description: string) => z.string().regex(ADDRESS_PATTERN).describe(description);
export const marketIdString = (description: string) => z.string().regex(MARKET_ID_PATTERN).describe(description);

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

/** The same without a default. */
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

export const freshnessValue = z
  .object({
    asOf: dateTime('When the value was measured.'),
    staleAfterSec: z.int().describe('Freshness budget in seconds.'),
    staleForSec: z.int().optional().describe('Seconds past the budget; present only when the value is stale.'),
  })
  .meta({ id: 'Freshness', description: 'How old a value is and how old it may get.' });
