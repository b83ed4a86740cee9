import { Kind, type ValueNode, valueFromASTUntyped } from 'graphql';
import { GraphQLDateTimeISO, GraphQLJSONObject, GraphQLNonNegativeInt, GraphQLURL, GraphQLUUID } from 'graphql-scalars';
import { readAddress, readMarketId, readPositionId, readStrategyId } from '../../resolvers/common/global-id.ts';
import { Decimal } from '../../shared/decimal.ts';
import { BadRequestError, type LimitValue } from '../../shared/errors.ts';
import {
  type Address,
  type ChainId,
  formatValue,
  type Hex,
  type MarketId,
  type PositionName,
  type StrategyId,
} from '../../shared/ids.ts';
import { builder } from '../builder.ts';

const DECIMAL_PATTERN = /^-?\d{1,60}(\.\d{1,60})?$/;
const INTEGER_PATTERN = /^-?\d{1,78}$/;
const HEX_PATTERN = /^0x([0-9a-fA-F]{2})*$/;
/** More than any transaction carries; keeps a client from sending megabytes as one value. */
const MAX_HEX_CHARS = 262_144;
const MAX_CHAIN_ID = 2 ** 31 - 1;

/** Refuse a value. The scalar's name replaces the field until the path in the document is known. */
function refuse(
  scalar: string,
  value: unknown,
  expectation: string,
  limit: Readonly<Record<string, LimitValue>>,
): never {
  throw new BadRequestError(`"${formatValue(value)}" is not a valid ${scalar}. Send ${expectation}.`, {
    field: scalar,
    value: formatValue(value),
    limit,
  });
}

function text(scalar: string, value: unknown, expectation: string): string {
  return typeof value === 'string' ? value : refuse(scalar, value, expectation, { type: 'string' });
}

/** Numbers keep the digits they were written with: a literal never passes through a JavaScript number. */
function writtenDigits<T>(parse: (value: unknown) => T): (node: ValueNode) => T {
  return (node) =>
    parse(node.kind === Kind.INT || node.kind === Kind.FLOAT ? node.value : (valueFromASTUntyped(node) as unknown));
}

function parseDecimal(value: unknown): Decimal {
  const digits = typeof value === 'number' && Number.isFinite(value) ? new Decimal(String(value)).toFixed() : value;
  if (typeof digits === 'string' && DECIMAL_PATTERN.test(digits)) return new Decimal(digits);
  return refuse('Decimal', value, 'a plain decimal such as "12.5", without exponent', {
    pattern: DECIMAL_PATTERN.source,
  });
}

function parseBigInteger(value: unknown): bigint {
  const digits = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof digits === 'string' && INTEGER_PATTERN.test(digits)) return BigInt(digits);
  return refuse('BigInteger', value, 'a whole number of base units as a string such as "1000000"', {
    pattern: INTEGER_PATTERN.source,
  });
}

function parseChainId(value: unknown): ChainId {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_CHAIN_ID) return value;
  return refuse('ChainId', value, 'the whole number of a served chain (see `chains`)', { min: 1, max: MAX_CHAIN_ID });
}

function parseHex(value: unknown): Hex {
  if (typeof value === 'string' && value.length <= MAX_HEX_CHARS && HEX_PATTERN.test(value)) {
    return value.toLowerCase() as Hex;
  }
  return refuse('HexData', value, '0x followed by an even number of hex characters', {
    pattern: HEX_PATTERN.source,
    maxLength: MAX_HEX_CHARS,
  });
}

function parseDateTime(value: unknown): Date {
  try {
    return GraphQLDateTimeISO.parseValue(value) as Date;
  } catch {
    return refuse('DateTime', value, 'an RFC 3339 date-time such as "2026-01-31T12:00:00Z"', {
      format: 'RFC 3339 date-time',
    });
  }
}

/** Times of facts, formatted: the objects of an answer share most of them. */
const formattedTimes = new Map<number, string>();
const MAX_FORMATTED_TIMES = 1_000;

/** @throws for a value that is no time */
function formatDateTime(value: unknown): string {
  if (typeof value !== 'number') return String(GraphQLDateTimeISO.serialize(value));
  const known = formattedTimes.get(value);
  if (known !== undefined) return known;
  const formatted = String(GraphQLDateTimeISO.serialize(value));
  if (formattedTimes.size >= MAX_FORMATTED_TIMES) formattedTimes.clear();
  formattedTimes.set(value, formatted);
  return formatted;
}

builder.scalarType('Decimal', {
  description:
    'An exact decimal as a string, never in exponent form, e.g. `"-3.25"`. The field states its unit and places.',
  serialize: (value) =>
    typeof value === 'string' ? value : value instanceof Decimal ? value.toFixed() : new Decimal(value).toFixed(),
  parseValue: parseDecimal,
  parseLiteral: writtenDigits(parseDecimal),
});

builder.scalarType('BigInteger', {
  description:
    'A whole number of any size as a string, e.g. token base units, WAD (1e18) or 1e36-scaled on-chain values.',
  serialize: (value) => value.toString(),
  parseValue: parseBigInteger,
  parseLiteral: writtenDigits(parseBigInteger),
});

builder.scalarType('ChainId', {
  description: 'EVM chain id as a number. Served are the ids that `chains` lists; any other is refused with that list.',
  serialize: (value) => value,
  parseValue: parseChainId,
});

builder.scalarType('Address', {
  description:
    '`0x` + 40 hex characters. Any case is accepted, and for a wallet its global id; always answered with the EIP-55 checksum.',
  serialize: (value) => value,
  parseValue: (value): Address => readAddress(text('Address', value, '0x followed by 40 hex characters'), 'Address'),
});

builder.scalarType('MarketId', {
  description:
    'Morpho Blue market id: `0x` + 64 hex characters. Any case is accepted, and the global id of a market; always answered in lower case.',
  serialize: (value) => value,
  parseValue: (value): MarketId =>
    readMarketId(text('MarketId', value, '0x followed by 64 hex characters'), 'MarketId'),
});

builder.scalarType('StrategyId', {
  description:
    'Id of a strategy: a market id, or `equity-` + the id of the stock market of an equity vault. The global id of a strategy is accepted too.',
  serialize: (value) => value,
  parseValue: (value): StrategyId =>
    readStrategyId(text('StrategyId', value, 'an id from the strategies list'), 'StrategyId'),
});

builder.scalarType('PositionId', {
  description:
    'Id of a position: `{chainId}-{marketId}-{positionIndex}`, which is always answered. Accepted are its global id too, which names the wallet, `{chainId}-{positionIndex}`, and where the chain is known the index alone.',
  serialize: (value) => value,
  parseValue: (value): PositionName =>
    readPositionId(
      typeof value === 'number' ? String(value) : text('PositionId', value, 'the positionId of a position'),
      'PositionId',
    ),
});

builder.scalarType('HexData', {
  description: 'Bytes as `0x` + an even number of hex characters, e.g. calldata.',
  serialize: (value) => value,
  parseValue: parseHex,
});

// Of graphql-scalars where it has one with the published form. Its BigInt answers small values as numbers and large ones as
// strings. Inputs that refusals have to name with their limits keep types of their own.
builder.addScalarType('DateTime', GraphQLDateTimeISO, {
  description: 'RFC 3339 date-time in UTC, e.g. `2026-01-31T12:00:00.000Z`.',
  serialize: formatDateTime,
  parseValue: parseDateTime,
  parseLiteral: (node) => parseDateTime(valueFromASTUntyped(node)),
});

builder.addScalarType('JSONObject', GraphQLJSONObject, { description: 'A JSON object.' });

builder.addScalarType('NonNegativeInt', GraphQLNonNegativeInt, { description: 'A whole number from 0 on.' });

builder.addScalarType('UUID', GraphQLUUID, { description: 'A UUID.' });

builder.addScalarType('URL', GraphQLURL, {
  description: 'An absolute URL.',
  // As it was given: the library adds a slash to a bare host.
  serialize: (value) => String(value),
});

builder.scalarType('PortfolioDocument', {
  description: 'A wallet of the report as one JSON object, as `GET /v1/ops/portfolios` has it.',
  specifiedByURL: '/openapi.json#/components/schemas/OpsPortfolio',
  serialize: (value) => value,
});
