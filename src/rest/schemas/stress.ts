import { z } from 'zod';
import { RATE_PATHS, REACH_STATES, STRESS_ENDS, STRESS_SCENARIOS } from '../../shared/vocabulary.ts';
import { addressString, dateTime, freshnessValue, readAt } from './common.ts';
import { chainIdNumber, decimalString, leverageString, pct, wholeNumber } from './numbers.ts';

export const limitReach = z
  .object({
    reached: z
      .enum(REACH_STATES)
      .describe(
        'ALREADY: the LTV is above the limit. IN_DAYS: it reaches it. NEVER: it does not, or there is no debt.',
      ),
    days: decimalString('Days from now, 1 decimal; null unless reached is IN_DAYS.').nullable(),
  })
  .meta({ id: 'LimitReach', description: 'Whether and when an LTV reaches a limit.' });

const reach = (description: string) => limitReach.optional().describe(`${description} Absent = not known.`);

/** One row; a field that is not known is absent, one that does not apply is null. */
export const stressRowSchema = z
  .object({
    scenario: z
      .enum(STRESS_SCENARIOS)
      .describe(
        "TODAY: nothing changes. COLLATERAL_PRICE: the oracle's price falls. LOAN_PRICE: the loan token's price changes against the collateral's; an oracle of a redemption rate does not reflect it, one of unknown kind is assumed to follow a rise, and not a fall. BORROW_RATE: the rate rises; 100 % more is twice. FULL_UTILIZATION: the adaptive curve at 100 %. MARKET_BELOW_ORACLE: an exit is paid less than the oracle says. EXIT_AT_MEASURED_SLIPPAGE: an exit with the measured loss. NO_EXIT: nobody buys the collateral.",
      ),
    changePct: pct('Change of the scenario; null without one, absent = the exit was not measured.')
      .nullable()
      .optional(),
    oraclePrice: decimalString(
      "The oracle's price in it, loan tokens per collateral token; null for several positions.",
    ).nullable(),
    ltvPct: pct("LTV at the oracle's price; null = worthless collateral.", { min: 0 }).nullable().optional(),
    exactLtvPct: pct('LTV with 18 decimals, rounded up; null for several positions.', { min: 0 }).nullable(),
    headroomPct: pct('Points of LTV to liquidation; of several positions the least.').nullable().optional(),
    equity: decimalString(
      'Collateral less debt, of an exit its proceeds less the debt, whole loan tokens; null for several positions, and without an exit.',
      {},
    )
      .nullable()
      .optional(),
    equityUsd: decimalString(
      'The same in USD; of several positions the sum of those that are not under water, because debt beyond the collateral is not owed. null without an exit.',
      {},
    )
      .nullable()
      .optional(),
    netApyPct: pct('Net APY on the equity at the exact leverage; null without equity.').nullable().optional(),
    endsBy: z
      .enum(STRESS_ENDS)
      .optional()
      .describe(
        'LIQUIDATION: it can be liquidated at once. NO_EXIT: a sale does not repay the debt. CARRY: the debt outgrows the collateral, see liquidationIn. NOTHING: it holds. Of several positions the worst; absent = not known.',
      ),
    endedPositions: wholeNumber('Number of positions that can be liquidated at once.'),
    liquidationIn: reach('Time to liquidation if the scenario lasts; of several positions the first.'),
  })
  .meta({ id: 'StressRow', description: 'One scenario.' });

const projection = z
  .object({
    path: z
      .enum(RATE_PATHS)
      .describe(
        "TODAYS_RATE: the borrow rate stays. CONSTANT_UTILIZATION and FULL_UTILIZATION: the protocol's adaptive curve moves it, at today's utilization or at 100 %.",
      ),
    safe: reach('The highest LTV of builds.'),
    max: reach('The highest LTV of the contracts.'),
    liquidation: reach('The liquidation LTV.'),
  })
  .meta({ id: 'LtvProjection', description: "Time until the LTV reaches its limits at today's price." });

/** A field that is not known is absent, one that does not apply is null. */
export const recordedMoveSchema = z
  .object({
    windowDays: wholeNumber('Length of the window in days: 1, 7 or 30.', { min: 1 }),
    survived: z
      .boolean()
      .optional()
      .describe(
        'Whether the position could not be liquidated after a rise of its LTV by worstLtvRisePct; of several positions all of them. Absent = not known.',
      ),
    ltvPct: pct('LTV after that rise; null for several positions.', { min: 0 }).nullable().optional(),
    worstFallPct: pct("Largest fall of the oracle's price.", { min: 0 }).optional(),
    worstInterestPct: pct('Largest interest of a debt, of the debt.', { min: 0 }).optional(),
    worstLtvRisePct: pct('Largest rise of the LTV by price and interest together, of the LTV.', { min: 0 }).optional(),
    maxLeverage: leverageString(
      'The highest leverage that survives that rise; may be above the limit of the contracts; null for several positions.',
    )
      .nullable()
      .optional(),
    worstFromAt: dateTime('Sample at which that rise began; null = the LTV never rose, or several positions.')
      .nullable()
      .optional(),
    worstToAt: dateTime('Sample at which it ended; null as worstFromAt.').nullable().optional(),
    windowCount: wholeNumber(
      'Number of whole windows in the record, which overlap; below 24 nothing is known. Of several positions the least.',
    ),
    sampleCount: wholeNumber('Number of hourly samples; of several positions the least.'),
    missingHours: wholeNumber('Number of hours within the record without a sample; of several positions the most.'),
    doubtedSamples: wholeNumber(
      'Number of samples left out as implausible; of several positions the most. Values that would be worse if they are right are absent.',
    ),
    recordedFromAt: dateTime('Time of the first sample; absent without one.').optional(),
    recordedToAt: dateTime('Time of the last sample; absent without one.').optional(),
  })
  .meta({
    id: 'RecordedMove',
    description:
      'The worst recorded moves of a market within a window, in the last 90 days of our own hourly samples of oracle price and borrow rate, and whether the position would survive them from today on.',
  });

export const stressTableSchema = z
  .object({
    positionCount: wholeNumber('Number of open positions in it; a vault has one per leg.'),
    uncountedPositions: wholeNumber('Number of open positions that cannot be valued now and are not in it.'),
    dropToLiquidationPct: pct(
      "Fall of the oracle's price until liquidation; of several positions the least; null without debt.",
    ).nullable(),
    lowestHealthyPrice: decimalString(
      "Lowest oracle price without liquidation, loan tokens per collateral token, exact: one unit of the oracle's price below, it can be liquidated; null without debt, and for several positions.",
    ).nullable(),
    rows: z
      .array(stressRowSchema)
      .describe('One per scenario, always in the same order; empty without an open position.'),
    projections: z.array(projection).describe('One per path of the borrow rate.'),
    recordedMoves: z
      .array(recordedMoveSchema)
      .describe('The worst that was recorded, one per length of window; empty without an open position.'),
  })
  .meta({ id: 'StressTable', description: 'Outcomes of a position, or of several together, in bad days.' });

export const strategyStress = z
  .object({
    id: z.string().describe('Id of the strategy.'),
    freshness: z
      .object({
        borrow: freshnessValue.describe('Age of the market state: rates, supply and debt.'),
        oracle: freshnessValue.describe("Age of the reading of the oracle's price."),
      })
      .describe('Age of the facts that the table rests on; of an equity vault those of its stock leg.'),
    stress: stressTableSchema,
  })
  .meta({ id: 'StrategyStress', description: 'Stress table of a deposit into a strategy.' });

export const walletStress = z
  .object({
    chainId: chainIdNumber('The chain.'),
    readAt,
    userAddress: addressString('The wallet.'),
    stress: stressTableSchema.describe('All open positions and vaults together.'),
    positions: z
      .array(
        z
          .object({
            id: wholeNumber('Index of the position on chain.'),
            positionId: z.string().describe('`{chainId}-{marketId}-{id}`.'),
            strategyId: z.string().describe('Id of the strategy.'),
            stress: stressTableSchema,
          })
          .meta({ id: 'PositionStress', description: 'Stress table of one position.' }),
      )
      .describe('Open plain positions, newest first.'),
    equityPositions: z
      .array(
        z
          .object({ strategyId: z.string().describe('Id of the vault.'), stress: stressTableSchema })
          .meta({ id: 'EquityPositionStress', description: 'Stress table of both legs of a vault.' }),
      )
      .describe('Open vaults, in catalog order.'),
  })
  .meta({ id: 'WalletStress', description: 'Stress tables of a wallet.' });
