import { builder } from '../../../schema/builder.ts';
import { enumValues } from '../../../schema/common/enum-values.ts';
import { gapsOf } from '../../../schema/common/gaps.ts';
import { EquityPositionRef } from '../../../schema/equity/equity-position.ts';
import { PositionRef } from '../../../schema/position/position.ts';
import { WalletRef } from '../../../schema/position/wallet.ts';
import { StrategyRef } from '../../../schema/refs.ts';
import { withWork } from '../../../shared/contract/work-costs.ts';
import { WINDOW_DAYS } from '../domain/record.ts';
import { SCENARIOS } from '../domain/scenarios.ts';
import type { FormattedProjection, FormattedReach, FormattedStressRow } from '../domain/table.ts';
import type { RatePath, ReachState, StressEnd, StressScenario } from '../domain/types.ts';
import {
  DEFAULT_STRESS_EQUITY_USD,
  recordedMovesOf,
  type StressView,
  stressOfPosition,
  stressOfStrategy,
  stressOfVault,
  stressOfWallet,
} from '../resolvers/stress.ts';
import { RecordedMoveRef } from './recorded-moves.ts';

const ScenarioRef = builder.enumType('StressScenario', {
  description: 'Change of one row of a stress table. Everything else stays as it is today.',
  values: enumValues<StressScenario>({
    TODAY: 'Nothing.',
    COLLATERAL_PRICE: "The oracle's price of the collateral falls by `changePct`.",
    LOAN_PRICE:
      'The loan token leaves its peg: its price changes by `changePct` against the USD price of the collateral. An oracle of a redemption rate does not reflect it; another one is assumed to follow a rise, and not a fall.',
    BORROW_RATE: 'The borrow rate rises by `changePct`: 100 is twice, 300 four times the rate.',
    FULL_UTILIZATION:
      'Nothing is left to borrow in the market: the rate of the adaptive curve at 100 % utilization, which rises with every day.',
    MARKET_BELOW_ORACLE:
      'The market pays less for the collateral than the oracle says, by `changePct`: the equity is that after an exit.',
    EXIT_AT_MEASURED_SLIPPAGE:
      'All collateral is sold with the loss that was measured for a sale of the next larger size, `changePct`.',
    NO_EXIT: 'The collateral cannot be sold.',
  }),
});

const EndRef = builder.enumType('StressEnd', {
  description: 'End of a position in a scenario; of several ends the first in this order: liquidation, no exit, carry.',
  values: enumValues<StressEnd>({
    LIQUIDATION: 'The position can be liquidated at once.',
    NO_EXIT: 'Selling all collateral does not repay the debt, or there is no buyer.',
    CARRY: 'The debt grows faster than the collateral, until it can be liquidated: see `liquidationIn`.',
    NOTHING: 'The position holds as long as the scenario does.',
  }),
});

const PathRef = builder.enumType('RatePath', {
  description: 'The borrow rate that an LTV is projected with.',
  values: enumValues<RatePath>({
    TODAYS_RATE: 'The rate of today stays.',
    CONSTANT_UTILIZATION:
      'The utilization of the market stays, and the adaptive curve moves its rate accordingly, by the model of the protocol.',
    FULL_UTILIZATION: 'All of the market is borrowed from now on, and the adaptive curve raises its rate.',
  }),
});

const ReachStateRef = builder.enumType('ReachState', {
  description: 'Whether an LTV reaches a limit.',
  values: enumValues<ReachState>({
    ALREADY: 'The LTV is above the limit.',
    IN_DAYS: 'The LTV reaches the limit, see `days`.',
    NEVER: 'The collateral grows at least as fast as the debt, or there is no debt: the limit is not reached.',
  }),
});

/** When an LTV reaches a limit. */
export const ReachRef = builder.objectRef<FormattedReach>('LimitReach').implement({
  description:
    'Time at which the LTV of a position reaches a limit. A time that is not known is `null` in place of the object.',
  fields: (t) => ({
    reached: t.expose('state', { type: ReachStateRef, description: 'Whether the LTV reaches the limit.' }),
    days: t.expose('days', {
      type: 'Decimal',
      nullable: true,
      description: 'Days from now, 1 place; `null` = `reached` is not `IN_DAYS`.',
    }),
  }),
});

const decimal = (description: string) => ({ type: 'Decimal' as const, nullable: true as const, description });
const reach = (description: string) => ({ type: ReachRef, nullable: true as const, description });

const RowRef = builder.objectRef<FormattedStressRow>('StressRow').implement({
  description:
    'A position, or several together, in one scenario. `gaps` of the table explain a field that is `null`, e.g. `rows.3.equityUsd`.',
  fields: (t) => ({
    scenario: t.expose('scenario', { type: ScenarioRef, description: 'The scenario of the row.' }),
    changePct: t.expose(
      'changePct',
      decimal('By how much, signed percent with 2 places; of an exit the measured loss, negative.'),
    ),
    oraclePrice: t.expose(
      'oraclePrice',
      decimal("The oracle's price in the scenario, loan tokens per collateral token; of one position only."),
    ),
    ltvPct: t.expose('ltvPct', decimal("LTV at the oracle's price, percent with 2 places.")),
    exactLtvPct: t.expose(
      'exactLtvPct',
      decimal('LTV rounded up as the protocol does, of one position only. Percent with 18 places.'),
    ),
    headroomPct: t.expose(
      'headroomPct',
      decimal(
        'Points of LTV to the liquidation LTV, 2 places, negative beyond it; of several positions the least of them.',
      ),
    ),
    equity: t.expose(
      'equity',
      decimal(
        "Collateral less debt, whole loan tokens: at the oracle's price, in an exit by the proceeds of the sale. Negative under water; of one position only.",
      ),
    ),
    equityUsd: t.expose(
      'equityUsd',
      decimal(
        '`equity` in USD with 2 places. Of several positions the sum: one under water counts as 0, because its debt is not owed beyond its collateral. Signed.',
      ),
    ),
    netApyPct: t.expose(
      'netApyPct',
      decimal(
        'Net APY on the equity at the LTV and the rates of the scenario, at the exact leverage, incentives included, percent with 2 places; of several positions weighted by their equity. Signed.',
      ),
    ),
    endsBy: t.expose('endsBy', {
      type: EndRef,
      nullable: true,
      description: 'End of the position; of several positions the worst of them. `null` = not known.',
    }),
    endedPositions: t.exposeInt('endedPositions', {
      description: 'Number of positions that can be liquidated at once.',
    }),
    liquidationIn: t.expose(
      'liquidationIn',
      reach(
        'Time at which the LTV reaches the liquidation LTV if the scenario lasts; of several positions the first of them.',
      ),
    ),
  }),
});

const ProjectionRef = builder.objectRef<FormattedProjection>('LtvProjection').implement({
  description:
    "Time until the LTV reaches its limits at today's price, along one path of the borrow rate: the debt grows by that rate, the collateral by its own APY, a principal token until its maturity. Of several positions the first of them.",
  fields: (t) => ({
    path: t.expose('path', { type: PathRef, description: 'The path of the borrow rate.' }),
    safe: t.expose('safe', reach('Highest LTV that builders accept; `null` = see `gaps` of the table.')),
    max: t.expose('max', reach('Highest LTV that the contracts accept; `null` = see `gaps` of the table.')),
    liquidation: t.expose(
      'liquidation',
      reach('LTV at which the position can be liquidated; `null` = see `gaps` of the table.'),
    ),
  }),
});

/** Rows of a table, and the paths of its projections. */
const EXPECTED_ROWS = 30;

const StressRef = builder.objectRef<StressView>('StressTable').implement({
  description:
    'Outcomes of a position, of a strategy at a leverage, or of all positions of a wallet together, in bad days.',
  fields: (t) => ({
    positionCount: t.exposeInt('positions', {
      description: 'Number of open positions in the table; a vault has one per leg.',
    }),
    uncountedPositions: t.exposeInt('uncounted', {
      description: 'Number of open positions that cannot be valued now and are not in the table.',
    }),
    dropToLiquidationPct: t.expose(
      'dropToLiquidationPct',
      decimal(
        "Fall of the oracle's price until liquidation, percent with 2 places; negative = it can be liquidated now; of several positions the least.",
      ),
    ),
    lowestHealthyPrice: t.expose(
      'lowestHealthyPrice',
      decimal(
        "The lowest oracle price, loan tokens per collateral token, exact, at which it cannot be liquidated: one unit of the oracle's price below, it can. Of one position only.",
      ),
    ),
    rows: t.expose('rows', {
      type: [RowRef],
      complexity: { field: 1, multiplier: EXPECTED_ROWS },
      description: `One row per scenario, always in the same order, at most ${SCENARIOS.length}; empty without an open position.`,
    }),
    projections: t.expose('projections', {
      type: [ProjectionRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Time to the limits, one entry per path of the borrow rate, at most 3.',
    }),
    recordedMoves: t.field({
      type: [RecordedMoveRef],
      complexity: { field: 1, multiplier: WINDOW_DAYS.length },
      description: `The worst that was recorded of the markets, one entry per length of window (${WINDOW_DAYS.join(', ')} days), at most ${WINDOW_DAYS.length}; empty without an open position.`,
      resolve: (view, _args, ctx) => recordedMovesOf(view, ctx),
    }),
    gaps: t.field(
      gapsOf<StressView>(({ gaps }) => gaps, 'Fields that are `null`, and values of which an input is not known'),
    ),
  }),
});

/** The options that every `stress` field has in common. */
const stressField = (description: string) =>
  ({ type: StressRef, complexity: withWork('stress', 2), description }) as const;

builder.interfaceField(StrategyRef, 'stress', (t) =>
  t.field({
    ...stressField(
      'Stress table of a deposit into the strategy, as it would be opened now: at the borrow rate that its own debt leads to, without the costs of entry. Of a vault both legs.',
    ),
    args: {
      leverage: t.arg({
        type: 'Decimal',
        description:
          'Leverage, 1 to the largest of the strategy; of a vault 1 + LTV of the stock leg. The default leverage, or the target LTV, when left out.',
      }),
      equityUsd: t.arg({
        type: 'Decimal',
        description: `USD that are paid in, above 0; ${DEFAULT_STRESS_EQUITY_USD} when left out. The size decides on rate and exit.`,
      }),
    },
    resolve: (strategy, args, ctx) => stressOfStrategy(strategy, args, ctx),
  }),
);

builder.objectField(PositionRef, 'stress', (t) =>
  t.field({
    ...stressField('Stress table of the position; empty when it has ended.'),
    resolve: (position, _args, ctx) => stressOfPosition(position, ctx),
  }),
);

builder.objectField(EquityPositionRef, 'stress', (t) =>
  t.field({
    ...stressField('Stress table of the stock leg and the yield loops together.'),
    resolve: (position, _args, ctx) => stressOfVault(position, ctx),
  }),
);

builder.objectField(WalletRef, 'stress', (t) =>
  t.field({
    ...stressField(
      'Stress table of all open positions and vaults of the wallet together: every scenario hits all of them at once.',
    ),
    resolve: (wallet, _args, ctx) => stressOfWallet(wallet, ctx),
  }),
);
