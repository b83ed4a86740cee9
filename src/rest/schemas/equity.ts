import { z } from 'zod';
import { SWAP_SOURCES } from '../../shared/vocabulary.ts';
import { addressString, dateTime, decimalString, oraclePriceAsOf, pct, pricedAtSchema } from './common.ts';
import { equityPositionSchema } from './position.ts';
import { costList, liquidation, received, totalSwapCost, unsignedCall, worstCase } from './transactions.ts';

const tokens = (description: string) => decimalString(`${description} Whole tokens.`);
const usdText = (description: string) => decimalString(`${description} USD, decimal string.`);

export const depositPreview = z
  .object({
    depositToken: z
      .object({
        address: addressString('Its contract.'),
        symbol: z.string().describe('Symbol.'),
        decimals: z.int().describe('Base units per token, as a power of ten.'),
      })
      .describe('What is paid with.'),
    depositAmount: tokens('What is paid.'),
    stock: z
      .object({
        symbol: z.string().describe('Symbol.'),
        address: addressString('The stock token.'),
        priceUsd: usdText('Oracle price; absent while the USD price of the deposit token is not known.').optional(),
        minReceived: tokens('Stock that the swap gives at least: the borrow is sized on it.'),
        expectedReceived: tokens('Stock that the swap is quoted to give.'),
        requestedLtvPct: pct('LTV asked for: reached in the worst fill, never exceeded.'),
        ltvPct: pct('LTV after the expected fill.'),
        maxLtvPct: pct('Highest LTV that may be asked for: 88 % of the liquidation LTV.'),
        liquidationLtvPct: pct('LTV at which the stock leg can be liquidated.'),
        liquidationPriceUsd: usdText('Stock price at which that happens; absent without priceUsd.').optional(),
        priceDropToLiquidationPct: pct('Fall of the stock price until then.'),
        borrowUsdg: tokens('What is borrowed on the stock and looped.'),
        borrowApyPct: pct('APY of that debt at the rate that the market has once it is borrowed.'),
        borrowApyAfterPct: pct('The same as borrowApyPct.'),
        swapSource: z.enum(SWAP_SOURCES).describe('Venue of the swap.'),
        priceImpactPct: pct('What the swap loses against the oracle price; negative = gains.'),
      })
      .describe('The stock leg.'),
    yieldLeg: z
      .object({
        strategyId: z.string().describe('Market id of the strategy that it is a loop of.'),
        collateralSymbol: z.string().describe('Symbol of the collateral.'),
        collateralIn: tokens('Collateral that the borrowed tokens are quoted to buy.'),
        minCollateralIn: tokens('The same in the worst fill: the flash loan is sized on it.'),
        leverage: decimalString('Leverage after the expected fill, 1 decimal.'),
        ltvPct: pct('LTV after the expected fill.'),
        liquidationLtvPct: pct('LTV at which the loop can be liquidated.'),
        amountFlashLoan: tokens('Its flash loan, which becomes its debt.'),
        depositBasis: tokens('Deposit basis of the loop: what the yield fee is counted from when it is closed.'),
        leverageApyPct: pct(
          'APY at that leverage once this deposit has borrowed, signed: its flash loan raises the rate it pays. A borrow incentive counts as it is paid now.',
        ),
        leverageApyAfterPct: pct('The same as leverageApyPct.'),
        swapSource: z.enum(SWAP_SOURCES).describe('Venue of the swap inside the flash loan.'),
        priceImpactPct: pct('What both swaps of the leg lose together; negative = gains.'),
        oraclePriceAsOf,
      })
      .describe('The yield leg.'),
    netApyPct: pct(
      'LTV x (APY of the yield leg - borrow APY of the stock leg) once this deposit has borrowed and so raised both rates, signed.',
    ),
    netApyAfterPct: pct('The same as netApyPct.'),
    costs: costList,
    totalSwapCostPctOfEquity: totalSwapCost,
    worstCase: z
      .object({
        equity: tokens('Net value of both legs.'),
        ltv: pct('LTV of the stock leg.'),
        yieldLtv: pct('LTV of the yield leg.'),
      })
      .describe('What is left when every swap gives its minimum only.'),
    liquidation: liquidation
      .optional()
      .describe('Where the stock leg could be liquidated, deposit tokens per stock token; absent without a debt.'),
    readAt: pricedAtSchema,
    oraclePriceAsOf: oraclePriceAsOf.describe(
      "When the feeds behind the stock's oracle price were updated, the oldest of them; null = it needs none, absent = not known.",
    ),
    fees: z
      .object({
        stockLegBps: z.int().describe('Referral fee of the swap into the stock, basis points of its input.'),
        yieldLegBps: z.int().describe('Referral fee of both swaps of the yield leg, basis points of their input.'),
        estimatedFeeUsd: usdText('All of them together; absent while no USD price is known.').optional(),
      })
      .describe('Referral fees; 0 where nobody receives them.'),
    slippage: z.number().describe('The slippage that counts, a ratio.'),
  })
  .meta({
    id: 'EquityDepositPreview',
    description: 'What a deposit will be once its swaps have given what they are quoted at.',
  });

const frame = {
  chainId: z.int().describe('The chain.'),
  strategyId: z.string().describe('Vault id.'),
};

export const equitySimulation = z
  .object({
    ...frame,
    action: z.enum(['equity_deposit']).describe('What it previews.'),
    preview: depositPreview.describe('What the deposit will be.'),
    note: z.string().describe('What it assumes, in sentences.'),
  })
  .meta({ id: 'EquityDepositSimulation', description: 'Preview of a deposit into an equity vault.' });

/** Costs of an exit. */
export const exitCosting = z.object({
  costs: costList.optional(),
  totalSwapCostPctOfEquity: totalSwapCost,
  worstCase: worstCase.optional(),
});

export const equityBatch = z
  .object({
    ...frame,
    action: z.enum(['equity_deposit', 'equity_exit']).describe('What it does.'),
    calls: z.array(unsignedCall).describe('In order; the last one revokes what one before it grants.'),
    atomic: z
      .literal(true)
      .describe('A wallet that cannot batch sends the calls in order, and the last one in any case.'),
    meta: z
      .object({
        preview: depositPreview.optional().describe('Deposits: the same as in the simulation.'),
        position: equityPositionSchema.optional().describe('Exits: the vault that is unwound, as it stands.'),
        costs: costList.optional().describe('Exits: what it costs at once, by kind.'),
        totalSwapCostPctOfEquity: totalSwapCost,
        worstCase: worstCase.optional().describe('Exits: what is paid out at least, whole deposit tokens.'),
        received,
        readAt: pricedAtSchema.describe(
          'Exits: the block at which the prices and debts that the sales are judged by were read; absent where the node did not tell which.',
        ),
        oraclePriceAsOf: oraclePriceAsOf.describe(
          "Exits: when the feeds behind the stock's oracle price were updated, the oldest of them; null = it needs none, absent = not known.",
        ),
        slippage: z.number().describe('The slippage that counts, a ratio.'),
        expiresAt: dateTime('When its earliest quote expires, at most 60 s away. Build again after that.'),
        signingUrl: z.string().optional().describe('Link to review and sign in the app.'),
        instructions: z.string().describe('What to do with it, in sentences.'),
      })
      .describe('About the batch.'),
  })
  .meta({ id: 'EquityCallBatch', description: 'Unsigned calls for one wallet, submitted in order and atomically.' });
