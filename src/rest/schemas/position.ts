import { z } from 'zod';
import { addressString, dateTime, freshnessValue, oraclePriceAsOf, readAt, uri, warnings } from './common.ts';
import { readMeta } from './fresh-reads.ts';
import { chainIdNumber, decimalString, leverageString, type NumberRange, pct, wholeNumber } from './numbers.ts';
import { pnlSchema } from './pnl.ts';
import { unsignedCall } from './transactions.ts';

const amount = (description: string, range?: NumberRange) => decimalString(`${description} Whole tokens.`, range);
const usdString = (description: string, range?: NumberRange) =>
  decimalString(`${description} USD, decimal string.`, range);

const loanTokens = (description: string, range?: NumberRange) =>
  decimalString(`${description} Whole loan tokens.`, range);

const closeNow = z
  .object({
    yieldFee: loanTokens(
      "The contract's fee on the value above the deposit basis; 0 on an uncorrelated market and at a loss. Uses the documented rate while the contract's own is unknown.",
    ),
    paysOut: loanTokens('Payout after the debt and the fee; 0 under water.'),
    pnlBeforeFee: loanTokens('Value after the debt, less the deposit basis of the present position.', {}),
    pnlAfterFee: loanTokens('The same less the fee.', {}),
    yieldFeeUsd: usdString('yieldFee.').optional(),
    paysOutUsd: usdString('paysOut.').optional(),
    pnlBeforeFeeUsd: usdString('pnlBeforeFee.', {}).optional(),
    pnlAfterFeeUsd: usdString('pnlAfterFee.', {}).optional(),
  })
  .meta({
    id: 'CloseNow',
    description: 'Result of closing a position, without the loss of the closing swap, which a build shows.',
  });

const positionExit = z
  .object({
    tier: z.enum(['deep', 'good', 'limited', 'thin']).optional().describe('Grade of the collateral.'),
    cleanExitSizeUsd: usdString('Largest measured size with a small loss; null = none.').nullable().optional(),
    unwindSizeUsd: usdString('Amount that closing would sell.').optional(),
    exceedsCleanExitSize: z.boolean().optional().describe('Whether closing would sell more than that size.'),
    noSwapRoute: z.boolean().describe('Whether the collateral has no swap route.'),
  })
  .meta({ id: 'PositionExit', description: 'Liquidity for closing a position.' });

/** An unknown field is absent; a field that does not apply, to an ended position or to one without debt, is null. */
export const positionSchema = z
  .object({
    id: wholeNumber('Index of the position on chain; the id for manage/build.'),
    positionId: z.string().describe('{chainId}-{marketId}-{id}.'),
    chainId: chainIdNumber('The chain.'),
    strategyId: z.string().describe('Market id of the strategy.'),
    status: z.enum(['open', 'closed', 'liquidated']).describe('Status of the position.'),
    open: z.boolean().describe('Whether it holds collateral.'),
    liquidated: z.boolean().describe('Whether it was liquidated as a whole; its history has liquidations of a part.'),
    collateralSymbol: z.string().optional().describe('Symbol of the collateral.'),
    loanSymbol: z.string().optional().describe('Symbol of the loan token.'),
    amountLeveragedCollateral: amount('All its collateral.').optional(),
    netCollateral: amount('Collateral less the debt at the oracle price, in collateral tokens.', {}).optional(),
    amountLoan: amount('Debt with interest.').optional(),
    ltvPct: pct('Debt over collateral value.', { min: 0 }).nullable().optional(),
    liquidationLtvPct: pct('Liquidation LTV.', { min: 0 }).optional(),
    ltvHeadroomPct: pct('Points of LTV left before liquidation.').nullable().optional(),
    currentLeverage: leverageString('Leverage of its LTV, 1 decimal.').nullable().optional(),
    netValueUsd: usdString(
      'Collateral less debt, rounded to 2 places, negative under water; pnl.netValueUsd is exact, and 0 under water.',
      {},
    ).optional(),
    currentLeverageApyPct: pct(
      'APY at the exact leverage of its LTV and the current rates, incentives (APRs) included without conversion, signed.',
    )
      .nullable()
      .optional(),
    amountDepositedInLoanToken: decimalString(
      'Deposit basis of the contract: deposits and repayments less withdrawals and loans, never below 0. Whole loan tokens.',
    ).optional(),
    liquidationPrice: decimalString('Liquidation price, loan tokens per collateral token.').nullable().optional(),
    priceDropToLiquidationPct: pct('Fall of the oracle price until liquidation; negative = it can be liquidated now.')
      .nullable()
      .optional(),
    openedAt: dateTime(
      'Time at which the app registered it; absent = unknown, because the chain does not keep it.',
    ).optional(),
    pnl: pnlSchema.optional(),
    explorerLinks: z
      .object({
        wallet: uri('Its owner.'),
        proxy: uri('The contract that holds the collateral and owes the debt.'),
        block: uri('The block of the reading.'),
      })
      .optional()
      .describe('Pages at the block explorer of the chain; absent if none is known.'),
    closeNow: closeNow
      .nullable()
      .optional()
      .describe("Result of closing it now at the oracle price, with today's yield fee; null on ended positions."),
    manualMode: z
      .boolean()
      .nullable()
      .optional()
      .describe(
        'Whether it is in manual mode, which is permanent: only its own wallet can act on it, and builds cannot. null = ended, absent = unknown.',
      ),
    manualModeCalls: z
      .array(unsignedCall)
      .optional()
      .describe(
        'Present in manual mode: the unsigned calls that end the position, in order. They repay all of the debt at the lending protocol, with the interest of half an hour approved, and withdraw the collateral.',
      ),
    exitLiquidity: positionExit.nullable().optional().describe('Liquidity for closing; null on ended positions.'),
    freshness: z
      .object({ borrow: freshnessValue, oracle: freshnessValue, collateralApy: freshnessValue })
      .optional()
      .describe('Age of the market values; holdings are read live.'),
    readAt: readAt.optional(),
    oraclePriceAsOf,
    warnings: warnings.optional().describe('Warnings about its values; empty = none.'),
  })
  .meta({ id: 'Position', description: 'One leveraged position.' });

const stockLeg = z
  .object({
    symbol: z.string().describe('Symbol.'),
    collateral: amount('Stock posted.'),
    collateralUsd: usdString('Its value.').optional(),
    priceUsd: usdString('Oracle price.').optional(),
    debtUsdg: amount('Debt with interest.').optional(),
    ltvPct: pct('Debt over collateral value.', { min: 0 }).nullable().optional(),
    liquidationLtvPct: pct('Liquidation LTV.', { min: 0 }),
    ltvHeadroomPct: pct('Points of LTV left before liquidation.').nullable().optional(),
    liquidationPriceUsd: usdString('Stock price at liquidation.').nullable().optional(),
    priceDropToLiquidationPct: pct('Fall of the stock price until then.').nullable().optional(),
    borrowApyPct: pct('APY of the debt.', { min: 0 }).optional(),
  })
  .meta({ id: 'StockLeg', description: "The stock leg: the wallet's own position on the stock market." });

export const equityPositionSchema = z
  .object({
    strategyId: z.string().describe('Vault id.'),
    chainId: chainIdNumber('The chain.'),
    curator: z.string().describe('Curator of the stock market.'),
    stock: stockLeg,
    yieldLoops: z.array(positionSchema).describe('Loops of the vault, newest first.'),
    yieldLoopMatch: z
      .enum(['tagged', 'basis', 'ambiguous', 'none'])
      .describe('How the loops were matched: registered, by their basis, ambiguous, or not at all.'),
    ambiguousYieldLoopIds: z
      .array(wholeNumber('Index of a position on chain.'))
      .optional()
      .describe('Present when ambiguous: ids of its candidate loops among the plain positions.'),
    netValueUsd: usdString(
      'Stock leg plus loops, before costs of an exit; a loop under water counts as 0.',
      {},
    ).optional(),
    currentNetApyPct: pct('LTV x (APY of the loops - borrow APY of the stock leg).').nullable().optional(),
    freshness: z
      .object({ borrow: freshnessValue, oracle: freshnessValue })
      .optional()
      .describe('Age of the facts behind it.'),
    readAt: readAt.optional(),
    oraclePriceAsOf,
    warnings: warnings.optional().describe('Warnings about its values; empty = none.'),
  })
  .meta({ id: 'EquityPosition', description: 'An open equity vault.' });

export const walletPositions = z
  .object({
    chainId: chainIdNumber('The chain.'),
    userAddress: addressString('The wallet, checksummed.'),
    positions: z.array(positionSchema).describe('Plain positions, newest first; the loops of a vault are left out.'),
    equityPositions: z
      .array(equityPositionSchema)
      .describe(
        'Open equity vaults: those with a debt on their stock market, or with collateral there worth at least 0.01 USD, because anybody may supply collateral on behalf of a wallet.',
      ),
    meta: readMeta,
    leftAuthorizations: z
      .array(
        z.object({
          authorized: addressString('The authorized router.'),
          call: unsignedCall.describe('Call that revokes it.'),
        }),
      )
      .optional()
      .describe(
        'Leftover authorizations of an incomplete batch at the lending protocol, with the call that revokes each; empty = none, absent = unknown.',
      ),
  })
  .meta({ id: 'WalletPositions', description: 'Positions of a wallet on one chain.' });
