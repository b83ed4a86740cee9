import { z } from 'zod';
import { ORACLE_REFERENCE } from '../../shared/vocabulary.ts';
import { addressString, dateTime, decimalString, leftOutChains, marketIdString, pct, usd } from './common.ts';

const nullableTime = (description: string) => z.iso.datetime().nullable().describe(description);

const staleFlag = z
  .boolean()
  .describe('Whether the values are past their freshness budget, or last-good after a failure.');

export const stableApyEnvelope = z
  .object({
    asOf: nullableTime('Time of the reading; null before the first one.'),
    stale: staleFlag,
    stableApy: z
      .array(
        z
          .object({
            id: z.string().describe('Pool id of the index.'),
            asset: z.string().describe('Asset symbol.'),
            metrics: z
              .object({
                apy: z.object({ avg7d: z.number().describe('7-day average APY, percent.') }).describe('Yields.'),
              })
              .describe('The snapshot.'),
            history: z
              .array(z.object({ timestamp: dateTime('Day of the point.'), apy: z.number().describe('APY, percent.') }))
              .describe('Oldest first.'),
          })
          .meta({ id: 'StableApyPool', description: 'One pool of the index.' }),
      )
      .describe('The pools of the index; empty before the first reading.'),
  })
  .meta({ id: 'StableApy', description: 'Stablecoin yield index: snapshot and history.' });

const totals = {
  tvlUsd: usd('Net user equity: collateral minus debt.'),
  grossTvlUsd: usd('Total looped collateral.'),
  borrowedUsd: usd('Total debt.'),
  badDebtUsd: usd(
    'Debt beyond the collateral of its position, which no borrower has to pay; tvlUsd is lower than the equity of the users by this amount. Absent until it is measured.',
  ).optional(),
  divergentUsd: usd(
    'The part of grossTvlUsd that is valued by an oracle far from its reference, see oracleDivergences of the chains. Absent until it is measured.',
  ).optional(),
  positions: z.int().describe('Open positions with non-zero collateral.'),
  users: z.int().describe('Wallets holding at least one such position.'),
};

const oracleDivergence = z
  .object({
    marketId: marketIdString('The market.'),
    oracle: addressString('Its oracle.'),
    against: z.enum(['price', 'range', 'before']).describe(ORACLE_REFERENCE),
    oracleUsd: decimalString('USD per collateral token by the oracle and the price of the loan token.'),
    referenceUsd: decimalString('Reference value, USD.'),
    divergencePct: pct('Deviation of the oracle from its reference, signed.'),
    grossTvlUsd: usd('Collateral in the sums with this oracle.'),
    borrowedUsd: usd('Debt against that collateral.'),
    positions: z.int().describe('Open positions with that collateral.'),
  })
  .meta({ id: 'OracleDivergence', description: 'An oracle that is far from its reference.' });

export const tvlEnvelope = z
  .object({
    asOf: dateTime('Oldest chain snapshot.'),
    stale: z.boolean().describe('Whether any chain is past its budget.'),
    leftOut: leftOutChains,
    total: z.object(totals).describe('All computed chains together.'),
    chains: z
      .array(
        z.object({
          chainId: z.int().describe('The chain.'),
          asOf: dateTime('Time of the computation.'),
          stale: z.boolean().describe('Whether it is past its budget.'),
          oracleDivergences: z
            .array(oracleDivergence)
            .optional()
            .describe(
              'Oracles in the sums that are far from their reference (more than 10 % from a price, outside the range of the kind of token, more than 20 % from the value before a jump), the largest sum first. Empty = none. Absent until they are compared.',
            ),
          ...totals,
        }),
      )
      .describe('By chain; chains that are not computed yet are left out.'),
  })
  .meta({ id: 'Tvl', description: 'Protocol TVL. tvlUsd + borrowedUsd = grossTvlUsd, to the cent.' });

const borrowPoints = z
  .array(
    z
      .object({ x: z.int().describe('Unix seconds.'), y: z.number().describe('Borrow APY, fraction.') })
      .meta({ id: 'BorrowApyPoint', description: 'A point of a borrow-APY history.' }),
  )
  .describe('Oldest first.');
const apyPoints = z
  .array(
    z
      .object({ ts: z.int().describe('Unix milliseconds.'), apy: z.number().describe('Collateral APY, percent.') })
      .meta({ id: 'CollateralApyPoint', description: 'A point of a collateral-APY history.' }),
  )
  .describe('Oldest first.');
const aprPoints = z
  .array(
    z
      .object({ ts: z.int().describe('Unix milliseconds.'), apr: z.number().describe('Incentive APR, percent.') })
      .meta({ id: 'IncentiveAprPoint', description: 'A point of an incentive history.' }),
  )
  .describe('Oldest first.');

const historyGap = z
  .object({
    reason: z
      .string()
      .describe('NONE and NOT_APPLICABLE: there is none. NOT_MEASURED, SOURCE_FAILED, IMPLAUSIBLE: unknown.'),
    message: z.string().describe('One plain sentence.'),
  })
  .meta({ id: 'HistoryGap', description: 'The reason for a missing history.' });

const oneHistory = <P extends z.ZodType>(points: P) =>
  z.object({
    id: marketIdString('Market id.'),
    asOf: nullableTime('Time of the newest point; null = no record.'),
    stale: staleFlag.describe('Whether it is past its freshness budget, or unknown. False if there is none.'),
    history: points,
    gap: historyGap.optional().describe('Reason for a missing history; absent if there is one.'),
  });
const allHistories = <P extends z.ZodType>(points: P) =>
  z.object({
    asOf: nullableTime('Time of the newest point of the oldest history; null = no record.'),
    stale: staleFlag.describe('Whether one of them is past its freshness budget, or unknown.'),
    histories: z.record(z.string(), points).describe('By market id; unknown histories are left out.'),
    gaps: z
      .record(z.string(), historyGap)
      .optional()
      .describe('By market id: reason for a missing history. Absent if every market has one.'),
  });

export const borrowApyHistory = oneHistory(borrowPoints).meta({
  id: 'BorrowApyHistory',
  description: 'Borrow-APY history of one market.',
});
export const borrowApyHistories = allHistories(borrowPoints).meta({
  id: 'BorrowApyHistories',
  description: 'Borrow-APY histories of all markets.',
});
export const collateralApyHistory = oneHistory(apyPoints).meta({
  id: 'CollateralApyHistory',
  description: 'Collateral-APY history of one market.',
});
export const collateralApyHistories = allHistories(apyPoints).meta({
  id: 'CollateralApyHistories',
  description: 'Collateral-APY histories of all markets.',
});
export const incentiveHistory = oneHistory(aprPoints).meta({
  id: 'IncentiveHistory',
  description: 'Borrow-incentive APR history of one market.',
});

export const pricesEnvelope = z
  .object({
    asOf: nullableTime('Time of the oldest price; null = no known price.'),
    stale: staleFlag,
    prices: z
      .record(z.string(), z.number())
      .describe('USD per token by checksummed token address; unknown prices are left out.'),
  })
  .meta({ id: 'Prices', description: 'Latest token and loan USD prices of one chain.' });

const chartPoints = (what: string) =>
  z
    .array(z.tuple([z.number(), z.number()]))
    .describe(`${what} in the requested currency: [unix milliseconds, value], oldest first.`);
export const priceChart = z
  .object({
    prices: chartPoints('Price'),
    market_caps: chartPoints('Market capitalisation'),
    total_volumes: chartPoints('Volume of 24 hours'),
  })
  .meta({ id: 'PriceChart', description: 'Price chart of the provider.' });

export const ohlcvEnvelope = z
  .object({
    chainId: z.int().describe('Chain of the token.'),
    token: addressString('Requested token, checksummed.'),
    pool: z
      .object({
        address: z.string().describe('Pool address.'),
        name: z.string().describe('Pair.'),
        dex: z.string().describe('Exchange.'),
      })
      .describe('The deepest pool holding the token.'),
    timeframe: z.enum(['minute', 'hour', 'day']).describe('Unit of a candle.'),
    aggregate: z.int().describe('Units per candle.'),
    currency: z.literal('usd').describe('Currency of the values.'),
    source: z.string().describe('Provider of the candles.'),
    asOf: dateTime('Time of the fetch.'),
    stale: z.boolean().describe('true = the upstream failed and previous candles, at most 10 minutes old, are served.'),
    candles: z
      .array(
        z.object({
          t: z.int().describe('Start, unix seconds.'),
          o: z.number().describe('First price, USD.'),
          h: z.number().describe('Highest price, USD.'),
          l: z.number().describe('Lowest price, USD.'),
          c: z.number().describe('Last price, USD.'),
          v: z.number().describe('Volume in USD.'),
        }),
      )
      .describe('Oldest first.'),
  })
  .meta({ id: 'Candles', description: 'USD candles of the deepest DEX pool holding the token.' });
