import { builder } from '../../../schema/builder.ts';
import { enumValues } from '../../../schema/common/enum-values.ts';
import { CHAINS, MissingChainRef } from '../../../schema/common/page.ts';
import { StrategyRef } from '../../../schema/refs.ts';
import { MAX_CHAINS } from '../../../shared/contract/list-bounds.ts';
import type { BestExclusion } from '../domain/types.ts';
import {
  type BestStrategy,
  type BestView,
  bestStrategies,
  DEFAULT_BEST_LIMIT,
  DEFAULT_HOLDING_DAYS,
  type FallenOut,
  MAX_BEST_LIMIT,
  MAX_HOLDING_DAYS,
} from '../resolvers/best-strategies.ts';
import { ReachRef } from './stress.ts';

const ExclusionRef = builder.enumType('BestExclusion', {
  description: 'Reason why a strategy does not meet a request; of several the first in this order.',
  values: enumValues<BestExclusion>({
    NOT_LISTED: 'The strategy is not listed.',
    EQUITY_VAULT:
      'An equity vault: the payment stays invested in the stock, whose return is not known, so its net APY and a fall of its price are not comparable with those of a loop.',
    PAY_TOKEN: 'The pay token is not curated on the chain of the strategy.',
    MATURITY:
      'The collateral matures within the holding time: `value` is the day, `limit` the end of the holding time.',
    PRICE_UNKNOWN: 'The loan token has no known price in USD.',
    EXIT_UNKNOWN:
      'The loss of a swap of the needed size has not been measured: `value` is the size, `limit` the largest measured one, USD.',
    NO_ROUTE: 'The collateral has no swap route, or none at the size of `value`, USD.',
    EXIT_TOO_SMALL: 'The largest clean exit is `value`, less than `limit`, USD.',
    DRAWDOWN:
      'A position that survives the fall at any time until the exit has a leverage of at most `value`, below `limit`.',
    LIQUIDITY: 'The market can lend `value`, less than `limit`, USD.',
  }),
});

const pct = (description: string) => ({ type: 'Decimal' as const, description });

const BestRef = builder.objectRef<BestStrategy>('BestStrategy').implement({
  description: 'A strategy at the leverage with the best result of those that meet the request.',
  fields: (t) => ({
    strategy: t.expose('strategy', { type: StrategyRef, description: 'The strategy.' }),
    leverage: t.expose(
      'leverage',
      pct(
        'Leverage with the best `netApyPct` from 1.1 to `largestLeverage`, a multiple of the equity, 1 place; of equal results the least. The other figures are those of this leverage.',
      ),
    ),
    largestLeverage: t.expose(
      'largestLeverage',
      pct(
        'Largest leverage by the drawdown, the safe LTV, the liquidity of the market and the measured sizes of swaps, a multiple of the equity, 1 place, rounded down: at the rates after the own borrow the fall does not liquidate the position at any time until the exit.',
      ),
    ),
    isPositive: t.exposeBoolean('isPositive', {
      description:
        'Whether the result is above zero, before rounding; `false` = no leverage from 1.1 to `largestLeverage` earns its costs within the holding time.',
    }),
    ltvPct: t.expose('ltvPct', pct('LTV at this leverage. Percent with 2 places.')),
    netApyPct: t.expose(
      'netApyPct',
      pct(
        'Result of the holding time in percent of the payment, per year and not compounded, with 2 places: carry at the borrow rate after the own borrow, less costs of entry and exit and the yield fee. Signed.',
      ),
    ),
    positionApyPct: t.expose(
      'positionApyPct',
      pct('Net APY on the equity at the rates after the own borrow, before costs. Percent with 2 places. Signed.'),
    ),
    entryCostPct: t.expose(
      'entryCostPct',
      pct(
        'Cost of the swaps into the position and of the deposit, percent of the payment with 4 places: the loss that was measured for selling as much, the referral fee at its full rate, and the deposit fee of the contract.',
      ),
    ),
    exitCostPct: t.expose(
      'exitCostPct',
      pct('Measured loss of selling all collateral, percent of the payment with 4 places. Signed.'),
    ),
    yieldFeePct: t.expose(
      'yieldFeePct',
      pct('Yield fee of the contract on the result, percent of the payment with 4 places.'),
    ),
    liquidationIn: t.expose('liquidationIn', {
      type: ReachRef,
      nullable: true,
      description:
        "Time at which the LTV reaches the liquidation LTV, at the rates after the own borrow and today's price; `null` = a rate is not known.",
    }),
    ratesAsOf: t.field({
      type: 'DateTime',
      description: 'Time of the block of the market state that rates, limits and liquidity come from.',
      resolve: ({ ratesAsOfMs }) => ratesAsOfMs,
    }),
    exitAsOf: t.field({
      type: 'DateTime',
      description: 'Time of the measured exits that costs come from.',
      resolve: ({ exitAsOfMs }) => exitAsOfMs,
    }),
  }),
});

const FallenOutRef = builder.objectRef<FallenOut>('ExcludedStrategy').implement({
  description: 'A strategy that does not meet the request.',
  fields: (t) => ({
    strategy: t.expose('strategy', { type: StrategyRef, description: 'The strategy.' }),
    exclusion: t.expose('reason', { type: ExclusionRef, description: 'Reason of the exclusion.' }),
    value: t.exposeString('value', {
      nullable: true,
      description: 'Value of the strategy, in the unit of the reason; `null` = the reason has none.',
    }),
    limit: t.exposeString('limit', {
      nullable: true,
      description: 'Limit that the value misses, in the unit of the reason; `null` = the reason has none.',
    }),
  }),
});

const BestStrategiesRef = builder.objectRef<BestView>('BestStrategies').implement({
  description: 'Strategies that meet a request, and those that do not.',
  fields: (t) => ({
    amountUsd: t.expose('amountUsd', { type: 'Decimal', description: 'Value of the payment. USD with 2 places.' }),
    holdingDays: t.exposeInt('holdingDays', {
      description: 'Days over which the costs are spread.',
      extensions: { jsonSchema: { minimum: 1 } },
    }),
    rankedCount: t.exposeInt('rankedCount', { description: 'Number of strategies that meet the request.' }),
    excludedCount: t.exposeInt('fallenOutCount', { description: 'Number of strategies that do not.' }),
    ranked: t.field({
      type: [BestRef],
      complexity: { field: 1, multiplier: DEFAULT_BEST_LIMIT },
      description: `Strategies that meet the request, by \`netApyPct\`, the highest first, those without a positive result last; as many as \`limit\`, at most ${MAX_BEST_LIMIT}.`,
      resolve: ({ ranked }) => [...ranked],
    }),
    excluded: t.field({
      type: [FallenOutRef],
      complexity: { field: 1, multiplier: DEFAULT_BEST_LIMIT },
      description: `Strategies that do not, in catalog order; as many as \`limit\`, at most ${MAX_BEST_LIMIT}.`,
      resolve: ({ fallenOut }) => [...fallenOut],
    }),
    missingChains: t.field({
      type: [MissingChainRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Requested chains that are not measured yet, one entry per chain, at most ${MAX_CHAINS}.`,
      resolve: ({ missingChains }) => [...missingChains],
    }),
  }),
});

builder.queryFields((t) => ({
  bestStrategies: t.field({
    type: BestStrategiesRef,
    nullable: true,
    complexity: { field: 10 },
    description:
      'Listed loops for a payment, each at the leverage with the best result of those that survive a fall of the price at any time until the exit, ranked by the net APY after the own borrow, entry and exit over the holding time. Costs come from the measured exit liquidity; no venue is asked, and a preview has the real ones.',
    args: {
      amount: t.arg({
        type: 'Decimal',
        required: true,
        description: 'Payment, whole tokens of `payToken`, worth at least 1 USD.',
      }),
      payToken: t.arg({ type: 'Address', required: true, description: 'Curated token that is paid with.' }),
      maxDrawdownPct: t.arg({
        type: 'Decimal',
        required: true,
        description:
          "Fall of the oracle's price that must not liquidate the position at any time until the exit, percent, 0 to 99.",
      }),
      minExitUsd: t.arg({
        type: 'Decimal',
        required: true,
        description: 'Size of a sale of the collateral that has to be clean, USD, 0 or more.',
      }),
      holdingDays: t.arg.int({
        description: `Days until the exit, 1 to ${MAX_HOLDING_DAYS}; ${DEFAULT_HOLDING_DAYS} when left out.`,
      }),
      chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
      limit: t.arg.int({
        description: `Number of entries of each list, 1 to ${MAX_BEST_LIMIT}; ${DEFAULT_BEST_LIMIT} when left out.`,
      }),
    },
    resolve: (_root, args, ctx) => bestStrategies(args, ctx),
  }),
}));
