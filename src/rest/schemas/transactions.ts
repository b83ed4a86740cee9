import { z } from 'zod';
import { Decimal } from '../../shared/decimal.ts';
import { ADDRESS_PATTERN, CHECKSUM_ADVICE, hasWrongChecksum, STRATEGY_ID_PATTERN } from '../../shared/ids.ts';
import { EXAMPLE_MARKET_ID } from './common.ts';
import { type NumberRange, rangeKeywords, rangeSentence } from './numbers.ts';

/**
 * A positive amount as text: no sign, no exponent. Zero and values above `most`, words for a limit that the request decides,
 * are refused by the operation, which knows the token.
 */
export const amountText = (description: string, most?: string) =>
  z
    .string()
    .regex(
      /^\d{1,40}(\.\d{1,40})?$/,
      'expected a plain decimal such as "1250.5": at most 40 digits before and after the point, no sign, no exponent',
    )
    .describe(`${description} Above 0${most === undefined ? '' : `, at most ${most}`}.`);

/** Smaller numbers are refused: their digits would fill lines. */
const MIN_NUMBER = 0.000000001;
const MIN_TEXT = new Decimal(MIN_NUMBER).toFixed();
const MAX_NUMBER = 1_000_000_000;

/**
 * A JSON number, passed on with the decimal digits of the text. One that is nearer to zero than `MIN_NUMBER`, or further from it
 * than `MAX_NUMBER`, is refused here; a number outside the documented range by the operation, whose error explains the range.
 */
const plainNumber = (description: string, range: NumberRange) =>
  z
    .number()
    .refine((value) => Math.abs(value) <= MAX_NUMBER, {
      error: `expected a number of at most ${MAX_NUMBER}`,
      params: { limit: { max: MAX_NUMBER } },
    })
    .refine((value) => value === 0 || Math.abs(value) >= MIN_NUMBER, {
      error: `expected ${range.min === 0 ? '0, or ' : ''}a number of at least ${MIN_TEXT}`,
      params: { limit: { min: MIN_TEXT } },
    })
    .transform((value) => new Decimal(String(value)).toFixed())
    .meta({
      type: 'number',
      description: `${description} ${rangeSentence(range)}`,
      ...rangeKeywords(range),
    });

/** The slippage of a body: a higher ratio than the cap is lowered to it. */
export const slippageNumber = (byDefault: number) =>
  plainNumber(
    `Ratio: 0.005 is 0.5 %. ${byDefault} when left out. More than 0.01 counts as 0.01, and the answer says so.`,
    { above: 0 },
  ).optional();

/** The limit of all swap losses together, at most `max` percent. */
export const swapLossNumber = (description: string, max: number) =>
  plainNumber(description, { min: 0, max }).optional();

/** The fields of a target. Exactly one of them is given; `null` counts as left out. */
const target = {
  leverage: plainNumber(
    "Target leverage, a multiple of the equity; this or desiredLtv. The limit is the strategy's `defaultLeverage`.",
    { above: 1 },
  ),
  desiredLtv: amountText(
    'Target LTV in percent; this or leverage. Decimal string.',
    "the LTV of the strategy's `defaultLeverage`",
  ),
};

const leftOut = z.null().optional().describe('Left out: the body has the other form of the target.');

/** The two forms of a target, for bodies that generated clients check. Generators turn absent fields into `null`. */
export const targetForms = {
  leverage: { leverage: target.leverage, desiredLtv: leftOut },
  ltv: { desiredLtv: target.desiredLtv, leverage: leftOut },
};

/** The target of a body that takes both forms. */
export const anyTarget = {
  leverage: target.leverage.nullish().transform((value) => value ?? undefined),
  desiredLtv: target.desiredLtv.nullish().transform((value) => value ?? undefined),
};

export const addressText = (description: string) =>
  z.string().regex(ADDRESS_PATTERN, 'expected an address: 0x followed by 40 hex characters').describe(description);

/** An address that money goes to or comes from. Unlike a read, a build refuses a wrong checksum: one digit may be wrong. */
export const paidAddressText = (description: string) =>
  addressText(description).refine((value) => !hasWrongChecksum(value), { error: `the address ${CHECKSUM_ADVICE}` });

/** An id of a listed strategy. An id of the other kind is parsed too, so that its refusal can name the right path. */
export const strategyIdText = (description: string, prefix = '') =>
  z
    .string()
    .regex(STRATEGY_ID_PATTERN, `expected an id from the strategies list: ${prefix}0x followed by 64 hex characters`)
    .describe(description);

/** `chainId` in a body: a JSON number. */
export const chainIdBody = (chainIds: readonly number[]) =>
  z.int().refine((value) => chainIds.includes(value), {
    error: `expected a supported chain id: ${chainIds.join(' or ')}`,
    params: { limit: { oneOf: chainIds } },
  });

/** `chainId` of a position: the chain of its positionId, or the default. */
export const positionChainId = (chainIds: readonly number[]) =>
  chainIdBody(chainIds)
    .optional()
    .meta({
      type: 'integer',
      enum: [...chainIds],
      description: `Chain id. When left out: with positionId its chain, with id ${chainIds[0]}.`,
    });

const MAX_POSITION_INDEX = 1_000_000;

/** Index of a position among those of its wallet. */
export const positionIndex = z.int().min(0).max(MAX_POSITION_INDEX);

/** The parts of a positionId. */
export interface PositionIdParts {
  readonly chainId: number;
  readonly marketId: string;
  readonly positionIndex: number;
}

const POSITION_ID_PATTERN = /^([1-9]\d{0,8})-(0x[0-9a-fA-F]{64})-(0|[1-9]\d{0,6})$/;

/** The positionId of a position, parsed to its parts. */
export const positionIdText = z
  .string()
  .regex(
    POSITION_ID_PATTERN,
    'expected a positionId from the positions endpoint: {chainId}-{marketId}-{id}, with 64 hex characters in the marketId',
  )
  .transform((text): PositionIdParts => {
    const [, chainId = '', marketId = '', index = ''] = POSITION_ID_PATTERN.exec(text) ?? [];
    return { chainId: Number(chainId), marketId: marketId.toLowerCase(), positionIndex: Number(index) };
  })
  .meta({
    description: '`positionId` of the position, from the positions endpoint; this or id.',
    pattern: POSITION_ID_PATTERN.source,
    examples: [`1-${EXAMPLE_MARKET_ID}-0`],
  });

/** `chainId` beside a strategy id, which names the chain. */
export const strategyChainId = (chainIds: readonly number[]) =>
  chainIdBody(chainIds)
    .optional()
    .meta({
      type: 'integer',
      enum: [...chainIds],
      description: 'Chain id; the chain of the strategy when left out. Another chain is refused.',
    });
