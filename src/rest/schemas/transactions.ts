import { z } from 'zod';
import { Decimal } from '../../shared/decimal.ts';
import { ADDRESS_PATTERN, CHECKSUM_ADVICE, hasWrongChecksum, STRATEGY_ID_PATTERN } from '../../shared/ids.ts';
import { COST_KINDS, MANAGE_ACTIONS, SWAP_SOURCES, TRANSACTION_PATHS } from '../../shared/vocabulary.ts';
import { addressString, dateTime, EXAMPLE_MARKET_ID, oraclePriceAsOf, pricedAtSchema, uri } from './common.ts';
import {
  chainIdNumber as chainIdIn,
  decimalString,
  jsonNumber,
  leverageString,
  type NumberRange,
  pct,
  rangeKeywords,
  rangeSentence,
} from './numbers.ts';
import { borrowApy, issueList, sendCalls, simulatedGas } from './plan.ts';

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
 * A JSON number, passed on with the decimal digits of the text. One that is nearer to zero than `MIN_NUMBER` is refused here; a
 * number outside the documented range by the operation, whose error explains the range.
 */
const plainNumber = (description: string, { max = MAX_NUMBER, ...from }: NumberRange) =>
  z
    .number()
    .refine((value) => Math.abs(value) <= MAX_NUMBER, {
      error: `expected a number of at most ${MAX_NUMBER}`,
      params: { limit: { max: MAX_NUMBER } },
    })
    .refine((value) => value === 0 || Math.abs(value) >= MIN_NUMBER, {
      error: `expected ${from.min === 0 ? '0, or ' : ''}a number of at least ${MIN_TEXT}`,
      params: { limit: { min: MIN_TEXT } },
    })
    .transform((value) => new Decimal(String(value)).toFixed())
    .meta({
      type: 'number',
      description: `${description} ${rangeSentence({ ...from, max: max === MAX_NUMBER ? undefined : max })}`,
      ...rangeKeywords({ ...from, max }),
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

const cost = z
  .object({
    kind: z.enum(COST_KINDS).describe('Kind of the cost.'),
    token: addressString('Token of the amount.'),
    symbol: z.string().describe('Its symbol.'),
    amount: decimalString('Whole tokens.', {}),
    usd: decimalString('USD; absent while the token has no price.', {}).optional(),
    pctOfEquity: pct(
      "Percent of the payment, or of the position's value without one; absent if that is unknown.",
    ).optional(),
  })
  .meta({ id: 'Cost', description: 'One immediate cost.' });

export const totalSwapCost = pct(
  'Loss of all swaps, referral fees and the fee for moving liquidity included, percent of the equity; absent if one of them has no price.',
).optional();

export const worstCase = z
  .object({
    equity: decimalString(
      "The wallet's part of the position afterwards, whole loan tokens: collateral less debt at the oracle price, plus paidOut if the action has a payout.",
      {},
    ),
    paidOut: decimalString(
      'Part of equity that goes to the wallet, whole loan tokens (collateral at the oracle price), after fees of the contract; the rest remains in the position. Absent without a payout.',
    ).optional(),
    ltv: pct('LTV; absent if no position remains.', { min: 0 }).optional(),
  })
  .meta({ id: 'WorstCase', description: 'Result for the wallet if every swap returns its minimum.' });

export const liquidation = z
  .object({
    price: decimalString('Oracle price, loan tokens per collateral token.'),
    dropPct: pct('Fall of the price until then.'),
  })
  .meta({ id: 'Liquidation', description: 'Liquidation of the position.' });

export const costList = z.array(cost).describe('Immediate costs, by kind; empty without swaps and fees.');

export const positionPreview = z
  .object({
    leverage: leverageString('Leverage after the expected fill, 1 decimal.').optional(),
    requestedLtv: pct('The requested LTV.', { min: 0 }).optional(),
    effectiveLtv: pct('The LTV after the expected fill.', { min: 0 }).optional(),
    amountLeveragedCollateral: decimalString('All collateral after it, whole tokens.').optional(),
    amountLoan: decimalString('All debt after it, whole loan tokens.').optional(),
    equity: decimalString('Collateral less debt at the oracle price, whole loan tokens.', {}).optional(),
    depositBasis: decimalString(
      "Deposit basis after it, whole loan tokens: the yield fee applies to the value above it, and on a correlated market it limits loans. Absent if the contract's own rule decides and nothing was simulated.",
    ).optional(),
    expectedLeverageApy: pct(
      "Expected APY on the equity, at the market's borrow rate after the action. A borrow incentive counts at its present rate.",
    ).optional(),
    priceImpactPct: pct(
      "Loss of the loan's swap (or of the only swap) against the reference price, percent of its value. totalSwapCostPctOfEquity has the loss as a part of the equity.",
    ).optional(),
    totalSwapCostPctOfEquity: totalSwapCost,
    swapSource: z.enum(SWAP_SOURCES).describe('Venue of the swap.').optional(),
    costs: costList.optional(),
    worstCase: worstCase.optional(),
    liquidation: liquidation.optional(),
    readAt: pricedAtSchema,
    oraclePriceAsOf,
  })
  .meta({
    id: 'PositionPreview',
    description:
      'The position after the expected fill, and what the action costs. Fields that do not apply are absent: after a full close all but costs, totalSwapCostPctOfEquity, worstCase, readAt and oraclePriceAsOf.',
  });

export const unsignedCall = z
  .object({
    to: addressString('The contract.'),
    data: z
      .string()
      .regex(/^0x([0-9a-f]{2})*$/)
      .meta({ description: 'Calldata, hexadecimal.', examples: ['0x095ea7b3'] }),
    value: z
      .string()
      .regex(/^\d+$/)
      .optional()
      .meta({ description: 'Native value in wei; absent = none.', examples: ['1000000000000000'] }),
  })
  .meta({ id: 'Call', description: 'One unsigned call.' });

export const leverageSimulation = z
  .object({
    path: z.enum(TRANSACTION_PATHS).describe('The path of a build.'),
    isDirect: z.boolean().describe('Whether the pay token is the collateral.'),
    isReallocate: z.boolean().describe('Whether liquidity has to be moved into the market first.'),
    positionPreview,
    amountFlashLoan: decimalString('The loan, whole loan tokens.'),
    minTokenOut: decimalString('Minimum collateral from the swap of the flash loan, whole tokens.'),
    reallocationFeeWei: z
      .string()
      .regex(/^\d+$/)
      .nullable()
      .meta({ description: 'Fee of the reallocation in wei; null = no reallocation.', examples: [null] }),
    slippage: jsonNumber('The effective slippage, a ratio.', { above: 0, max: 0.01 }),
    borrowApy: borrowApy.optional(),
    issues: issueList,
    note: z.string().describe('The same in sentences.'),
  })
  .meta({ id: 'LeverageSimulation', description: 'Preview of opening a position.' });

export const received = z
  .array(
    z
      .object({
        token: addressString('The token.'),
        symbol: z.string().describe('Its symbol.'),
        amount: decimalString('Amount, whole tokens.'),
      })
      .meta({ id: 'ReceivedAmount', description: 'An additional amount of a token after the simulation.' }),
  )
  .optional()
  .describe(
    'Additional tokens of the wallet after the simulation, after fees of the contracts; empty = none, absent = not simulated.',
  );

export const transactionBundle = z
  .object({
    chainId: chainIdIn('The chain.'),
    action: z.enum(['open_leverage', ...MANAGE_ACTIONS]).describe('The action.'),
    path: z.enum(TRANSACTION_PATHS).describe('Contract function of the transaction.'),
    approvals: z.array(unsignedCall).describe('Sign these first, in order.'),
    tx: unsignedCall.describe('Sign after the approvals.'),
    meta: z
      .object({
        positionPreview: positionPreview.optional(),
        borrowApy: borrowApy.optional(),
        ltvBeforePct: pct('Present LTV of the managed position; absent on an open.').optional(),
        liquidationBefore: liquidation
          .optional()
          .describe('Liquidation of the managed position before the action; absent on an open, and without a debt.'),
        depositBasisBefore: decimalString('Present deposit basis, whole loan tokens; absent on an open.').optional(),
        amountFlashLoan: decimalString('Flash loan, whole loan tokens.').optional(),
        minTokenOut: decimalString('Minimum output of the (last) swap, whole tokens.').optional(),
        issues: issueList,
        sendCalls: sendCalls.optional(),
        simulatedGas,
        received,
        slippage: jsonNumber('The effective slippage, a ratio.', { above: 0, max: 0.01 }).optional(),
        expiresAt: dateTime('Earliest expiry of its quotes, at most 60 s ahead. Build again after that.').optional(),
        signingUrl: uri('Link to review and sign in the app.').optional(),
        instructions: z.string().optional().describe('The next steps, in sentences.'),
      })
      .describe('Details of the bundle. Fields that do not apply are absent.'),
  })
  .meta({ id: 'TransactionBundle', description: 'Unsigned calls for one wallet.' });
