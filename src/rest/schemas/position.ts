import { z } from 'zod';
import { addressString, decimalString, freshnessValue, oraclePriceAsOf, pct, readAt, warnings } from './common.ts';
import { unsignedCall } from './transactions.ts';

const amount = (description: string) => decimalString(`${description} Whole tokens.`);
const usdString = (description: string) => decimalString(`${description} USD, decimal string.`);

const loanTokens = (description: string) => decimalString(`${description} Whole loan tokens.`);

const closeNow = z
  .object({
    yieldFee: loanTokens(
      'What the contract takes of what is above the deposit basis; 0 on an uncorrelated market and at a loss. By the documented rate while the contract does not tell its own.',
    ),
    paysOut: loanTokens('What is left after the debt and the fee; 0 under water.'),
    pnlBeforeFee: loanTokens('What is left after the debt, less the deposit basis of what stands in the position now.'),
    pnlAfterFee: loanTokens('The same less the fee.'),
    yieldFeeUsd: usdString('yieldFee.').optional(),
    paysOutUsd: usdString('paysOut.').optional(),
    pnlBeforeFeeUsd: usdString('pnlBeforeFee.').optional(),
    pnlAfterFeeUsd: usdString('pnlAfterFee.').optional(),
  })
  .meta({
    id: 'CloseNow',
    description: 'What closing a position comes to, without what the swap of the close loses: a build tells that.',
  });

/** An unknown field is absent; a field that does not apply, to an ended position or to one without debt, is null. */
export const positionSchema = z
  .object({
    id: z.int().describe('Index of the position on chain; what manage/build takes.'),
    positionId: z.string().describe('{chainId}-{marketId}-{id}.'),
    chainId: z.int().describe('The chain.'),
    strategyId: z.string().describe('Market id of the strategy.'),
    status: z.enum(['open', 'closed', 'liquidated']).describe('Where it stands.'),
    open: z.boolean().describe('Whether it holds collateral.'),
    liquidated: z.boolean().describe('Whether it was liquidated.'),
    collateralSymbol: z.string().optional().describe('Symbol of the collateral.'),
    loanSymbol: z.string().optional().describe('Symbol of the loan token.'),
    amountLeveragedCollateral: amount('All its collateral.').optional(),
    netCollateral: amount('Collateral less the debt at the oracle price, in collateral tokens.').optional(),
    amountLoan: amount('Debt with interest.').optional(),
    ltvPct: pct('Debt over collateral value.').nullable().optional(),
    liquidationLtvPct: pct('LTV at which it can be liquidated.').optional(),
    ltvHeadroomPct: pct('Points of LTV left before liquidation.').nullable().optional(),
    currentLeverage: decimalString('Leverage of its LTV, 1 decimal.').nullable().optional(),
    netValueUsd: usdString('Collateral less debt.').optional(),
    currentLeverageApyPct: pct('APY at the current leverage and rates, incentives (APRs) included as they are, signed.')
      .nullable()
      .optional(),
    amountDepositedInLoanToken: decimalString(
      'Deposit basis, as the contract counts it: put in and repaid less taken out and borrowed, never below 0. Whole loan tokens.',
    ).optional(),
    liquidationPrice: decimalString('Loan tokens per collateral token at which it can be liquidated.')
      .nullable()
      .optional(),
    closeNow: closeNow
      .nullable()
      .optional()
      .describe(
        "What closing it now comes to at the oracle price, by today's yield fee; null on positions that ended.",
      ),
    manualMode: z
      .boolean()
      .nullable()
      .optional()
      .describe(
        'Whether it is in manual mode, for good: only its own wallet acts on it then, and no build does. null = it has ended, absent = not known.',
      ),
    manualModeCalls: z
      .array(unsignedCall)
      .optional()
      .describe(
        'Present in manual mode: the unsigned calls that end the position, in order. They repay all of the debt at the lending protocol, with the interest of half an hour approved, and take the collateral out.',
      ),
    exitLiquidity: z
      .object({
        tier: z.enum(['deep', 'good', 'limited', 'thin']).optional().describe('Grade of the collateral.'),
        cleanExitSizeUsd: usdString('Largest measured size that sells clean; null = none does.').nullable().optional(),
        unwindSizeUsd: usdString('What closing would sell.').optional(),
        exceedsCleanExitSize: z.boolean().optional().describe('Whether closing would sell more than that size.'),
        noSwapRoute: z.boolean().describe('Whether the collateral has no swap route.'),
      })
      .nullable()
      .optional()
      .describe('What closing would meet; null on positions that ended.'),
    freshness: z
      .object({ borrow: freshnessValue, oracle: freshnessValue, collateralApy: freshnessValue })
      .optional()
      .describe('Age of the market values; what the position holds is read live.'),
    readAt: readAt.optional(),
    oraclePriceAsOf,
    warnings: warnings
      .optional()
      .describe('What to know of the values that it is valued with; empty when there is nothing.'),
  })
  .describe('One leveraged position.');

export const equityPositionSchema = z
  .object({
    strategyId: z.string().describe('Vault id.'),
    chainId: z.int().describe('The chain.'),
    curator: z.string().describe('Who curates the stock market.'),
    stock: z
      .object({
        symbol: z.string().describe('Symbol.'),
        collateral: amount('Stock posted.'),
        collateralUsd: usdString('Its value.').optional(),
        priceUsd: usdString('Oracle price.').optional(),
        debtUsdg: amount('Debt with interest.').optional(),
        ltvPct: pct('Debt over collateral value.').nullable().optional(),
        liquidationLtvPct: pct('LTV at which it can be liquidated.'),
        ltvHeadroomPct: pct('Points of LTV left before liquidation.').nullable().optional(),
        liquidationPriceUsd: usdString('Stock price at which it can be liquidated.').nullable().optional(),
        priceDropToLiquidationPct: pct('Fall of the stock price until then.').nullable().optional(),
        borrowApyPct: pct('APY of the debt.').optional(),
      })
      .describe("The stock leg: the wallet's own position on the stock market."),
    yieldLoops: z.array(positionSchema).describe('Loops that are known to belong to the vault, newest first.'),
    yieldLoopMatch: z
      .enum(['tagged', 'basis', 'ambiguous', 'none'])
      .describe('How the loops are known: registered, by their basis, more than one way, or not at all.'),
    ambiguousYieldLoopIds: z
      .array(z.int())
      .optional()
      .describe('Present when ambiguous: ids among the plain positions that may be its loops.'),
    netValueUsd: usdString('Stock leg plus loops.').optional(),
    currentNetApyPct: pct('LTV x (APY of the loops - borrow APY of the stock leg).').nullable().optional(),
    freshness: z
      .object({ borrow: freshnessValue, oracle: freshnessValue })
      .optional()
      .describe('How old the facts behind it are.'),
    readAt: readAt.optional(),
    oraclePriceAsOf,
    warnings: warnings
      .optional()
      .describe('What to know of the values that it is valued with; empty when there is nothing.'),
  })
  .describe('An open equity vault.');

export const walletPositions = z
  .object({
    chainId: z.int().describe('The chain.'),
    userAddress: addressString('The wallet, checksummed.'),
    positions: z.array(positionSchema).describe('Plain positions, newest first; the loops of a vault are left out.'),
    equityPositions: z.array(equityPositionSchema).describe('Open equity vaults.'),
    leftAuthorizations: z
      .array(
        z.object({
          authorized: addressString("The router that may act on the wallet's own lending positions."),
          call: unsignedCall.describe('Takes it back.'),
        }),
      )
      .optional()
      .describe(
        'Authorizations at the lending protocol that a broken-off batch left behind, with the call that ends each; empty = none, absent = not known.',
      ),
  })
  .describe('What a wallet holds on one chain.');
