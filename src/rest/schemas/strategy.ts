import { z } from 'zod';
import { APY_SOURCES, COLLATERAL_CATEGORIES, RESTRICTION_MEANINGS, RESTRICTIONS } from '../../shared/vocabulary.ts';
import {
  addressString,
  assumedGaps,
  date,
  dateTime,
  deployment,
  fees,
  freshnessValue,
  marketIdString,
  missingFacts,
  oraclePriceAsOf,
  uri,
  warnings,
} from './common.ts';
import { readMeta } from './fresh-reads.ts';
import {
  chainIdNumber,
  decimalString,
  decimalsNumber,
  jsonNumber,
  largeNumber,
  leverageString,
  pct,
  usd,
  wholeNumber,
} from './numbers.ts';

const ladderEntry = z
  .object({
    leverage: leverageString('Leverage with 1 decimal; of an equity vault the exposure per unit deposited, 1 + LTV.'),
    ltvPct: pct('Loan-to-value at this leverage, 1 decimal.', { min: 0 }),
    leverageApyPct: pct(
      'APY at this leverage: totalCollateralApyPct x L - netBorrowApyPct x (L - 1), with L = leverage; of an equity vault LTV x (totalCollateralApyPct - netBorrowApyPct). Computed before rounding: the shown rates of a loop give it within 0.01 x L.',
    ),
  })
  .meta({ id: 'LadderEntry', description: 'One step of the leverage ladder.' });

const incentive = z
  .object({
    aprPct: pct('Sum of the running campaigns.', { min: 0 }),
    breakdown: z
      .array(
        z.object({ symbol: z.string().describe('Reward token.'), aprPct: pct('APR of this campaign.', { min: 0 }) }),
      )
      .describe('All campaigns.'),
    campaignUrl: uri('Page of the campaign.').optional(),
    endsAt: dateTime('End of the first running campaign to end; without one, of the first in restricted.').optional(),
    lowerBound: z
      .literal(true)
      .optional()
      .describe('A running campaign could not be read: aprPct is at least this. Absent = all were read.'),
    restricted: z
      .array(
        z.object({
          symbol: z.string().describe('Reward token.'),
          reason: z.enum(RESTRICTIONS).describe(RESTRICTION_MEANINGS),
          aprPct: pct('APR by its provider, for those who earn it; absent = not given.', { min: 0 }).optional(),
          endsAt: dateTime('End.'),
        }),
      )
      .optional()
      .describe('Running campaigns that are in no APY; absent = none.'),
  })
  .meta({ id: 'Incentive', description: 'Rewards of the running campaigns of one side.' });

const averages = z
  .object({
    avg30d: pct('Mean of the last 30 days.').optional(),
    avg60d: pct('Mean of the last 60 days.').optional(),
    avg90d: pct('Mean of the last 90 days.').optional(),
  })
  .meta({ id: 'TrailingAverages', description: 'Means over trailing windows; absent where the history is too short.' });

const slippage = pct('Loss in percent; null = no route at that size.').nullable();

const tokenRef = z.object({ address: addressString('Token address.'), symbol: z.string().describe('Token symbol.') });

/**
 * The frozen strategy of contract v1 (section 2.1). Optional = absent when not measured; nullable = measured, and there is
 * none.
 */
export const strategySchema = z
  .object({
    id: z.string().describe('Market id (0x + 64 hex), or equity-0x... for an equity vault.'),
    chainId: chainIdNumber(),
    meta: readMeta,
    correlated: z.boolean().describe('Whether collateral and loan follow the same price.'),
    curator: z
      .string()
      .optional()
      .describe('Present only on partner-curated markets; distinguishes two vaults on the same ticker.'),
    collateral: z
      .object({
        address: addressString('Token address.'),
        symbol: z.string().describe('Symbol; a principal token without its date.'),
        name: z.string().describe('Name of the token.'),
        decimals: decimalsNumber(),
        category: z.enum(COLLATERAL_CATEGORIES).describe('Kind of collateral.'),
        project: z.string().optional().describe('Project behind the token.'),
        yieldSource: z.string().optional().describe('Source of the yield, in a few words.'),
        description: z.string().describe('Description of the token and its yield.'),
        priceUsd: decimalString('USD per token.').optional(),
        isPt: z.boolean().describe('Whether it is a principal token.'),
        maturity: largeNumber('Unix seconds; null for tokens that do not mature.').nullable(),
        maturityDate: date('YYYY-MM-DD; null for tokens that do not mature.').nullable(),
        maturityDaysLeft: wholeNumber('Whole days left; null for tokens that do not mature.').nullable(),
        underlying: tokenRef.optional().describe('Token that a principal token redeems to.'),
      })
      .describe('Collateral token facts.'),
    loan: z
      .object({
        address: addressString('Token address.'),
        symbol: z.string().describe('Token symbol.'),
        decimals: decimalsNumber(),
        priceUsd: decimalString('USD per token.').optional(),
      })
      .describe('Loan token facts.'),
    collateralApyPct: pct(
      'APY of the collateral alone. The period depends on the source: implied until maturity (yieldmarket), the mean of 7 days (stableindex, incentivemarket), the last day (aggregator), the present rate (onchain). Of an equity vault the leveraged APY of its yield leg at the safe LTV of that market; collateralApySource is then the source of the collateral of that leg.',
    ),
    collateralApySource: z.enum(APY_SOURCES).describe('Source of the collateral APY; none = no yield of its own.'),
    yieldSustainabilityPct: averages.optional().describe('Trailing means of the collateral APY.'),
    pointsIncentive: z
      .object({
        program: z.string().describe('Points program.'),
        perDayPerCollateralToken: jsonNumber('Points per day and whole collateral token.'),
      })
      .nullable()
      .optional()
      .describe(
        'Off-chain points on the collateral; not a yield. Effective = perDayPerCollateralToken x leverage x tokens.',
      ),
    borrowApyPct: pct('Present borrow APY.', { min: 0 }),
    quarterlyBorrowApyPct: pct('Mean borrow APY of the last 90 days.', { min: 0 }).optional(),
    borrowIncentive: incentive.nullable().optional().describe('Incentives for borrowing; null = none.'),
    collateralIncentive: incentive.nullable().optional().describe('Incentives for the collateral; null = none.'),
    netBorrowApyPct: pct(
      'Borrow APY (compounded) less the borrow incentive (an APR, not compounded). Excludes the incentive while it is unknown, see gaps.',
    ),
    totalCollateralApyPct: pct(
      'Rate of the collateral in the ladder: collateralApyPct plus collateralIncentive.aprPct (an APR, added without conversion). Excludes the incentive while it is unknown, see gaps. Of an equity vault the APY of its yield leg, the incentives of the leg included.',
    ),
    supplyUsd: usd('Supply of the market.').optional(),
    liquidityUsd: usd('Borrowable at once.').optional(),
    publicAllocatorLiquidityUsd: usd("liquidityUsd plus the public allocator's maximum.").optional(),
    maxLeverage: leverageString('Leverage at the maximum LTV, 1 decimal; of an equity vault 1 + LTV at its cap.'),
    utilizationPct: pct('Borrowed share of the supply.', { min: 0 }).optional(),
    leverageLadder: z
      .array(ladderEntry)
      .describe('Integer steps, then the exact maximum; of an equity vault no debt, the target LTV and the cap.'),
    defaultLeverage: ladderEntry.describe('The entry at the safe LTV; of an equity vault at its target LTV.'),
    historicalLeverageApyPct: averages
      .optional()
      .describe(
        'Mean collateral APY and mean net borrow APY of the window, incentives included, levered at the safe LTV of today; of an equity vault both at its target LTV. Each mean is over all days of the window that its own rate has, so that the mean of the leveraged-APY history, which has the days of both rates, differs a little.',
      ),
    ltvPct: z
      .object({
        liquidation: pct('Liquidation LTV.', { min: 0 }),
        max: pct(
          'Highest LTV that the contract accepts; of an equity vault the cap of a deposit, 88 % of the liquidation LTV.',
          { min: 0 },
        ),
      })
      .describe('Loan-to-value limits.'),
    oracle: z
      .object({
        address: addressString('Oracle of the market.'),
        type: z.enum(['nav', 'market']).optional().describe('nav = redemption rate, market = traded price.'),
      })
      .optional()
      .describe('The oracle that values the collateral.'),
    oraclePriceAsOf,
    exitLiquidity: z
      .union([
        z
          .object({
            measured: z.literal(false).describe('Not measured: the loss is unknown, neither zero nor safe.'),
          })
          .meta({ id: 'UnmeasuredExitLiquidity', description: 'The cost of selling was not measured.' }),
        z
          .object({
            measured: z.literal(true).describe('Measured.'),
            asOf: dateTime('Time of the measurement.'),
            method: z.string().describe('Method of the measurement.'),
            direction: z.string().describe('Direction of the sale.'),
            slippagePct: z
              .object({ '100000': slippage, '500000': slippage, '1000000': slippage, '5000000': slippage })
              .describe('Loss in percent when that many USD of collateral are sold.'),
          })
          .meta({ id: 'MeasuredExitLiquidity', description: 'The measured cost of selling.' }),
      ])
      .describe('Cost of selling the collateral.'),
    noSwapRoute: z
      .boolean()
      .describe('Whether the collateral has no swap route. True while it is unmeasured, see gaps.'),
    spiralHints: z
      .object({
        exitLiquidityTier: z
          .object({
            value: z
              .enum(['deep', 'good', 'limited', 'thin'])
              .describe(
                'deep: 5M USD exit below depthCleanMaxPct; good: 1M; limited: 500k; thin: only 100k, or above listingMaxPct at 100k, or no route.',
              ),
            thresholds: z
              .object({
                listingMaxPct: jsonNumber('Maximum loss of selling 100k USD, percent.'),
                depthCleanMaxPct: jsonNumber('Maximum loss of a clean exit, percent.'),
              })
              .describe('Thresholds of the value.'),
          })
          .optional()
          .describe('Absent when exit liquidity was not measured.'),
        profile: z
          .object({
            value: z.literal('leveraged_perp').describe('Collateral and loan follow different prices.'),
            leverageApyMeaning: z.string().describe('Explanation of the leveraged APY of such a market.'),
          })
          .optional()
          .describe('Present only on uncorrelated markets.'),
        warnings: warnings.optional().describe('Warnings about returned values; absent = none.'),
      })
      .optional()
      .describe('Assessments of the service, with their thresholds.'),
    freshness: z
      .object({ borrow: freshnessValue, collateralApy: freshnessValue, exitLiquidity: freshnessValue })
      .describe('Age of each group of facts. exitLiquidity.asOf is 1970-01-01T00:00:00.000Z while it is unmeasured.'),
    inputFreshness: z
      .object({ prices: freshnessValue.optional(), incentives: freshnessValue.optional() })
      .optional()
      .describe('Age of the prices (the older of collateral and loan) and of the incentives; absent = unknown.'),
    deployment: deployment
      .optional()
      .describe(
        'Terms of the deployed contract behind ltvPct, the ladder and fees; for an equity vault those of its yield leg. Absent while they are unmeasured.',
      ),
    listed: z.boolean().optional().describe('Whether the strategy is in the list of strategies.'),
    notListedBecause: z
      .array(z.string())
      .optional()
      .describe(
        'The failed listing rules: has_yield, swap_route, maturity, liquidity, unsupported, paused, venue_not_allowed, catalog_mismatch, and of equity vaults operator_not_approved.',
      ),
    gaps: assumedGaps,
    fees: fees.optional().describe('Fees of the contract; for an equity vault on its yield leg.'),
    links: z
      .object({
        app: uri('The strategy in the client app.').optional(),
        market: uri('The market at the lending protocol.').optional(),
        yieldSource: uri('Page about the yield of the collateral.').optional(),
      })
      .optional()
      .describe('Further pages.'),
    equityVault: z
      .object({
        stockMarketId: marketIdString('Market of the stock leg.'),
        yieldStrategyId: z.string().describe('Strategy of the yield leg.'),
        depositToken: z
          .object({
            address: addressString('Token address.'),
            symbol: z.string().describe('Symbol.'),
            decimals: decimalsNumber(),
          })
          .describe('Token of deposits.'),
        targetLtvPct: pct('Default stock-leg LTV of a deposit.', { min: 0 }),
        maxStockLtvPct: pct('Highest stock-leg LTV of a deposit.', { min: 0 }),
        yieldLegApyPct: pct('APY of the yield leg at its safe LTV.'),
      })
      .optional()
      .describe('Present only on equity vaults.'),
  })
  .meta({
    id: 'Strategy',
    description: 'One leverage strategy: raw facts; the only assessments are under spiralHints.',
  });

export const strategiesEnvelope = z
  .object({
    asOf: dateTime('Time of publication of the facts.'),
    chainId: chainIdNumber(),
    count: wholeNumber('Number of strategies.'),
    strategies: z.array(strategySchema).describe('The strategies, equity vaults included.'),
    missing: missingFacts.optional().describe('Missing parts of the list; absent when it is complete.'),
    meta: readMeta,
  })
  .meta({ id: 'Strategies', description: 'The listed strategies of one chain.' });

const { shape } = strategySchema;

/** The fields that compare strategies. */
export const strategyBriefSchema = strategySchema
  .pick({
    id: true,
    chainId: true,
    collateralApyPct: true,
    netBorrowApyPct: true,
    maxLeverage: true,
    defaultLeverage: true,
    ltvPct: true,
    liquidityUsd: true,
    freshness: true,
    listed: true,
  })
  .extend({
    collateral: shape.collateral.pick({ address: true, symbol: true, name: true, category: true, maturityDate: true }),
    loan: shape.loan.pick({ address: true, symbol: true }),
  })
  .meta({ id: 'StrategyBrief', description: 'A strategy with the fields that compare it to others.' });

export const strategyBriefsEnvelope = strategiesEnvelope
  .extend({ strategies: z.array(strategyBriefSchema) })
  .meta({ id: 'StrategyBriefs', description: 'The listed strategies of one chain, in brief.' });
