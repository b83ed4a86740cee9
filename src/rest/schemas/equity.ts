import { z } from 'zod';
import { SWAP_SOURCES } from '../../shared/vocabulary.ts';
import { addressString, dateTime, oraclePriceAsOf, pricedAtSchema, uri } from './common.ts';
import {
  chainIdNumber,
  decimalString,
  decimalsNumber,
  jsonNumber,
  leverageString,
  type NumberRange,
  pct,
  wholeNumber,
} from './numbers.ts';
import { issueList, sendCalls, simulatedGas } from './plan.ts';
import { equityPositionSchema } from './position.ts';
import { costList, liquidation, received, totalSwapCost, unsignedCall, worstCase } from './transactions.ts';

const tokens = (description: string, range?: NumberRange) => decimalString(`${description} Whole tokens.`, range);
const usdText = (description: string) => decimalString(`${description} USD, decimal string.`);

export const depositPreview = z
  .object({
    depositToken: z
      .object({
        address: addressString('Its contract.'),
        symbol: z.string().describe('Symbol.'),
        decimals: decimalsNumber(),
      })
      .describe('Token of the payment.'),
    depositAmount: tokens('Amount of the payment.'),
    stock: z
      .object({
        symbol: z.string().describe('Symbol.'),
        address: addressString('The stock token.'),
        priceUsd: usdText('Oracle price; absent while the USD price of the deposit token is unknown.').optional(),
        minReceived: tokens('Minimum stock from the swap; the loan is sized on it.'),
        expectedReceived: tokens('Quoted stock from the swap.'),
        requestedLtvPct: pct('Requested LTV: reached in the worst fill, never exceeded.', { min: 0 }),
        ltvPct: pct('LTV after the expected fill.', { min: 0 }),
        maxLtvPct: pct('Highest allowed LTV: 88 % of the liquidation LTV.', { min: 0 }),
        liquidationLtvPct: pct('Liquidation LTV of the stock leg.', { min: 0 }),
        liquidationPriceUsd: usdText('Stock price at liquidation; absent without priceUsd.').optional(),
        priceDropToLiquidationPct: pct('Fall of the stock price until then.'),
        combined: z
          .object({
            collateral: tokens('All stock posted.'),
            debtUsdg: tokens('All debt on it.'),
            ltvPct: pct('LTV of the whole.', { min: 0 }),
            liquidationPriceUsd: usdText('Stock price at liquidation; absent without priceUsd.').optional(),
            priceDropToLiquidationPct: pct('Fall of the stock price until then.'),
          })
          .optional()
          .describe(
            "The wallet's whole stock leg after the deposit: one position at the lending protocol, liquidated as one. Absent in a simulation, which names no wallet.",
          ),
        borrowUsdg: tokens('Amount that is borrowed on the stock and looped.'),
        borrowApyPct: pct("APY of that debt, at the market's rate after the loan.", { min: 0 }),
        borrowApyBeforePct: pct('The present rate.', { min: 0 }).optional(),
        swapSource: z.enum(SWAP_SOURCES).describe('Venue of the swap.'),
        priceImpactPct: pct('Loss of the swap against the oracle price; negative = gain.'),
      })
      .describe('The stock leg.'),
    yieldLeg: z
      .object({
        strategyId: z.string().describe("Market id of the loop's strategy."),
        collateralSymbol: z.string().describe('Symbol of the collateral.'),
        collateralIn: tokens('Quoted collateral for the borrowed tokens.'),
        minCollateralIn: tokens('The same in the worst fill: the flash loan is sized on it.'),
        leverage: leverageString('Leverage after the expected fill, 1 decimal.'),
        ltvPct: pct('LTV after the expected fill.', { min: 0 }),
        liquidationLtvPct: pct('Liquidation LTV of the loop.', { min: 0 }),
        amountFlashLoan: tokens('Its flash loan, which becomes its debt.'),
        depositBasis: tokens('Deposit basis of the loop; the yield fee at closing applies to the value above it.'),
        leverageApyPct: pct(
          'APY at that leverage after this deposit, signed: its flash loan raises the rate. A borrow incentive counts at its present rate.',
        ),
        leverageApyBeforePct: pct('APY at that leverage and the present rate.').optional(),
        swapSource: z.enum(SWAP_SOURCES).describe('Venue of the swap inside the flash loan.'),
        priceImpactPct: pct('Loss of both swaps of the leg together; negative = gain.'),
        oraclePriceAsOf,
      })
      .describe('The yield leg.'),
    netApyPct: pct(
      'LTV x (APY of the yield leg - borrow APY of the stock leg) at both rates after this deposit, signed.',
    ),
    costs: costList,
    totalSwapCostPctOfEquity: totalSwapCost,
    worstCase: z
      .object({
        equity: tokens('Net value of both legs.', {}),
        ltv: pct('LTV of the stock leg.', { min: 0 }),
        yieldLtv: pct('LTV of the yield leg.', { min: 0 }),
      })
      .describe('Result if every swap returns its minimum.'),
    liquidation: liquidation
      .optional()
      .describe('Liquidation price of the stock leg, deposit tokens per stock token; absent without a debt.'),
    readAt: pricedAtSchema,
    oraclePriceAsOf: oraclePriceAsOf.describe(
      "Oldest update of the feeds behind the stock's oracle price; null = the oracle has no feed, absent = unknown.",
    ),
    fees: z
      .object({
        stockLegBps: wholeNumber('Referral fee of the swap into the stock, basis points of its input.'),
        yieldLegBps: wholeNumber('Referral fee of both swaps of the yield leg, basis points of their input.'),
        estimatedFeeUsd: usdText('All of them together; absent while the USD price is unknown.').optional(),
      })
      .describe('Referral fees; 0 without a receiver.'),
    slippage: jsonNumber('The effective slippage, a ratio.', { above: 0, max: 0.01 }),
  })
  .meta({
    id: 'EquityDepositPreview',
    description: 'The deposit after swaps at their quotes.',
  });

const frame = {
  chainId: chainIdNumber('The chain.'),
  strategyId: z.string().describe('Vault id.'),
};

export const equitySimulation = z
  .object({
    ...frame,
    action: z.enum(['equity_deposit']).describe('The previewed action.'),
    preview: depositPreview.describe('The expected deposit.'),
    issues: issueList,
    note: z.string().describe('Its assumptions, in sentences.'),
  })
  .meta({ id: 'EquityDepositSimulation', description: 'Preview of a deposit into an equity vault.' });

export const exitCosting = z.object({
  costs: costList.optional(),
  totalSwapCostPctOfEquity: totalSwapCost,
  worstCase: worstCase.optional(),
});

const batch = {
  ...frame,
  calls: z.array(unsignedCall).describe('In order; the last one revokes the earlier authorization.'),
  atomic: z.literal(true).describe('A wallet without batches sends the calls in order, and always the last one.'),
};

const batchMeta = {
  issues: issueList,
  sendCalls: sendCalls.optional(),
  simulatedGas,
  slippage: jsonNumber('The effective slippage, a ratio.', { above: 0, max: 0.01 }),
  expiresAt: dateTime('Earliest expiry of its quotes, at most 60 s ahead. Build again after that.'),
  signingUrl: uri('Link to review and sign in the app.').optional(),
  instructions: z.string().describe('The next steps, in sentences.'),
};

export const equityDepositBatch = z
  .object({
    ...batch,
    action: z.literal('equity_deposit').describe('The action.'),
    meta: z
      .object({ preview: depositPreview.describe('The same as in the simulation.'), ...batchMeta })
      .describe('Details of the batch.'),
  })
  .meta({
    id: 'EquityDepositBatch',
    description: 'Unsigned calls of a deposit for one wallet, submitted in order and atomically.',
  });

export const equityExitBatch = z
  .object({
    ...batch,
    action: z.literal('equity_exit').describe('The action.'),
    meta: z
      .object({
        position: equityPositionSchema.describe('The present state of the vault.'),
        costs: costList.optional().describe('Immediate costs, by kind.'),
        totalSwapCostPctOfEquity: totalSwapCost,
        worstCase: worstCase.optional().describe('Minimum payout, whole deposit tokens.'),
        received,
        readAt: pricedAtSchema.describe(
          'The block at which the prices and debts were read; absent if the node did not return it.',
        ),
        oraclePriceAsOf: oraclePriceAsOf.describe(
          "Oldest update of the feeds behind the stock's oracle price; null = the oracle has no feed, absent = unknown.",
        ),
        ...batchMeta,
      })
      .describe('Details of the batch.'),
  })
  .meta({
    id: 'EquityExitBatch',
    description: 'Unsigned calls of an exit for one wallet, submitted in order and atomically.',
  });
