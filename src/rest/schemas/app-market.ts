import { z } from 'zod';
import { APY_SOURCES } from '../../shared/vocabulary.ts';
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
  warnings,
} from './common.ts';

/** Tagged numbers of the app market model (section 2.5), which the client converts before use. */
export const bn = (description: string) =>
  z
    .object({
      $bn: z
        .string()
        .regex(/^-?\d+(\.\d+)?$/)
        .meta({ description: 'Plain decimal, no exponent.', examples: ['1250.5'] }),
    })
    .describe(`${description} Exact decimal.`);
export const bigint = (description: string) =>
  z
    .object({
      $bigint: z
        .string()
        .regex(/^-?\d+$/)
        .meta({ description: 'Plain integer.', examples: ['1250500000'] }),
    })
    .describe(`${description} Integer.`);

const token = z.object({
  address: addressString('Token address.'),
  symbol: z.string().describe('Symbol.'),
  displaySymbol: z.string().describe('Symbol as people see it; a principal token without its date.'),
  name: z.string().describe('Name.'),
  decimals: z.int().describe('Base units per token, as a power of ten.'),
  category: z.string().describe('Kind of token.'),
  isPt: z.boolean().describe('Whether it is a principal token.'),
  maturity: dateTime('Maturity.').nullable().describe('Maturity; null for tokens that do not mature.'),
});

const incentive = z.object({
  aprPct: bn('Sum of the running campaigns, percent.'),
  campaigns: z
    .array(
      z.object({
        id: z.string().describe('Id of the campaign at its provider.'),
        symbol: z.string().describe('Reward token.'),
        aprPct: bn('APR, percent, not compounded.'),
        startsAt: dateTime('Start.'),
        endsAt: dateTime('End.'),
        url: z.string().optional().describe('Page of the campaign.'),
      }),
    )
    .describe('The running campaigns.'),
});

const price = z.object({
  usd: bn('USD per token.'),
  asOf: dateTime('When it was measured.'),
  source: z.string().describe('Where it comes from.'),
});

const means = z.object({
  avg30d: bn('Mean of 30 days, percent.').optional(),
  avg60d: bn('Mean of 60 days, percent.').optional(),
  avg90d: bn('Mean of 90 days, percent.').optional(),
});

export const appMarketSchema = z
  .object({
    id: marketIdString('Market id.'),
    chainId: z.int().describe('Chain of the market.'),
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
        blockNumber: bigint('Block of the reading.'),
        asOf: dateTime('Time of that block.'),
      })
      .describe('What the collateral is worth in the loan token.'),
    oraclePriceAsOf,
    state: z
      .object({
        totalSupplyAssets: bigint('As stored on chain, loan base units.'),
        totalSupplyShares: bigint('As stored on chain.'),
        totalBorrowAssets: bigint('As stored on chain, loan base units.'),
        totalBorrowShares: bigint('As stored on chain.'),
        lastUpdate: dateTime('Last accrual on chain.'),
        fee: bigint('Protocol fee in WAD.'),
        rateAtTarget: bigint('Rate at target utilization, per second in WAD.'),
        borrowRate: bigint('Mean borrow rate since the last accrual, per second in WAD: what debt accrues with.'),
        blockNumber: bigint('Block of the reading.'),
        asOf: dateTime('Time of that block.'),
      })
      .describe('The market as stored on chain.'),
    totalSupplyAssets: bigint('Accrued to the block, loan base units.'),
    totalBorrowAssets: bigint('Accrued to the block, loan base units.'),
    totalSupplyShares: bigint('Accrued to the block.'),
    totalBorrowShares: bigint('Accrued to the block.'),
    liquidityAssets: bigint('What can be borrowed at once, loan base units.'),
    utilization: bigint('Borrowed share of the supply in WAD.'),
    borrowApyPct: bn('Borrow APY that is paid at the block, percent.'),
    netBorrowApyPct: bn(
      'Borrow APY less the borrow incentive (an APR), percent. Without it while incentives are not known, see gaps.',
    ),
    collateralApyPct: bn(
      'APY of the collateral, percent; 0 when its source is none. By source it is implied until maturity, a mean of 7 days, of the last day, or what is paid now.',
    ),
    collateralApySource: z.enum(APY_SOURCES).describe('Where the APY of the collateral comes from.'),
    effectiveCollateralApyPct: bn(
      'APY of the collateral with its incentive (an APR), percent. Without it while incentives are not known, see gaps.',
    ),
    borrowIncentive: incentive
      .nullable()
      .optional()
      .describe('Rewards for borrowing; null = none is running, absent = not measured.'),
    collateralIncentive: incentive
      .nullable()
      .optional()
      .describe('Rewards for supplying the collateral; null = none is running, absent = not measured.'),
    liquidationLtvPct: bn('LTV at which a position can be liquidated, percent.'),
    maxLtvPct: bn(
      'Highest LTV that the contracts accept, percent. By their documented buffer while their own is not known, see gaps.',
    ),
    safeLtvPct: bn(
      'Highest LTV that is opened here, and the default, percent. By the documented buffer while the contract does not tell its own, see gaps.',
    ),
    fees: z
      .object({
        yieldFeePct: bn('Of the yield, at closing and withdrawing on correlated markets; 0 on an uncorrelated one.'),
        depositFeePct: bn('Of what is paid in on uncorrelated markets; 0 on a correlated one.'),
        treasury: addressString('Receives the fees; absent = not known.').optional(),
        freshness: freshnessValue
          .optional()
          .describe('Age of what the contract told; absent = it has told nothing yet.'),
      })
      .optional()
      .describe(
        'What the contract that holds positions takes on this market, percent. By the documented rates (5 and 1) while it does not tell its own, see gaps.',
      ),
    deployment: deployment
      .optional()
      .describe(
        'What the deployed contract says that maxLtvPct, safeLtvPct and fees rest on; absent on stock legs, and while nothing was measured.',
      ),
    supplyUsd: bn('All that is supplied, USD.').optional(),
    liquidityUsd: bn('What can be borrowed at once, USD.').optional(),
    publicAllocatorLiquidityUsd: bn('The same with what the public allocator could bring, USD.').optional(),
    collateralPrice: price.optional().describe('Price of the collateral; absent when not known.'),
    loanPrice: price.optional().describe('Price of the loan token; absent when not known.'),
    exitSlippage: z
      .record(z.string(), bn('Percent lost.').nullable())
      .optional()
      .describe('Percent lost by USD size; null = no route at that size.'),
    sharedLiquidity: z
      .array(
        z.object({
          vault: addressString('Vault.'),
          vaultName: z.string().optional().describe('Name of the vault.'),
          withdrawMarketId: marketIdString('Market that the liquidity would come from.'),
          assets: bigint('Loan base units.'),
          feeWei: bigint('Fee of the vault, wei of the native token.'),
        }),
      )
      .optional()
      .describe('What vaults could move here; absent when not measured.'),
    trailing: z
      .object({
        collateralApyPct: means.describe('APY of the collateral, without incentives.'),
        effectiveCollateralApyPct: means.optional().describe('The same with the incentives then active.'),
        netBorrowApyPct: means.optional().describe('Borrow APY less the incentives then active.'),
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
      .describe(
        'How old each group of facts is. exitLiquidity.asOf is 1970-01-01T00:00:00.000Z while nothing has measured it.',
      ),
    warnings: warnings.describe('What to know of the values that are shown; empty when there is nothing.'),
    gaps: assumedGaps,
  })
  .meta({ id: 'AppMarket', description: 'One market at full precision.' });

export const appMarketsEnvelope = z
  .object({
    asOf: dateTime('When the oldest chain was published.'),
    count: z.int().describe('How many markets.'),
    markets: z.array(appMarketSchema).describe('The markets, in catalog order.'),
    leftOut: leftOutChains,
    missing: z
      .array(missingFacts.extend({ chainId: z.int().describe('Chain id.') }))
      .optional()
      .describe('What the list goes without, chain by chain; absent when it is whole.'),
  })
  .meta({ id: 'AppMarkets', description: 'All markets of all chains, listed or not.' });
