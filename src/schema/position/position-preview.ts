import { priceAgeState } from '../../domain/market/price-age.ts';
import {
  borrowApyOf,
  collateralAmount,
  costsOf,
  equityOf,
  exitOf,
  liquidationOfPosition,
  loanAmount,
  type ShownExit,
  type ShownPosition,
  type WorstCase,
  worstCaseOf,
} from '../../resolvers/transaction/leverage.ts';
import { formatPct, toFixedHalfUp } from '../../shared/decimal.ts';
import {
  type BeforeAfter,
  type BreakEven,
  type Cost,
  type CostKind,
  type Liquidation,
  leverageOf,
  pricedAt,
} from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import {
  OraclePriceAgeRef,
  PREVIEW_PRICE_AGE,
  PREVIEW_PRICE_AS_OF,
  PREVIEW_READ_AT,
  ReadAtRef,
} from '../common/stamp.ts';
import { SwapSourceRef } from '../transaction/transaction.ts';

export const RateChangeRef = builder.objectRef<BeforeAfter>('RateChange').implement({
  description: 'A rate before and after the action.',
  fields: (t) => ({
    before: t.field({ type: 'Decimal', description: 'Now, percent.', resolve: ({ before }) => formatPct(before, 4) }),
    after: t.field({ type: 'Decimal', description: 'After it, percent.', resolve: ({ after }) => formatPct(after, 4) }),
  }),
});

export const LiquidationRef = builder.objectRef<Liquidation>('LiquidationPoint').implement({
  description: 'Where the position could be liquidated.',
  fields: (t) => ({
    price: t.field({
      type: 'Decimal',
      description: 'Oracle price, loan tokens per collateral token.',
      resolve: ({ price }) => price.precision(12).toFixed(),
    }),
    dropPct: t.field({
      type: 'Decimal',
      description: 'How far the price may fall until then, percent.',
      resolve: ({ dropPct }) => formatPct(dropPct),
    }),
  }),
});

const COST_DESCRIPTIONS: Record<CostKind, string> = {
  ENTRY_SWAP: 'What the swap of what is paid loses at the reference price.',
  LEVERAGE_SWAP: 'What the swap of the flash loan loses at the oracle price.',
  EXIT_SWAP: 'What the sale of collateral loses at the oracle price.',
  STOCK_SWAP: "What the swap into or out of a vault's stock loses at the oracle price.",
  REFERRAL_FEE: 'Referral fee inside a swap.',
  REALLOCATION_FEE: 'What vaults ask for moving liquidity into the market.',
  DEPOSIT_FEE: 'What the contract takes of a deposit into an uncorrelated market.',
  YIELD_FEE: 'What the contract takes of the yield of a correlated market, at the rate of today.',
};

export const CostKindRef = builder.enumType('CostKind', {
  description: 'What a cost is for.',
  values: Object.fromEntries(
    Object.entries(COST_DESCRIPTIONS).map(([kind, description]) => [kind, { value: kind, description }]),
  ) as { [K in CostKind]: { value: K; description: string } },
});

export const CostRef = builder.objectRef<Cost>('Cost').implement({
  description: 'One cost, paid at once.',
  fields: (t) => ({
    kind: t.expose('kind', { type: CostKindRef, description: 'What it is for.' }),
    token: t.expose('token', { type: 'Address', description: 'That token.' }),
    symbol: t.exposeString('symbol', { description: 'Token in which it is counted.' }),
    amount: t.field({
      type: 'Decimal',
      description: 'Whole tokens.',
      resolve: ({ amount }) => amount.decimalPlaces(18).toFixed(),
    }),
    usd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'USD with 2 places; `null` = the token has no price.',
      resolve: ({ usd }) => (usd ? toFixedHalfUp(usd, 2) : null),
    }),
    pctOfEquity: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Percent of what is paid in, else of what the position is worth, with 2 places; `null` = it cannot be valued.',
      resolve: ({ pctOfEquity }) => (pctOfEquity ? formatPct(pctOfEquity) : null),
    }),
  }),
});

export const WorstCaseRef = builder.objectRef<WorstCase>('WorstCase').implement({
  description:
    'What the wallet has of it when every swap gives its minimum only and it is sent a minute later, with the interest of that minute on what was owed before.',
  fields: (t) => ({
    equity: t.field({
      type: 'Decimal',
      description:
        'Collateral less debt at the oracle price, and `paidOut` where the action pays something out: what the wallet has of the position after it, whole loan tokens.',
      resolve: ({ equity }) => equity.toFixed(),
    }),
    paidOut: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'What of `equity` goes to the wallet, whole loan tokens (collateral at the oracle price), fees of the contract taken off; the rest is left in the position. `null` = the action pays nothing out.',
      resolve: ({ paidOut }) => paidOut?.toFixed() ?? null,
    }),
    ltv: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'LTV, percent with 2 places; `null` = no position is left.',
      resolve: ({ ltvPct }) => (ltvPct ? formatPct(ltvPct) : null),
    }),
  }),
});

const BREAK_EVEN_DESCRIPTIONS: Record<BreakEven['state'], string> = {
  DAYS: 'After `breakEvenDays` days.',
  NEVER: 'Never: once this is done the position earns nothing.',
  UNKNOWN: 'A rate, a price or a quote of it is not known.',
};

const BreakEvenStateRef = builder.enumType('BreakEvenState', {
  description: 'Whether a yield ever earns the costs of entry and exit.',
  values: Object.fromEntries(
    Object.entries(BREAK_EVEN_DESCRIPTIONS).map(([state, description]) => [state, { value: state, description }]),
  ) as { [S in BreakEven['state']]: { value: S; description: string } },
});

const ExitRef = builder.objectRef<ShownExit>('ExitNow').implement({
  description: 'What selling all collateral again at once would cost, quoted live.',
  fields: (t) => ({
    lossLoan: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Lost against the oracle price, whole loan tokens; `null` = see `reason`.',
      resolve: ({ lostLoan }) => lostLoan?.toFixed() ?? null,
    }),
    lossUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The same in USD with 2 places; `null` = see `reason`, or the loan token has no price.',
      resolve: ({ lostUsd }) => (lostUsd ? toFixedHalfUp(lostUsd, 2) : null),
    }),
    source: t.expose('source', {
      type: SwapSourceRef,
      nullable: true,
      description: 'The venue; `null` = see `reason`.',
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why there is no quote; `null` = there is one.' }),
    breakEvenDays: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Days until the expected yield has earned the costs of entry and exit, 1 place; `null` = see `breakEvenState`.',
      resolve: ({ breakEven }) => (breakEven.days ? toFixedHalfUp(breakEven.days, 1) : null),
    }),
    breakEvenState: t.field({
      type: BreakEvenStateRef,
      description: 'Whether the yield ever earns the costs.',
      resolve: ({ breakEven }) => breakEven.state,
    }),
  }),
});

export const PositionPreviewRef = builder.objectRef<ShownPosition>('PositionPreview').implement({
  description: 'The position after the expected fill.',
  fields: (t) => ({
    leverage: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Leverage as it is shown, 1 place; `null` = from an LTV of 100 % on it has none.',
      resolve: ({ preview }) => {
        const leverage = leverageOf(preview);
        return leverage ? toFixedHalfUp(leverage, 1) : null;
      },
    }),
    exactLeverage: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The same with 6 places.',
      resolve: ({ preview }) => {
        const leverage = leverageOf(preview);
        return leverage ? toFixedHalfUp(leverage, 6) : null;
      },
    }),
    requestedLtv: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The LTV asked for, percent with 2 places; `null` = the action has no target.',
      resolve: ({ preview }) => (preview.requestedLtvPct ? formatPct(preview.requestedLtvPct) : null),
    }),
    effectiveLtv: t.field({
      type: 'Decimal',
      description: 'The LTV after the expected fill, percent with 2 places.',
      resolve: ({ preview }) => formatPct(preview.effectiveLtvPct),
    }),
    worstCaseLtv: t.field({
      type: 'Decimal',
      description: 'The LTV when every swap gives its minimum only, percent with 2 places.',
      resolve: ({ preview }) => formatPct(preview.worstLtvPct),
    }),
    amountLeveragedCollateral: t.field({
      type: 'Decimal',
      description: 'All collateral, whole tokens.',
      resolve: (position) => collateralAmount(position, position.preview.after.collateral),
    }),
    amountDebt: t.field({
      type: 'Decimal',
      description: 'All debt, whole loan tokens.',
      resolve: (position) => loanAmount(position, position.preview.after.debt),
    }),
    depositBasis: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        "Deposit basis after it, whole loan tokens: what the yield fee is counted from, and on a correlated market the most that can be borrowed. `null` = the contract's own rule decides (a part of a close), and nothing was executed.",
      resolve: (position) =>
        position.preview.basis === undefined ? null : loanAmount(position, position.preview.basis),
    }),
    equity: t.field({
      type: 'Decimal',
      description: 'Collateral less debt at the oracle price, whole loan tokens.',
      resolve: (position) => equityOf(position).toFixed(),
    }),
    expectedLeverageApy: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Expected APY on the equity at the borrow rate that the market has once this is done, percent with 2 places; `null` = the rates are not measured. A borrow incentive counts as it is paid now: how far more debt dilutes it is not known.',
      resolve: ({ preview }) => (preview.expectedLeverageApyPct ? formatPct(preview.expectedLeverageApyPct) : null),
    }),
    leverageApyBefore: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'The same position at the borrow rate of now, percent with 2 places; `null` = the rates are not measured.',
      resolve: ({ preview }) => (preview.leverageApyBeforePct ? formatPct(preview.leverageApyBeforePct) : null),
    }),
    priceImpactPct: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'What the swap of the loan alone (elsewhere the only swap) loses of its value against the reference price, percent with 2 places; `null` = nothing is swapped, or nothing prices the pair. Of the equity it is more: see `totalSwapCostPctOfEquity`.',
      resolve: ({ preview }) => (preview.priceImpactPct ? formatPct(preview.priceImpactPct) : null),
    }),
    swapSource: t.field({
      type: SwapSourceRef,
      nullable: true,
      description: 'Venue of the swap; `null` = nothing is swapped.',
      resolve: ({ preview }) => preview.swapSource ?? null,
    }),
    borrowApyPct: t.field({
      type: RateChangeRef,
      description: 'Borrow APY of the market before and after: what is borrowed here moves it.',
      resolve: (position) => borrowApyOf(position),
    }),
    liquidation: t.field({
      type: LiquidationRef,
      nullable: true,
      description: 'Where it could be liquidated; `null` = it owes nothing.',
      resolve: (position) => liquidationOfPosition(position),
    }),
    costs: t.field({
      type: [CostRef],
      complexity: { field: 1, multiplier: 4 },
      description: 'What it costs at once, by kind; empty where nothing is swapped and no fee is due.',
      resolve: (position, _args, ctx) => costsOf(position, ctx),
    }),
    totalSwapCostPctOfEquity: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'All that the swaps lose, their referral fees included, percent of the equity with 2 places; `null` = nothing prices one of them.',
      resolve: ({ basis }) => (basis.totalSwapCostPctOfEquity ? formatPct(basis.totalSwapCostPctOfEquity) : null),
    }),
    worstCase: t.field({
      type: WorstCaseRef,
      description:
        'What the wallet has of it when every swap gives its minimum only and it is sent a minute later, with the interest of that minute on what was owed before.',
      resolve: (position) => worstCaseOf(position),
    }),
    readAt: t.field({
      type: ReadAtRef,
      nullable: true,
      description: PREVIEW_READ_AT,
      resolve: ({ live }) => pricedAt(live).readAt ?? null,
    }),
    oraclePriceAsOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: PREVIEW_PRICE_AS_OF,
      resolve: ({ live }) => pricedAt(live).oraclePriceAsOfMs ?? null,
    }),
    oraclePriceAge: t.field({
      type: OraclePriceAgeRef,
      description: PREVIEW_PRICE_AGE,
      resolve: ({ live }) => priceAgeState(pricedAt(live).oraclePriceAsOfMs),
    }),
    exitNow: t.field({
      type: ExitRef,
      complexity: 20,
      description: 'What leaving again at once would cost. Asks the swap venues.',
      resolve: (position, _args, ctx) => exitOf(position, ctx),
    }),
  }),
});
