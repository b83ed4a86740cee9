import { z } from 'zod';
import { APY_SOURCES, RESTRICTION_MEANINGS, RESTRICTIONS } from '../../shared/vocabulary.ts';
import {
  addressString,
  assumedGaps,
  dateTime,
  deployment,
  freshnessValue,
  leftOutChains,
  marketIdString,
  missingFacts,
  oraclePriceAsOf,
  uri,
  warnings,
} from './common.ts';
import { readMeta } from './fresh-reads.ts';
import { chainIdNumber, decimalsNumber, type NumberRange, rangeSentence, wholeNumber } from './numbers.ts';

/** Tagged numbers of the app market model (section 2.5), which the client converts before use. */
const exactDecimal = z
  .object({
    $bn: z
      .string()
      .regex(/^-?\d+(\.\d+)?$/)
      .meta({
        description: 'Plain decimal, no exponent. The field that has it names unit and range.',
        examples: ['1250.5'],
      }),
  })
  .meta({ id: 'ExactDecimal', description: 'An exact decimal.' });
const exactInteger = z
  .object({
    $bigint: z
      .string()
      .regex(/^-?\d+$/)
      .meta({ description: 'Plain integer. The field that has it names unit and range.', examples: ['1250500000'] }),
  })
  .meta({ id: 'ExactInteger', description: 'An exact integer.' });
const bn = (description: string, range: NumberRange = { min: 0 }) =>
  exactDecimal.describe(`${description} Exact decimal. ${rangeSentence(range)}`);
const bigint = (description: string) => exactInteger.describe(`${description} Integer, 0 or more.`);

const token = z
  .object({
    address: addressString('Token address.'),
    symbol: z.string().describe('Symbol.'),
    displaySymbol: z.string().describe('Display symbol; a principal token without its date.'),
    name: z.string().describe('Name.'),
    decimals: decimalsNumber(),
    category: z.string().describe('Kind of token.'),
    isPt: z.boolean().describe('Whether it is a principal token.'),
    maturity: dateTime('Maturity.').nullable().describe('Maturity; null for tokens that do not mature.'),
  })
  .meta({ id: 'AppToken', description: 'A token of a market.' });

const incentive = z
  .object({
    aprPct: bn('Sum of the running campaigns, percent.'),
    campaigns: z
      .array(
        z.object({
          id: z.string().describe('Id of the campaign at its provider.'),
          symbol: z.string().describe('Reward token.'),
          aprPct: bn('APR, percent, not compounded.'),
          startsAt: dateTime('Start.'),
          endsAt: dateTime('End.'),
          url: uri('Page of the campaign.').optional(),
        }),
      )
      .describe('The running campaigns.'),
    lowerBound: z
      .literal(true)
      .optional()
      .describe('A running campaign could not be read: aprPct is at least this. Absent = all were read.'),
    restricted: z
      .array(
        z.object({
          id: z.string().describe('Id of the campaign at its provider.'),
          symbol: z.string().describe('Reward token.'),
          reason: z.enum(RESTRICTIONS).describe(RESTRICTION_MEANINGS),
          aprPct: bn('APR by its provider, for those who earn it, percent; absent = not given.').optional(),
          endsAt: dateTime('End.'),
          url: uri('Page of the campaign.').optional(),
        }),
      )
      .optional()
      .describe('Running campaigns that are in no APY; absent = none.'),
  })
  .meta({ id: 'AppIncentive', description: 'The running rewards of one side of a market.' });

const price = z
  .object({
    usd: bn('USD per token.'),
    asOf: dateTime('Time of the measurement.'),
    source: z.string().describe('Source of the price.'),
  })
  .meta({ id: 'AppPrice', description: 'A price.' });

const means = z
  .object({
    avg30d: bn('Mean of 30 days, percent.', {}).optional(),
    avg60d: bn('Mean of 60 days, percent.', {}).optional(),
    avg90d: bn('Mean of 90 days, percent.', {}).optional(),
  })
  .meta({
    id: 'AppMeans',
    description: 'Means over trailing windows, percent; absent where the history is too short.',
  });

export const appMarketSchema = z
  .object({
    id: marketIdString('Market id.'),
    chainId: chainIdNumber('Chain of the market.'),
    kind: z.string().describe('LOOP, or STOCK for the stock leg of equity vaults.'),
    visible: z.boolean().describe('Whether its strategy is listed.'),
    correlated: z.boolean().describe('Whether collateral and loan follow the same price.'),
    curator: z.string().optional().describe('Present only on partner-curated markets.'),
    collateral: token.describe('Collateral token.'),
    loan: token.describe('Loan token.'),
    irm: addressString('Interest-rate model.'),
    lltv: bigint('Liquidation LTV in WAD.'),
    oracle: z
      .object({
        address: addressString('Oracle.'),
        type: z.string().optional().describe('nav (redemption rate) or market (traded price).'),
        price: bigint('Loan base units per collateral base unit, scaled by 1e36.'),
        blockNumber: bigint('Number of the block of the reading.'),
        asOf: dateTime('Time of that block.'),
      })
      .describe('Value of the collateral in the loan token.'),
    oraclePriceAsOf,
    state: z
      .object({
        totalSupplyAssets: bigint('As stored on chain, loan base units.'),
        totalSupplyShares: bigint('As stored on chain, shares.'),
        totalBorrowAssets: bigint('As stored on chain, loan base units.'),
        totalBorrowShares: bigint('As stored on chain, shares.'),
        lastUpdate: dateTime('Last accrual on chain.'),
        fee: bigint('Protocol fee in WAD.'),
        rateAtTarget: bigint('Rate at target utilization, per second in WAD.'),
        borrowRate: bigint(
          'Mean borrow rate since the last accrual, per second in WAD: the rate at which debt accrues.',
        ),
        blockNumber: bigint('Number of the block of the reading.'),
        asOf: dateTime('Time of that block.'),
      })
      .describe('The market as stored on chain.'),
    totalSupplyAssets: bigint('Accrued to the block, loan base units.'),
    totalBorrowAssets: bigint('Accrued to the block, loan base units.'),
    totalSupplyShares: bigint('Accrued to the block, shares.'),
    totalBorrowShares: bigint('Accrued to the block, shares.'),
    liquidityAssets: bigint('Borrowable at once, loan base units.'),
    utilization: bigint('Borrowed share of the supply in WAD.'),
    borrowApyPct: bn('Borrow APY at the block, percent.'),
    netBorrowApyPct: bn(
      'Borrow APY less the borrow incentive (an APR), percent. Excludes the incentive while it is unknown, see gaps.',
      {},
    ),
    collateralApyPct: bn(
      'APY of the collateral, percent; 0 when its source is none. Depending on the source it is implied until maturity, a mean of 7 days, of the last day, or the present rate.',
      {},
    ),
    collateralApySource: z.enum(APY_SOURCES).describe('Source of the APY of the collateral.'),
    effectiveCollateralApyPct: bn(
      'APY of the collateral with its incentive (an APR), percent. Excludes the incentive while it is unknown, see gaps.',
      {},
    ),
    borrowIncentive: incentive
      .nullable()
      .optional()
      .describe('Rewards for borrowing; null = none, absent = not measured.'),
    collateralIncentive: incentive
      .nullable()
      .optional()
      .describe('Rewards for supplying the collateral; null = none, absent = not measured.'),
    liquidationLtvPct: bn('Liquidation LTV, percent.'),
    maxLtvPct: bn(
      "Highest LTV that the contracts accept, percent. Uses the documented buffer while the contract's own is unknown, see gaps.",
    ),
    safeLtvPct: bn(
      "Highest and default LTV for opening, percent. Uses the documented buffer while the contract's own is unknown, see gaps.",
    ),
    fees: z
      .object({
        yieldFeePct: bn(
          'Share of the yield, percent, due when closing and withdrawing on correlated markets; 0 on an uncorrelated one.',
        ),
        depositFeePct: bn('Share of each payment, percent, on uncorrelated markets; 0 on a correlated one.'),
        treasury: addressString('Receiver of the fees; absent = unknown.').optional(),
        freshness: freshnessValue.optional().describe("Age of the contract's terms; absent = not read yet."),
      })
      .optional()
      .describe(
        "Fees of the product's contract on this market, percent. Uses the documented rates (5 and 1) while the contract's own are unknown, see gaps.",
      ),
    deployment: deployment
      .optional()
      .describe(
        'Terms of the deployed contract behind maxLtvPct, safeLtvPct and fees; absent on stock legs, and while they are unmeasured.',
      ),
    supplyUsd: bn('Supply, USD.').optional(),
    liquidityUsd: bn('Borrowable at once, USD.').optional(),
    publicAllocatorLiquidityUsd: bn("The same including the public allocator's maximum, USD.").optional(),
    collateralPrice: price.optional().describe('Price of the collateral; absent when unknown.'),
    loanPrice: price.optional().describe('Price of the loan token; absent when unknown.'),
    exitSlippage: z
      .record(z.string(), bn('Loss, percent.', {}).nullable())
      .optional()
      .describe('Loss in percent by USD size; null = no route at that size.'),
    sharedLiquidity: z
      .array(
        z.object({
          vault: addressString('Vault.'),
          vaultName: z.string().optional().describe('Name of the vault.'),
          withdrawMarketId: marketIdString('Market that would supply the liquidity.'),
          assets: bigint('Loan base units.'),
          feeWei: bigint('Fee of the vault, wei of the native token.'),
        }),
      )
      .optional()
      .describe('Liquidity that vaults could move here; absent when not measured.'),
    trailing: z
      .object({
        collateralApyPct: means.describe('APY of the collateral, without incentives.'),
        effectiveCollateralApyPct: means.optional().describe('The same with the incentives of that time.'),
        netBorrowApyPct: means.optional().describe('Borrow APY less the incentives of that time.'),
        leverageApyPct: means.optional().describe('Both, levered at the safe LTV.'),
        quarterlyBorrowApyPct: bn('Mean borrow APY of 90 days, percent.').optional(),
      })
      .describe('Trailing means; absent where the history does not cover the window.'),
    freshness: z
      .object({
        borrow: freshnessValue,
        oracle: freshnessValue,
        collateralApy: freshnessValue,
        exitLiquidity: freshnessValue,
      })
      .describe('Age of each group of facts. exitLiquidity.asOf is 1970-01-01T00:00:00.000Z while it is unmeasured.'),
    warnings: warnings.describe('Warnings about returned values; empty = none.'),
    gaps: assumedGaps,
  })
  .meta({ id: 'AppMarket', description: 'One market at full precision.' });

export const appMarketsEnvelope = z
  .object({
    asOf: dateTime('Time of the oldest published chain.'),
    count: wholeNumber('Number of markets.'),
    markets: z.array(appMarketSchema).describe('The markets, in catalog order.'),
    leftOut: leftOutChains,
    meta: readMeta,
    missing: z
      .array(missingFacts.extend({ chainId: chainIdNumber() }))
      .optional()
      .describe('Missing parts of the list, by chain; absent when it is complete.'),
  })
  .meta({ id: 'AppMarkets', description: 'All markets of all chains, listed or not.' });

const briefToken = token.pick({ address: true, displaySymbol: true, category: true, maturity: true });

/** The fields that compare markets. */
export const marketBriefSchema = appMarketSchema
  .pick({
    id: true,
    chainId: true,
    kind: true,
    visible: true,
    collateralApyPct: true,
    netBorrowApyPct: true,
    liquidationLtvPct: true,
    maxLtvPct: true,
    supplyUsd: true,
    liquidityUsd: true,
  })
  .extend({ collateral: briefToken, loan: briefToken })
  .meta({ id: 'MarketBrief', description: 'A market with the fields that compare it to others.' });

export const marketBriefsEnvelope = appMarketsEnvelope
  .extend({ markets: z.array(marketBriefSchema) })
  .meta({ id: 'MarketBriefs', description: 'All markets, in brief.' });
