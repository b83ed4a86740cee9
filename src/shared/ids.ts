import { type Address, getAddress, type Hex, isAddress } from 'viem';
import { BadRequestError } from './errors.ts';

declare const brand: unique symbol;
type Brand<T, B extends string> = T & { readonly [brand]: B };

/** EVM chain id. Which ids are supported is data of the catalog, not of a type. */
export type ChainId = number;

/** Morpho Blue market id: keccak256 of the five market parameters, lower-case `0x` + 64 hex characters. */
export type MarketId = Brand<Hex, 'MarketId'>;

/** Id of a strategy: a market id (a loop), or `equity-` + the stock market's id (an equity vault). */
export type StrategyId = Brand<string, 'StrategyId'>;

export type { Address, Hex };

export const MARKET_ID_PATTERN = /^0x[0-9a-fA-F]{64}$/;
export const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;
export const STRATEGY_ID_PATTERN = /^(equity-)?0x[0-9a-fA-F]{64}$/;
export const EQUITY_PREFIX = 'equity-';

/** Shorten a received value for an error message, so that the length of the message is bounded. */
export function formatValue(value: unknown): string {
  // JSON has no Infinity and would show it as null.
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/**
 * Parse a market id of any hex case.
 * @throws BadRequestError naming `field`
 */
export function parseMarketId(value: string, field = 'id'): MarketId {
  if (!MARKET_ID_PATTERN.test(value)) {
    throw new BadRequestError(`"${formatValue(value)}" is not a market id. Send 0x followed by 64 hex characters.`, {
      field,
      value: formatValue(value),
      limit: { pattern: MARKET_ID_PATTERN.source },
    });
  }
  return value.toLowerCase() as MarketId;
}

/**
 * Parse a strategy id: a market id, or `equity-` + a market id.
 * @throws BadRequestError naming `field`
 */
export function parseStrategyId(value: string, field = 'strategyId'): StrategyId {
  if (!STRATEGY_ID_PATTERN.test(value)) {
    throw new BadRequestError(
      `"${formatValue(value)}" is not a strategy id. Send a market id (0x + 64 hex) or a vault id (equity-0x + 64 hex) from the strategies list.`,
      { field, value: formatValue(value), limit: { pattern: STRATEGY_ID_PATTERN.source } },
    );
  }
  return value.toLowerCase() as StrategyId;
}

/**
 * Parse an address of any hex case into its checksummed form.
 * @throws BadRequestError naming `field`
 */
export function parseAddress(value: string, field = 'address'): Address {
  if (!ADDRESS_PATTERN.test(value) || !isAddress(value, { strict: false })) {
    throw new BadRequestError(`"${formatValue(value)}" is not an address. Send 0x followed by 40 hex characters.`, {
      field,
      value: formatValue(value),
      limit: { pattern: ADDRESS_PATTERN.source },
    });
  }
  return getAddress(value);
}
