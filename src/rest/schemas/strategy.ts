import { z } from 'zod';
import { APY_SOURCES, COLLATERAL_CATEGORIES } from '../../shared/vocabulary.ts';
import {
  addressString,
  assumedGaps,
  dateTime,
  decimalString,
  deployment,
  fees,
  freshnessValue,
  marketIdString,
  missingFacts,
  oraclePriceAsOf,
  pct,
  usd,
  warnings,
} from './common.ts';

const ladderEntry = z
  .object({
    leverage: decimalString('Leverage with 1 decimal.'),
    ltvPct: pct('Loan-to-value at this leverage, 1 decimal.'),
    leverageApyPct: pct(
      'APY at this leverage: collateral APY x L - net borrow APY x (L - 1). Incentives are APRs and are added to and taken from the APYs as they are.',
    ),
  })
  .meta({ id: 'LadderEntry', description: 'One step of the leverage ladder.' });

const incentive = z.object({
  aprPct: pct('Sum of the running campaigns.'),
  breakdown: z
    .array(z.object({ symbol: z.string().describe('Reward token.'), aprPct: pct('APR of this campaign.') }))
    .describe('Campaign by campaign.'),
  campaignUrl: z.string().optional().describe('Page of the campaign.'),
  endsAt: dateTime('When the first of the running campaigns ends.').optional(),
});

const averages = z.object({
  avg30d: pct('Mean of the last 30 days.').optional(),
  avg60d: pct('Mean of the last 60 days.').optional(),
  avg90d: pct('Mean of the last 90 days.').optional(),
});

const slippage = pct('Percent lost; null = no route at that size.').nullable();

const tokenRef = z.object({ address: addressString('Token address.'), symbol: z.string().describe('Token symbol.') });

/**
 * The frozen strategy of contract v1 (section 2.1). Optional = absent when not measured; nullable = measured, and there is
 * none.
 */
export const strategySchema = z
  .object({
    id: z.string().describe('Market id (0x + 64 hex), or equity-0x... for an equity vault.'),
    chainId: z.int().describe('Chain id.'),
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
        decimals: z.int().describe('Decimals of the token.'),
        category: z.enum(COLLATERAL_CATEGORIES).describe('Kind of collateral.'),
        project: z.string().optional().describe('Project behind the token.'),
        yieldSource: z.string().optional().describe('Where the yield comes from, in a few words.'),
        description: z.string().describe('What it is and how it earns.'),
        priceUsd: decimalString('USD per token.').optional(),
        isPt: z.boolean().describe('Whether it is a principal token.'),
        maturity: z.int().nullable().describe('Unix seconds; null for tokens that do not mature.'),
        maturityDate: z.string().nullable().describe('YYYY-MM-DD; null for tokens that do not mature.'),
        maturityDaysLeft: z.int().nullable().describe('Whole days left; null for tokens that do not mature.'),
        underlying: tokenRef.optional().describe('What a principal token redeems to.'),
      })
      .describe('Collateral token facts.'),
    loan: z
      .object({
        address: addressString('Token address.'),
        symbol: z.string().describe('Token symbol.'),
        decimals: z.int().describe('Decimals of the token.'),
        priceUsd: decimalString('USD per token.').optional(),
      })
      .describe('Loan token facts.'),
    collateralApyPct: pct(
      'APY of the collateral alone. Rates of different kinds stand side by side: implied until maturity (yieldmarket), the mean of 7 days (stableindex, incentivemarket), the last day (aggregator), what is paid now (onchain).',
    ),
    collateralApySource: z
      .enum(APY_SOURCES)
      .describe('Where the collateral APY comes from; none = it earns nothing by itself.'),
    yieldSustainabilityPct: averages.optional().describe('Trailing means of the collateral APY.'),
    pointsIncentive: z
      .object({
        program: z.string().describe('Points program.'),
        perDayPerCollateralToken: z.number().describe('Points a day and collateral token.'),
      })
      .nullable()
      .optional()
      .describe(
        'Off-chain points on the collateral; not a yield. Effective = perDayPerCollateralToken x leverage x tokens.',
      ),
    borrowApyPct: pct('Borrow APY that is paid now.'),
    quarterlyBorrowApyPct: pct('Mean borrow APY of the last 90 days.').optional(),
    borrowIncentive: incentive.nullable().optional().describe('Incentives paid on borrowing; null = there are none.'),
    collateralIncentive: incentive
      .nullable()
      .optional()
      .describe('Incentives paid on the collateral; null = there are none.'),
    netBorrowApyPct: pct(
      'Borrow APY less the borrow incentive, which is an APR: the one is compounded, the other is not. Without an incentive while incentives are not known, see gaps.',
    ),
    supplyUsd: usd('Supplied to the market.').optional(),
    liquidityUsd: usd('What can be borrowed at once.').optional(),
    publicAllocatorLiquidityUsd: usd('liquidityUsd plus what the public allocator could bring.').optional(),
    maxLeverage: decimalString('Leverage at the maximum LTV, 1 decimal.'),
    utilizationPct: pct('Borrowed share of the supply.').optional(),
    leverageLadder: z.array(ladderEntry).describe('Integer steps, then the exact maximum.'),
    defaultLeverage: ladderEntry.describe('The entry at the safe LTV.'),
    historicalLeverageApyPct: averages
      .optional()
      .describe('Mean collateral APY and mean net borrow APY of the window, levered at the safe LTV.'),
    ltvPct: z
      .object({ liquidation: pct('Liquidation LTV.'), max: pct('Highest LTV that the contract accepts.') })
      .describe('Loan-to-value limits.'),
    oracle: z
      .object({
        address: addressString('Oracle of the market.'),
        type: z.enum(['nav', 'market']).optional().describe('nav = redemption rate, market = traded price.'),
      })
      .optional()
      .describe('What the collateral is valued by.'),
    oraclePriceAsOf,
    exitLiquidity: z
      .union([
        z.object({ measured: z.literal(false).describe('Not measured: unknown, neither zero nor safe.') }),
        z.object({
          measured: z.literal(true).describe('Measured.'),
          asOf: dateTime('When it was measured.'),
          method: z.string().describe('How it was measured.'),
          direction: z.string().describe('What was sold for what.'),
          slippagePct: z
            .object({ '100000': slippage, '500000': slippage, '1000000': slippage, '5000000': slippage })
            .describe('Percent lost when that many USD of collateral are sold.'),
        }),
      ])
      .describe('What selling the collateral would cost.'),
    noSwapRoute: z
      .boolean()
      .describe('Whether the collateral has no swap route. True while nothing has measured it, see gaps.'),
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
                listingMaxPct: z.number().describe('Most that selling 100k USD may lose, percent.'),
                depthCleanMaxPct: z.number().describe('Most that a clean exit loses, percent.'),
              })
              .describe('What the value was decided by.'),
          })
          .optional()
          .describe('Absent when exit liquidity was not measured.'),
        profile: z
          .object({
            value: z.literal('leveraged_perp').describe('Collateral and loan follow different prices.'),
            leverageApyMeaning: z.string().describe('How to read the leveraged APY of such a market.'),
          })
          .optional()
          .describe('Present only on uncorrelated markets.'),
        warnings: warnings.optional().describe('What to know of values that are shown; absent when there is nothing.'),
      })
      .optional()
      .describe('The only opinions of this contract, with their thresholds.'),
    freshness: z
      .object({ borrow: freshnessValue, collateralApy: freshnessValue, exitLiquidity: freshnessValue })
      .describe(
        'How old each group of facts is. exitLiquidity.asOf is 1970-01-01T00:00:00.000Z while nothing has measured it.',
      ),
    inputFreshness: z
      .object({ prices: freshnessValue.optional(), incentives: freshnessValue.optional() })
      .optional()
      .describe('How old the prices (the older of collateral and loan) and the incentives are; absent = not known.'),
    deployment: deployment
      .optional()
      .describe(
        'What the deployed contract says that ltvPct, the ladder and fees rest on; of an equity vault that of its yield leg. Absent while nothing was measured.',
      ),
    listed: z.boolean().optional().describe('Whether the strategy is in the list of strategies.'),
    notListedBecause: z
      .array(z.string())
      .optional()
      .describe(
        'The listing rules that are not met: has_yield, swap_route, maturity, liquidity, unsupported, paused, venue_not_allowed, catalog_mismatch, and of equity vaults operator_not_approved.',
      ),
    gaps: assumedGaps,
    fees: fees.optional().describe('Fees of the contract; of an equity vault on its yield leg.'),
    links: z
      .object({
        app: z.string().optional().describe('The strategy in the client app.'),
        market: z.string().optional().describe('The market at the lending protocol.'),
        yieldSource: z.string().optional().describe('Where the collateral earns.'),
      })
      .optional()
      .describe('Pages to read on.'),
    equityVault: z
      .object({
        stockMarketId: marketIdString('Market of the stock leg.'),
        yieldStrategyId: z.string().describe('Strategy of the yield leg.'),
        depositToken: z
          .object({
            address: addressString('Token address.'),
            symbol: z.string().describe('Symbol.'),
            decimals: z.int().describe('Base units per token, as a power of ten.'),
          })
          .describe('What deposits are paid with.'),
        targetLtvPct: pct('Stock-leg LTV when a deposit names none.'),
        maxStockLtvPct: pct('Highest stock-leg LTV that a deposit may name.'),
        yieldLegApyPct: pct('APY of the yield leg at its safe LTV.'),
      })
      .optional()
      .describe('Present only on equity vaults.'),
  })
  .meta({
    id: 'Strategy',
    description: 'One leverage strategy: raw facts; the only verdicts stand under spiralHints.',
  });

export const strategiesEnvelope = z
  .object({
    asOf: dateTime('When the facts were published.'),
    chainId: z.int().describe('Chain id.'),
    count: z.int().describe('How many strategies follow.'),
    strategies: z.array(strategySchema).describe('The strategies, equity vaults included.'),
    missing: missingFacts.optional().describe('What the list goes without; absent when it is whole.'),
  })
  .meta({ id: 'Strategies', description: 'The listed strategies of one chain.' });
