import { z } from 'zod';
import { ADDRESS_PATTERN, EQUITY_PREFIX, MARKET_ID_PATTERN, STRATEGY_ID_PATTERN } from '../../shared/ids.ts';

/** Examples for tools that would otherwise generate invalid ones from a pattern: sUSDe and its market with PYUSD. */
export const EXAMPLE_ADDRESS = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';
export const EXAMPLE_MARKET_ID = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';

export const dateTime = (description: string) => z.iso.datetime().describe(description);
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

/** Id of an equity vault, lower-cased. A market id is also a strategy id, but no vault. */
export const vaultIdParam = z
  .string()
  .refine((value) => STRATEGY_ID_PATTERN.test(value) && value.startsWith(EQUITY_PREFIX), {
    error: `expected the id of an equity vault: ${EQUITY_PREFIX}0x followed by 64 hex characters`,
  })
  .transform((value) => value.toLowerCase())
  .meta({ pattern: `^${EQUITY_PREFIX}0x[0-9a-fA-F]{64}$` });
