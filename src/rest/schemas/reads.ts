import { z } from 'zod';
import { STRATEGY_ID_PATTERN } from '../../shared/ids.ts';
import { ORACLE_REFERENCE } from '../../shared/vocabulary.ts';
import { addressString, dateTime, leftOutChains, marketIdString } from './common.ts';
import { readMeta } from './fresh-reads.ts';
import {
  chainIdNumber,
  decimalString,
  jsonNumber,
  largeNumber,
  leverageString,
  type NumberRange,
  pct,
  usd,
  wholeNumber,
} from './numbers.ts';

/** Yields of the index outside this range are refused when they are read. */
const INDEX_APY: NumberRange = { above: -100, max: 1_000 };
/** The same of incentives. */
const INCENTIVE_APR: NumberRange = { min: 0, max: 1_000 };

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
                apy: z.object({ avg7d: jsonNumber('7-day average APY, percent.', INDEX_APY) }).describe('Yields.'),
              })
              .describe('The snapshot.'),
            history: z
              .array(
                z.object({ timestamp: dateTime('Day of the point.'), apy: jsonNumber('APY, percent.', INDEX_APY) }),
              )
              .describe('Oldest first.'),
          })
          .meta({ id: 'StableApyPool', description: 'One pool of the index.' }),
      )
      .describe('The pools of the index; empty before the first reading.'),
  })
  .meta({ id: 'StableApy', description: 'Stablecoin yield index: snapshot and history.' });

export const stableYieldsEnvelope = stableApyEnvelope
  .extend({ stableApy: z.array(stableApyEnvelope.shape.stableApy.element.omit({ history: true })) })
  .meta({ id: 'StableYields', description: 'Stablecoin yield index without histories.' });

const totals = {
  tvlUsd: usd('Net user equity: collateral minus debt.', {}),
  grossTvlUsd: usd('Total looped collateral.'),
  borrowedUsd: usd('Total debt.'),
  badDebtUsd: usd(
    'Debt beyond the collateral of its position, which no borrower has to pay; tvlUsd is lower than the equity of the users by this amount. Absent until it is measured.',
  ).optional(),
  divergentUsd: usd(
    'The part of grossTvlUsd that is valued by an oracle far from its reference, see oracleDivergences of the chains. Absent until it is measured.',
  ).optional(),
  positions: wholeNumber('Number of open positions with non-zero collateral.'),
  users: wholeNumber('Number of wallets holding at least one such position.'),
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
    positions: wholeNumber('Number of open positions with that collateral.'),
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
          chainId: chainIdNumber('The chain.'),
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
      .object({ x: largeNumber('Unix seconds.'), y: jsonNumber('Borrow APY, fraction: 0.05 is 5 %.') })
      .meta({ id: 'BorrowApyPoint', description: 'A point of a borrow-APY history.' }),
  )
  .describe('Oldest first.');
const apyPoints = z
  .array(
    z
      .object({ ts: largeNumber('Unix milliseconds.'), apy: jsonNumber('Collateral APY, percent.', {}) })
      .meta({ id: 'CollateralApyPoint', description: 'A point of a collateral-APY history.' }),
  )
  .describe('Oldest first.');
const aprPoints = z
  .array(
    z
      .object({ ts: largeNumber('Unix milliseconds.'), apr: jsonNumber('Incentive APR, percent.', INCENTIVE_APR) })
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
    id: z.string().regex(STRATEGY_ID_PATTERN).describe('The id that was asked: of a market or of an equity vault.'),
    marketId: marketIdString('Of an equity vault the market whose history this is; absent of a market.').optional(),
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

export const leveragedApyHistory = z
  .object({
    id: z.string().regex(STRATEGY_ID_PATTERN).describe('Id of the strategy.'),
    leverage: leverageString('Leverage of all points; of a vault 1 + LTV of the stock leg.'),
    asOf: nullableTime('Time of the older rate; null = one of them is not known.'),
    stale: staleFlag.describe('Whether it is past its freshness budget, or unknown.'),
    history: z
      .array(
        z
          .object({
            ts: largeNumber('Start of the UTC day, unix milliseconds.'),
            apy: pct('Leveraged APY of the day.'),
          })
          .meta({ id: 'LeveragedApyPoint', description: 'A day of a leveraged-APY history.' }),
      )
      .describe('Oldest first. A day that lacks one of the rates is left out.'),
    gap: historyGap.optional().describe('Reason for a missing history; absent if there is one.'),
  })
  .meta({ id: 'LeveragedApyHistory', description: 'Leveraged-APY history of one strategy.' });

export const pricesEnvelope = z
  .object({
    asOf: nullableTime('Time of the oldest price; null = no known price.'),
    stale: staleFlag,
    prices: z
      .record(z.string(), jsonNumber('USD per whole token.', { above: 0 }))
      .describe('USD per token by checksummed token address; unknown prices are left out.'),
    meta: readMeta,
  })
  .meta({ id: 'Prices', description: 'Latest token and loan USD prices of one chain.' });

const chartPoints = (what: string) =>
  z
    .array(z.array(jsonNumber('Unix milliseconds, then the value in the requested currency.')).length(2))
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
    chainId: chainIdNumber('Chain of the token.'),
    token: addressString('Requested token, checksummed.'),
    pool: z
      .object({
        address: z.string().describe('Pool address.'),
        name: z.string().describe('Pair.'),
        dex: z.string().describe('Exchange.'),
      })
      .describe('The deepest pool holding the token.'),
    timeframe: z.enum(['minute', 'hour', 'day']).describe('Unit of a candle.'),
    aggregate: wholeNumber('Units of the timeframe per candle.', { min: 1, max: 15 }),
    currency: z.literal('usd').describe('Currency of the values.'),
    source: z.string().describe('Provider of the candles.'),
    asOf: dateTime('Time of the fetch.'),
    stale: z.boolean().describe('true = the upstream failed and previous candles, at most 10 minutes old, are served.'),
    candles: z
      .array(
        z.object({
          t: largeNumber('Start, unix seconds.'),
          o: jsonNumber('First price, USD.', { above: 0 }),
          h: jsonNumber('Highest price, USD.', { above: 0 }),
          l: jsonNumber('Lowest price, USD.', { above: 0 }),
          c: jsonNumber('Last price, USD.', { above: 0 }),
          v: jsonNumber('Volume in USD.'),
          unbacked: z
            .literal(true)
            .optional()
            .describe(
              'The volume is too small for the prices to be those of the pool: below 0.01 % of its reserve, or below 1 % of the reserve times the move from the last backed close (0.18 for 18 %). Absent = it is not.',
            ),
        }),
      )
      .describe('Oldest first.'),
  })
  .meta({ id: 'Candles', description: 'USD candles of the deepest DEX pool holding the token.' });
