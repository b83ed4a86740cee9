import { z } from 'zod';
import { Decimal } from '../../shared/decimal.ts';
import { ADDRESS_PATTERN, STRATEGY_ID_PATTERN } from '../../shared/ids.ts';
import { COST_KINDS, MANAGE_ACTIONS, SWAP_SOURCES, TRANSACTION_PATHS } from '../../shared/vocabulary.ts';
import { addressString, dateTime, decimalString, oraclePriceAsOf, pct, pricedAtSchema } from './common.ts';

/** A positive amount as text: no sign, no exponent. */
export const amountText = (description: string) =>
  z
    .string()
    .regex(/^\d{1,40}(\.\d{1,40})?$/, 'expected a plain decimal such as "1250.5", without sign or exponent')
    .describe(description);

/** Smaller values of leverage and slippage have no meaning, and their digits would fill lines. */
const LEAST_NUMBER = 0.000000001;
const MOST_NUMBER = 1_000_000_000;

/** A JSON number, passed on with the decimal digits of the text. */
export const plainNumber = (description: string) =>
  z
    .number()
    .refine((value) => value === 0 || (Math.abs(value) >= LEAST_NUMBER && Math.abs(value) <= MOST_NUMBER), {
      error: `expected a number between ${LEAST_NUMBER} and ${MOST_NUMBER}`,
    })
    .transform((value) => new Decimal(String(value)).toFixed())
    .meta({ type: 'number', description });

export const addressText = (description: string) =>
  z.string().regex(ADDRESS_PATTERN, 'expected an address: 0x followed by 40 hex characters').describe(description);

/** An id of a listed strategy. An id of the other kind is parsed too, so that its refusal can name the right path. */
export const strategyIdText = (description: string, prefix = '') =>
  z
    .string()
    .regex(STRATEGY_ID_PATTERN, `expected an id from the strategies list: ${prefix}0x followed by 64 hex characters`)
    .describe(description);

/** `chainId` in a body: a JSON number. */
export const chainIdField = (chainIds: readonly number[], defaultChainId: number) =>
  z
    .int()
    .refine((value) => chainIds.includes(value), { error: `expected a supported chain id: ${chainIds.join(' or ')}` })
    .default(defaultChainId)
    .meta({ type: 'integer', enum: [...chainIds], description: `Chain id; ${defaultChainId} when left out.` });

export const cost = z
  .object({
    kind: z.enum(COST_KINDS).describe('What it is for.'),
    token: addressString('Token in which it is counted.'),
    symbol: z.string().describe('Its symbol.'),
    amount: decimalString('Whole tokens.'),
    usd: decimalString('USD; absent while the token has no price.').optional(),
    pctOfEquity: pct(
      'Percent of what is paid in, else of what the position is worth; absent where it cannot be valued.',
    ).optional(),
  })
  .meta({ id: 'Cost', description: 'One cost, paid at once.' });

export const totalSwapCost = pct(
  'All that the swaps lose, their referral fees included, percent of the equity; absent where nothing prices one of them.',
).optional();

export const worstCase = z
  .object({
    equity: decimalString(
      'Collateral less debt at the oracle price, and paidOut where the action pays something out: what the wallet has of the position after it, whole loan tokens.',
    ),
    paidOut: decimalString(
      'What of equity goes to the wallet, whole loan tokens (collateral at the oracle price), fees of the contract taken off; the rest is left in the position. Absent where the action pays nothing out.',
    ).optional(),
    ltv: pct('LTV; absent where no position is left.').optional(),
  })
  .meta({ id: 'WorstCase', description: 'What the wallet has of it when every swap gives its minimum only.' });

export const liquidation = z
  .object({
    price: decimalString('Oracle price, loan tokens per collateral token.'),
    dropPct: pct('How far the price may fall until then.'),
  })
  .meta({ id: 'Liquidation', description: 'Where the position could be liquidated.' });

export const costList = z
  .array(cost)
  .describe('What it costs at once, by kind; empty where nothing is swapped and no fee is due.');

export const positionPreview = z
  .object({
    leverage: decimalString('Leverage after the expected fill, 1 decimal.').optional(),
    requestedLtv: pct('The LTV asked for.').optional(),
    effectiveLtv: pct('The LTV after the expected fill.').optional(),
    amountLeveragedCollateral: decimalString('All collateral after it, whole tokens.').optional(),
    depositBasis: decimalString(
      "Deposit basis after it, whole loan tokens: what the yield fee is counted from, and on a correlated market the most that can be borrowed. Absent where the contract's own rule decides and nothing was executed.",
    ).optional(),
    expectedLeverageApy: pct(
      'Expected APY on the equity, at the borrow rate that the market has once this is done. A borrow incentive counts as it is paid now.',
    ).optional(),
    priceImpactPct: pct(
      'What the swap of the loan alone (elsewhere the only swap) loses of its value against the reference price. Of the equity it is more: see totalSwapCostPctOfEquity.',
    ).optional(),
    totalSwapCostPctOfEquity: totalSwapCost,
    swapSource: z.enum(SWAP_SOURCES).describe('Venue of the swap.').optional(),
    costs: costList.optional(),
    worstCase: worstCase.optional(),
    liquidation: liquidation.optional(),
    readAt: pricedAtSchema,
    oraclePriceAsOf,
  })
  .meta({ id: 'PositionPreview', description: 'The position after the expected fill. What does not apply is absent.' });

export const unsignedCall = z
  .object({
    to: addressString('The contract.'),
    data: z
      .string()
      .regex(/^0x([0-9a-f]{2})*$/)
      .meta({ description: 'Calldata.', examples: ['0x095ea7b3'] }),
    value: z
      .string()
      .regex(/^\d+$/)
      .optional()
      .meta({ description: 'Native value in wei; absent when there is none.', examples: ['1000000000000000'] }),
  })
  .meta({ id: 'Call', description: 'One unsigned call.' });

export const leverageSimulation = z
  .object({
    path: z.enum(TRANSACTION_PATHS).describe('The path that a build takes.'),
    isDirect: z.boolean().describe('Whether the pay token is the collateral.'),
    isReallocate: z.boolean().describe('Whether liquidity has to be brought into the market first.'),
    positionPreview,
    amountFlashLoan: decimalString('What is borrowed, whole loan tokens.'),
    minTokenOut: decimalString('Least collateral that the flash loan is swapped into, whole tokens.'),
    reallocationFeeWei: z
      .string()
      .regex(/^\d+$/)
      .nullable()
      .meta({ description: 'Fee of the reallocation in wei; null = none is needed.', examples: [null] }),
    slippage: z.number().describe('The slippage that counts, a ratio.'),
    note: z.string().describe('The same in sentences.'),
  })
  .meta({ id: 'LeverageSimulation', description: 'Preview of opening a position.' });

export const received = z
  .array(
    z.object({
      token: addressString('The token.'),
      symbol: z.string().describe('Its symbol.'),
      amount: decimalString('How much, whole tokens.'),
    }),
  )
  .optional()
  .describe(
    'What the wallet had more after the simulation, fees of the contracts paid; empty = nothing, absent = it could not be simulated.',
  );

export const transactionBundle = z
  .object({
    chainId: z.int().describe('The chain.'),
    action: z.enum(['open_leverage', ...MANAGE_ACTIONS]).describe('What it does.'),
    path: z.enum(TRANSACTION_PATHS).describe('Which contract function the transaction runs.'),
    approvals: z.array(unsignedCall).describe('Sign these first, in order.'),
    tx: unsignedCall.describe('Sign after the approvals.'),
    meta: z
      .object({
        positionPreview: positionPreview.optional(),
        costs: costList.optional(),
        totalSwapCostPctOfEquity: totalSwapCost,
        worstCase: worstCase.optional(),
        liquidation: liquidation.optional(),
        depositBasisBefore: decimalString(
          'Deposit basis as it stands now, whole loan tokens; absent on an open.',
        ).optional(),
        amountFlashLoan: decimalString('Flash loan, whole loan tokens.').optional(),
        minTokenOut: decimalString('Least output of the (last) swap, whole tokens.').optional(),
        received,
        readAt: pricedAtSchema,
        oraclePriceAsOf,
        slippage: z.number().optional().describe('The slippage that counts, a ratio.'),
        expiresAt: dateTime('When its earliest quote expires, at most 60 s away. Build again after that.').optional(),
        signingUrl: z.string().optional().describe('Link to review and sign in the app.'),
        instructions: z.string().optional().describe('What to do with it, in sentences.'),
      })
      .describe('About the bundle. What does not apply is absent.'),
  })
  .meta({ id: 'TransactionBundle', description: 'Unsigned calls for one wallet.' });
