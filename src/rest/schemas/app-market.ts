import { z } from 'zod';
import { addressString, dateTime, freshnessValue, marketIdString } from './common.ts';

/** Tagged numbers of the app market model (section 2.5): the client revives them before use. */
export const bn = (description: string) =>
  z.object({ $bn: z.string().regex(/^-?\d+(\.\d+)?$/) }).describe(`${description} Exact decimal.`);
export const bigint = (description: string) =>
  z.object({ $bigint: z.string().regex(/^-?\d+$/) }).describe(`${description} Integer.`);

const token = z.object({
  address: addressString('Token address.'),
  symbol: z.string().describe('Symbol.'),
  displaySymbol: z.string().describe('Symbol as people see it; a principal token without its date.'),
  name: z.string(),
  decimals: z.int(),
  category: z.string().describe('Kind of token.'),
  isPt: z.boolean(),
  maturity: dateTime('Maturity; null for tokens that do not mature.').nullable(),
});

const incentive = z.object({
  aprPct: bn('Sum of the running campaigns, percent.'),
  campaigns: z.array(
    z.object({
      id: z.string(),
      symbol: z.string().describe('Reward token.'),
      aprPct: bn('Percent.'),
      startsAt: dateTime('Start.'),
      endsAt: dateTime('End.'),
      url: z.string().optional(),
    }),
  ),
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
    chainId: z.int(),
    kind: z.string().describe('LOOP, or STOCK for the stock leg of equity vaults.'),
    visible: z.boolean().describe('Whether its strategy is listed.'),
    correlated: z.boolean(),
    curator: z.string().optional().describe('Present only on partner-curated markets.'),
    collateral: token,
    loan: token,
    irm: addressString('Interest-rate model.'),
    lltv: bigint('Liquidation LTV in WAD.'),
    oracle: z.object({
      address: addressString('Oracle.'),
      type: z.string().optional(),
      price: bigint('Loan base units per collateral base unit, scaled by 1e36.'),
      blockNumber: bigint('Block of the reading.'),
      asOf: dateTime('Time of that block.'),
    }),
    state: z
      .object({
        totalSupplyAssets: bigint('As stored on chain, loan base units.'),
        totalSupplyShares: bigint('As stored on chain.'),
        totalBorrowAssets: bigint('As stored on chain, loan base units.'),
        totalBorrowShares: bigint('As stored on chain.'),
        lastUpdate: dateTime('Last accrual on chain.'),
        fee: bigint('Protocol fee in WAD.'),
        rateAtTarget: bigint('Rate at target utilization, per second in WAD.'),
        borrowRate: bigint('Borrow rate, per second in WAD.'),
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
    borrowApyPct: bn('Percent.'),
    netBorrowApyPct: bn('Less the borrow incentive, percent.'),
    collateralApyPct: bn('Percent.'),
    collateralApySource: z.string(),
    effectiveCollateralApyPct: bn('With the collateral incentive, percent.'),
    borrowIncentive: incentive.nullable().optional(),
    collateralIncentive: incentive.nullable().optional(),
    liquidationLtvPct: bn('Percent.'),
    maxLtvPct: bn('Percent.'),
    safeLtvPct: bn('Percent.'),
    supplyUsd: bn('USD.').optional(),
    liquidityUsd: bn('USD.').optional(),
    publicAllocatorLiquidityUsd: bn('USD.').optional(),
    collateralPrice: price.optional(),
    loanPrice: price.optional(),
    exitSlippage: z
      .record(z.string(), bn('Percent lost.').nullable())
      .optional()
      .describe('Percent lost by USD size; null = no route at that size.'),
    sharedLiquidity: z
      .array(
        z.object({
          vault: addressString('Vault.'),
          vaultName: z.string().optional(),
          withdrawMarketId: marketIdString('Market that the liquidity would come from.'),
          assets: bigint('Loan base units.'),
          feeWei: bigint('Fee of the vault, wei of the native token.'),
        }),
      )
      .optional(),
    trailing: z.object({
      collateralApyPct: means,
      effectiveCollateralApyPct: means.optional(),
      netBorrowApyPct: means.optional(),
      leverageApyPct: means.optional(),
      quarterlyBorrowApyPct: bn('Percent.').optional(),
    }),
    freshness: z.object({
      borrow: freshnessValue,
      oracle: freshnessValue,
      collateralApy: freshnessValue,
      exitLiquidity: freshnessValue,
    }),
  })
  .meta({ id: 'AppMarket', description: 'One market at full precision.' });

export const appMarketsEnvelope = z
  .object({
    asOf: dateTime('When the oldest chain was published.'),
    count: z.int(),
    markets: z.array(appMarketSchema),
  })
  .meta({ id: 'AppMarkets', description: 'All markets of all chains, listed or not.' });
