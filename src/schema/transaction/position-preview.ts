import {
  collateralAmount,
  type ExitView,
  equityOf,
  exitOf,
  liquidationOfPosition,
  loanAmount,
  type PositionPreviewView,
} from '../../resolvers/transaction/position-preview.ts';
import { type Decimal, formatPct, toFixedHalfUp } from '../../shared/decimal.ts';
import { leverageOf } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { gapsOf } from '../common/gaps.ts';
import { formatLiquidation, LiquidationRef } from './estimate.ts';
import { SwapSourceRef } from './swap-source.ts';

const ExitRef = builder.objectRef<ExitView>('ExitNow').implement({
  description: 'The cost of selling all collateral again at once, quoted live.',
  fields: (t) => ({
    lossLoan: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Loss against the oracle price. Whole loan tokens.',
      resolve: ({ lostLoan }) => lostLoan?.toFixed() ?? null,
    }),
    lossUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Loss against the oracle price. USD with 2 places.',
      resolve: ({ lostUsd }) => (lostUsd ? toFixedHalfUp(lostUsd, 2) : null),
    }),
    swapSource: t.expose('source', {
      type: SwapSourceRef,
      nullable: true,
      description: 'Venue with the best quote of the sale.',
    }),
    breakEvenDays: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Days until the expected yield has earned the costs of entry and exit, 1 place. A gap with the reason `NONE` says that it never does.',
      resolve: ({ breakEven }) => (breakEven.days ? toFixedHalfUp(breakEven.days, 1) : null),
    }),
    gaps: t.field(gapsOf<ExitView>(({ gaps }) => gaps, 'Every field of the exit that is `null`')),
  }),
});

const pctOrNull = (pct: Decimal | undefined): string | null => (pct ? formatPct(pct) : null);
const leverageText = ({ preview }: PositionPreviewView, places: number): string | null => {
  const leverage = leverageOf(preview);
  return leverage ? toFixedHalfUp(leverage, places) : null;
};

export const PositionPreviewRef = builder.objectRef<PositionPreviewView>('PositionPreview').implement({
  description:
    'A position after the expected fill of its swaps. `gaps` of the preview or plan explain a field that is `null`, e.g. `position.leverage`.',
  fields: (t) => ({
    leverage: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Leverage as it is shown, a multiple of the equity, 1 place.',
      resolve: (position) => leverageText(position, 1),
    }),
    exactLeverage: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Leverage with 6 places.',
      resolve: (position) => leverageText(position, 6),
    }),
    requestedLtvPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Requested LTV, directly or by a leverage. Percent with 2 places.',
      resolve: ({ preview }) => pctOrNull(preview.requestedLtvPct),
    }),
    ltvPct: t.field({
      type: 'Decimal',
      description: 'LTV after the expected fill. Percent with 2 places.',
      resolve: ({ preview }) => formatPct(preview.effectiveLtvPct),
    }),
    worstCaseLtvPct: t.field({
      type: 'Decimal',
      description: 'LTV when every swap gives its minimum only. Percent with 2 places.',
      resolve: ({ preview }) => formatPct(preview.worstLtvPct),
    }),
    collateralAmount: t.field({
      type: 'Decimal',
      description: 'All collateral. Whole tokens.',
      resolve: (position) => collateralAmount(position, position.preview.after.collateral),
    }),
    debtAmount: t.field({
      type: 'Decimal',
      description: 'All debt. Whole loan tokens.',
      resolve: (position) => loanAmount(position, position.preview.after.debt),
    }),
    equity: t.field({
      type: 'Decimal',
      description: 'Collateral less debt at the oracle price. Whole loan tokens. Signed.',
      resolve: (position) => equityOf(position).toFixed(),
    }),
    depositBasis: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Deposit basis after the action, whole loan tokens: the yield fee is counted from it, and on a correlated market it bounds the debt.',
      resolve: (position) =>
        position.preview.basis === undefined ? null : loanAmount(position, position.preview.basis),
    }),
    leverageApyPct: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Expected APY on the equity at the borrow rate of the market after the action, percent with 2 places. A borrow incentive counts as it is paid now: its dilution by the new debt is not known. Signed.',
      resolve: ({ preview }) => pctOrNull(preview.expectedLeverageApyPct),
    }),
    leverageApyBeforePct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'APY on the equity of the same position at the current borrow rate. Percent with 2 places.',
      resolve: ({ preview }) => pctOrNull(preview.leverageApyBeforePct),
    }),
    priceImpactPct: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Loss of the swap of the loan alone (elsewhere of the only swap) against the reference price, percent of its value with 2 places. The total of the swaps in percent of the equity is more. Signed.',
      resolve: ({ preview }) => pctOrNull(preview.priceImpactPct),
    }),
    swapSource: t.field({
      type: SwapSourceRef,
      nullable: true,
      description: 'Venue of the swap.',
      resolve: ({ preview }) => preview.swapSource ?? null,
    }),
    liquidation: t.field({
      type: LiquidationRef,
      nullable: true,
      description: 'The price at which the position could be liquidated.',
      resolve: (position) => formatLiquidation(liquidationOfPosition(position)),
    }),
    exitNow: t.field({
      type: ExitRef,
      complexity: 20,
      description: 'The cost of leaving again at once. Asks the swap venues.',
      resolve: (position, _args, ctx) => exitOf(position, ctx),
    }),
  }),
});
