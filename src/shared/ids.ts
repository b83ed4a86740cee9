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

/** Whether an address is in mixed case, and not in that of its EIP-55 checksum: one of its digits may be wrong. */
export function hasWrongChecksum(value: string): boolean {
  const digits = value.slice(2);
  if (!ADDRESS_PATTERN.test(value) || digits === digits.toLowerCase() || digits === digits.toUpperCase()) return false;
  return getAddress(value) !== value;
}

/** The next step after a wrong checksum. */
export const CHECKSUM_ADVICE =
  'has a wrong checksum (EIP-55): one of its digits may be wrong. Compare it with its source, and send it as it is there or in lower case';

/** A global id taken apart: the name of the object's type, and its key among those of its type. */
export interface GlobalId {
  readonly typename: string;
  readonly key: string;
}

/** Which position is meant, as far as its id tells. */
export interface PositionName {
  readonly chainId?: ChainId | undefined;
  readonly marketId?: MarketId | undefined;
  /** The owner: a part of the global id. */
  readonly wallet?: Address | undefined;
  /** Index of the position among those of its owner. */
  readonly index: number;
  /** The id as it was sent. */
  readonly text: string;
}

/** Longer than any id of the service; prevents decoding megabytes. */
const MAX_CHARS = 512;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const CONTENT = /^([A-Z][A-Za-z0-9]{0,63}):([ -~]+)$/;

/** Make the global id of an object. Clients must not parse it: its parts may change. */
export function encodeGlobalId(typename: string, key: string): string {
  return Buffer.from(`${typename}:${key}`).toString('base64url');
}

/** Take a global id apart. @throws BadRequestError naming `field` for a text that is no global id */
export function decodeGlobalId(id: string, field = 'id'): GlobalId {
  const decoded = globalIdOf(id);
  if (decoded === undefined) throw invalidGlobalId(id, field);
  return decoded;
}

/** Take a text apart that may be a global id; `undefined` = it is none. */
export function globalIdOf(id: string): GlobalId | undefined {
  const [, typename, key] = (isEncoded(id) && CONTENT.exec(Buffer.from(id, 'base64url').toString())) || [];
  return typename === undefined || key === undefined ? undefined : { typename, key };
}

/** The error for a text that is no global id, or the id of an unknown object. */
export function invalidGlobalId(id: string, field: string): BadRequestError {
  return new BadRequestError(
    `"${formatValue(id)}" is not a global id. Send the "id" of an object as an answer gave it; the fields of a type, such as "strategy", take domain ids too.`,
    { field, value: formatValue(id), limit: { maxLength: MAX_CHARS } },
  );
}

function isEncoded(id: string): boolean {
  return id.length <= MAX_CHARS && BASE64URL.test(id);
}
