import {
  type DeleverageOptionView,
  type DeleveragePreviewView,
  type DeleverageUnavailable,
  type DeleverageView,
  deleverageOf,
  type UnderWaterView,
} from '../../resolvers/transaction/deleverage.ts';
import { borrowApyOf } from '../../resolvers/transaction/position-preview.ts';
import { formatPct, formatUnitsPlain } from '../../shared/decimal.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import {
  type Affordability,
  type DeleverageAction,
  type DeleverageStep,
  NotEligibleError,
} from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { gapsOf } from '../common/gaps.ts';
import { ReadAtRef } from '../common/stamp.ts';
import { PositionRef } from '../position/position.ts';
import { TokenRef } from '../refs.ts';
import { builtField } from './built-field.ts';
import { EstimateRef, RateChangeRef } from './estimate.ts';
import { PositionPreviewRef } from './position-preview.ts';

const DeleverageActionRef = builder.enumType('DeleverageAction', {
  description: 'A way to lower the LTV of a position.',
  values: enumValues<DeleverageAction>({
    repay: 'Repay debt with loan tokens of the wallet.',
    add_collateral: 'Add collateral of the wallet.',
    close: 'Sell a part of the collateral, and repay with the proceeds.',
  }),
});

const AffordabilityRef = builder.enumType('DeleverageAffordability', {
  description: 'Whether the wallet holds the amount that an option takes.',
  values: enumValues<Affordability>({
    affordable: 'The wallet holds it.',
    not_affordable: 'The wallet holds less, see `walletBalance`.',
    nothing_to_pay: 'The wallet pays nothing: the action is paid with collateral of the position.',
    unknown: 'The balance of the wallet could not be read.',
  }),
});

const StepRef = builder.objectRef<DeleverageStep>('DeleverageStep').implement({
  description:
    'One transaction of an option. It is built as a managing action with this action and amount, when the step before it has been mined.',
  fields: (t) => ({
    action: t.expose('action', { type: DeleverageActionRef, description: 'The action to build.' }),
    token: t.expose('token', { type: TokenRef, description: 'Token of the amount.' }),
    amount: t.field({
      type: 'Decimal',
      description:
        'Amount to pay or to sell, whole tokens, with the interest until the plan expires. Of a step that is paid with proceeds the expected ones: send the amount that was really received.',
      resolve: ({ token, amount }) => formatUnitsPlain(amount, token.decimals),
    }),
    isFull: t.exposeBoolean('isFull', {
      description: 'Whether the whole debt is repaid: build it as a full repayment, without an amount.',
    }),
    fromProceeds: t.exposeBoolean('fromProceeds', {
      description: 'Whether it is paid with the proceeds of the step before it, and not by the wallet.',
    }),
    simulatedGas: t.field({
      type: 'BigInteger',
      nullable: true,
      description:
        'Gas that the simulation of its calls used, approvals included, in units of gas. A step that is paid with proceeds is simulated after the one before it. `null` = it could not be simulated, or the option is not possible now: see `gaps` of the option.',
      resolve: ({ gasUsed }) => gasUsed ?? null,
    }),
  }),
});

const ErrorCodeRef = builder.enumType('ErrorCode', {
  description: 'Code of an error, as in the table of errors.',
  values: enumValues<ErrorCode>({
    bad_request: 'An input is refused, or lies beyond a limit.',
    unauthorized: 'The key is missing or not valid here.',
    not_found: 'The named thing does not exist.',
    method_not_allowed: 'The path does not take the method.',
    conflict: 'The request contradicts an earlier one.',
    payload_too_large: 'The body is too large.',
    unsupported_media_type: 'The body is not JSON.',
    query_too_complex: 'The document is larger than the limits of the tier.',
    rate_limited: 'The budget of the caller is used up.',
    not_ready: 'A fact has not been measured yet.',
    upstream_unavailable: 'A node or a provider gives no usable answer.',
    stale_data: 'A fact is past its freshness budget.',
    no_route: 'No venue has a route at this size.',
    insufficient_liquidity: 'A market or the lending protocol does not hold enough.',
    simulation_reverted: 'The calls revert in simulation.',
    simulation_mismatch: 'The calls return less than quoted in simulation.',
    internal: 'An unexpected error of this service.',
  }),
});

const UnavailableRef = builder.objectRef<DeleverageUnavailable>('DeleverageUnavailable').implement({
  description: 'The reason for which an option is not possible now. The others are not affected.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeRef, description: 'Code of the error.' }),
    message: t.exposeString('message', { description: 'One or two sentences: the value, the limit, the next step.' }),
    retryable: t.exposeBoolean('retryable', { description: 'Whether it may be possible later without a change.' }),
  }),
});

const PreviewRef = builder.objectRef<DeleveragePreviewView>('DeleveragePreview').implement({
  description:
    'Result of all steps of an option, from the same build and simulation as a plan. Nothing is signed or sent, and a plan takes fresh quotes.',
  interfaces: [EstimateRef],
  fields: (t) => ({
    position: t.expose('position', { type: PositionPreviewRef, description: 'The position after all steps.' }),
    borrowApy: t.field({
      type: RateChangeRef,
      description: 'Borrow APY of the market before and after: repayments lower it.',
      resolve: ({ plan }) => borrowApyOf(plan),
    }),
    note: t.exposeString('note', { description: 'The preview in sentences; empty = nothing to add.' }),
  }),
});

const ReasonRef = builder.enumType('DeleverageReason', {
  description: 'A state of a position that its holder has to know before choosing an option.',
  values: enumValues<UnderWaterView['code']>({
    under_water:
      'The debt is above the value of the collateral: paying in costs more than the position is worth afterwards.',
  }),
});

const UnderWaterRef = builder.objectRef<UnderWaterView>('PositionUnderWater').implement({
  description:
    "A debt above the value of its collateral at the oracle's price. A payment into the position gives the excess to the lenders; the owner does not have to pay it.",
  fields: (t) => ({
    code: t.expose('code', { type: ReasonRef, description: 'Always the code of a position under water.' }),
    debtAmount: t.expose('debt', { type: 'Decimal', description: 'The debt. Whole loan tokens.' }),
    collateralValueAmount: t.expose('collateralValue', {
      type: 'Decimal',
      description: "Value of the collateral at the oracle's price, whole loan tokens.",
    }),
    excessAmount: t.expose('excess', {
      type: 'Decimal',
      description: 'Debt above that value, whole loan tokens: the part of a payment that is lost.',
    }),
    excessUsd: t.expose('excessUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'The excess in USD with 2 places, which `costUsd` of an option that pays in contains. `null` = nothing prices the loan token. Signed.',
    }),
    message: t.exposeString('message', {
      description: 'The state, its amounts and what a payment would lose, in sentences.',
    }),
  }),
});

const OptionRef = builder.objectRef<DeleverageOptionView>('DeleverageOption').implement({
  description: 'One way to bring a position down to the target.',
  fields: (t) => ({
    action: t.expose('action', { type: DeleverageActionRef, description: 'The way.' }),
    steps: t.field({
      type: [StepRef],
      complexity: { field: 1, multiplier: 2 },
      description:
        'The transactions in order, at most 2; sized at the oracle price where `unavailable` is set, and empty where no amount is enough.',
      resolve: ({ steps }) => [...steps],
    }),
    affordability: t.expose('affordability', {
      type: AffordabilityRef,
      description: 'Whether the wallet holds the amount that it takes. A preview is made in any case.',
    }),
    walletBalance: t.expose('walletBalance', {
      type: 'Decimal',
      nullable: true,
      description: 'Balance of the wallet in the token that it pays with. Whole tokens.',
    }),
    costUsd: t.expose('costUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'All costs of all steps, USD with 2 places: losses of swaps and fees of the contract. Of a payment into a position whose debt is above the value of its collateral also that excess, which goes to the lenders. Amounts that stay in the position are no cost; gas is not counted, see `gasUsd`. Signed.',
    }),
    simulatedGas: t.expose('simulatedGas', {
      type: 'BigInteger',
      nullable: true,
      description:
        'Gas that the simulation of all calls of all steps used, in units of gas. The wallet sets its price.',
    }),
    gasUsd: t.expose('gasUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        "`simulatedGas` at the node's present gas price, USD with 4 places: an estimate, not part of `costUsd`. The fee that a rollup takes for its data is not in it. Signed.",
    }),
    preview: t.expose('preview', { type: PreviewRef, nullable: true, description: 'Costs and result.' }),
    unavailable: t.expose('unavailable', {
      type: UnavailableRef,
      nullable: true,
      description: 'The reason for which it is not possible now.',
    }),
    gaps: t.field(gapsOf<DeleverageOptionView>(({ gaps }) => gaps, 'Every field of the option that is `null`')),
  }),
});

const MAX_OPTIONS = 3;

const OptionsRef = builder.objectRef<DeleverageView>('DeleverageOptions').implement({
  description: 'Options to lower the LTV of a position to a target, each with its amounts, its costs and its result.',
  fields: (t) => ({
    isNeeded: t.exposeBoolean('isNeeded', {
      description:
        'Whether the position is above the target. If it is not, `options` is empty: nothing has to be done.',
    }),
    ltvPct: t.expose('ltvPct', {
      type: 'Decimal',
      description: 'LTV at the block of `readAt`. Percent with 2 places, rounded up.',
    }),
    targetLtvPct: t.field({
      type: 'Decimal',
      description: 'LTV at or below which every option ends. Percent.',
      resolve: ({ found }) => found.targetLtvPct.toFixed(),
    }),
    safeLtvPct: t.field({
      type: 'Decimal',
      description: 'Highest LTV that this service opens at. Percent with 2 places: the target when none is given.',
      resolve: ({ found }) => formatPct(found.limits.safeLtvPct),
    }),
    maxLtvPct: t.field({
      type: 'Decimal',
      description: 'Highest LTV that the contracts accept, and highest target. Percent with 2 places.',
      resolve: ({ found }) => formatPct(found.limits.maxLtvPct),
    }),
    liquidationLtvPct: t.field({
      type: 'Decimal',
      description: 'LTV at which the position can be liquidated. Percent with 2 places.',
      resolve: ({ found }) => formatPct(found.limits.liquidationLtvPct),
    }),
    excessDebtAmount: t.field({
      type: 'Decimal',
      description: 'Debt above the target LTV, whole loan tokens; 0 = not above it.',
      resolve: ({ found: { excess, market } }) => formatUnitsPlain(excess > 0n ? excess : 0n, market.loan.decimals),
    }),
    options: t.field({
      type: [OptionRef],
      complexity: { field: 1, multiplier: MAX_OPTIONS },
      description: `Every way, at most ${MAX_OPTIONS}: the cheapest first, of equal costs the one that takes less from the wallet; then those of unknown cost, and at last those that are not possible now.`,
      resolve: ({ options }) => [...options],
    }),
    cheapestAction: t.expose('cheapest', {
      type: DeleverageActionRef,
      nullable: true,
      description: 'The cheapest way that is possible now, whether or not the wallet can pay for it.',
    }),
    cheapestAffordableAction: t.expose('cheapestAffordable', {
      type: DeleverageActionRef,
      nullable: true,
      description: 'The cheapest way that is possible now and that the wallet can pay for.',
    }),
    underWater: t.expose('underWater', {
      type: UnderWaterRef,
      nullable: true,
      description: 'The debt above the value of the collateral, where there is one.',
    }),
    readAt: t.field({
      type: ReadAtRef,
      nullable: true,
      description: 'Block of the reading: of the position, the price, the balances and the simulations.',
      resolve: ({ priced }) => priced.readAt ?? null,
    }),
    gaps: t.field(gapsOf<DeleverageView>(({ gaps }) => gaps, 'Every field that is `null`')),
  }),
});

/** The cost of three previews, each with quotes, chain reads and simulations. */
const COMPLEXITY = 150;

builder.objectField(PositionRef, 'deleverageOptions', (t) =>
  t.field({
    type: OptionsRef,
    description:
      'The ways to bring the position down to an LTV: repaying, adding collateral, or selling a part of the collateral and repaying with the proceeds; each previewed live, none built. Asks the chain and the swap venues. Needs a key.',
    args: {
      targetLtvPct: t.arg({
        type: 'Decimal',
        description:
          'LTV to come down to, percent: above 0, at most the max LTV of the market. The safe LTV of the market when left out.',
      }),
      targetHeadroomPct: t.arg({
        type: 'Decimal',
        description: 'LTV to come down to, in points below the liquidation LTV, in place of `targetLtvPct`.',
      }),
      maxSwapLossPct: t.arg({
        type: 'Decimal',
        description: 'Bound of the loss of a sale, percent of the equity, in place of the usual bounds. Up to 100.',
      }),
    },
    ...builtField({
      complexity: COMPLEXITY,
      refusals: [NotEligibleError],
      union: {
        name: 'DeleverageOptionsResult',
        description: 'The options, or the refusal of a position that has ended.',
      },
    }),
    resolve: (position, args, ctx) => {
      ctx.countCall?.('Position.deleverageOptions');
      return deleverageOf(position, args, ctx);
    },
  }),
);
