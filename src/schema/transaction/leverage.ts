import { priceAgeState } from '../../domain/market/price-age.ts';
import { formatCalls } from '../../resolvers/common/calls.ts';
import {
  basisOfPlan,
  borrowApyOf,
  costsOf,
  liquidationBeforeOf,
  loanAmount,
  ltvBeforeOf,
  managePosition,
  openPosition,
  positionOfPlan,
  previewLeverage,
  type ShownPreview,
  worstCaseOfPlan,
} from '../../resolvers/transaction/leverage.ts';
import { formatPct, formatUnitsPlain } from '../../shared/decimal.ts';
import { MANAGE_ACTIONS, TRANSACTION_PATHS } from '../../shared/vocabulary.ts';
import { type Path, type Plan, type PlanAction, pricedAt } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import {
  OraclePriceAgeRef,
  PREVIEW_PRICE_AGE,
  PREVIEW_PRICE_AS_OF,
  PREVIEW_READ_AT,
  ReadAtRef,
} from '../common/stamp.ts';
import {
  CostRef,
  LiquidationRef,
  PositionPreviewRef,
  RateChangeRef,
  WorstCaseRef,
} from '../position/position-preview.ts';
import { builtField } from './built-field.ts';
import { ManageInputRef, OpenInputRef, PreviewInputRef } from './leverage-inputs.ts';
import { IssueRef, SendCallsRef, TokenAmountRef, UnsignedCallRef } from './transaction.ts';

const PATH_DESCRIPTIONS: Record<Path, string> = {
  leverage: 'Open with the collateral itself.',
  swapAndLeverage: 'Swap into collateral, then open.',
  reallocateAndLeverage: 'Bring liquidity into the market, then open with the collateral itself.',
  reallocateSwapAndLeverage: 'Bring liquidity into the market, swap into collateral, then open.',
  deleverage: 'Sell the collateral, repay, pay the rest out.',
  increaseLeverage: 'Borrow more and swap it into collateral.',
  supplyCollateral: 'Add the collateral itself.',
  swapAndSupplyCollateral: 'Swap into collateral and add it.',
  repay: 'Repay with the loan token.',
  swapAndRepay: 'Swap into the loan token and repay.',
  withdrawCollateral: 'Take collateral out.',
  borrow: 'Borrow more to the wallet.',
};

const PathRef = builder.enumType('TransactionPath', {
  description: 'Which contract function the transaction runs.',
  values: Object.fromEntries(
    TRANSACTION_PATHS.map((path) => [path, { value: path, description: PATH_DESCRIPTIONS[path] }]),
  ) as {
    [P in Path]: { value: P; description: string };
  },
});

const PLAN_ACTIONS: readonly PlanAction[] = ['open_leverage', ...MANAGE_ACTIONS];

const PlanActionRef = builder.enumType('PlanAction', {
  description: 'What a plan does.',
  values: Object.fromEntries(
    PLAN_ACTIONS.map((action) => [action, { value: action, description: `The action \`${action}\`.` }]),
  ) as { [A in PlanAction]: { value: A; description: string } },
});

const PreviewRef = builder.objectRef<ShownPreview>('LeveragePreview').implement({
  description: 'What opening a position would be. Nothing is built and no wallet is needed.',
  fields: (t) => ({
    path: t.field({ type: PathRef, description: 'The path that a build takes.', resolve: ({ terms }) => terms.path }),
    isDirect: t.boolean({
      description: 'Whether the pay token is the collateral, so that nothing is swapped first.',
      resolve: ({ terms }) => !terms.entrySwap,
    }),
    isReallocate: t.boolean({
      description: 'Whether liquidity has to be brought into the market first.',
      resolve: ({ terms }) => terms.reallocations.length > 0,
    }),
    position: t.expose('position', { type: PositionPreviewRef, description: 'The position after the expected fill.' }),
    amountFlashLoan: t.field({
      type: 'Decimal',
      description: 'What is borrowed, whole loan tokens.',
      resolve: ({ terms, position }) => loanAmount(position, terms.amountFlashLoan),
    }),
    minTokenOut: t.field({
      type: 'Decimal',
      description: 'Least collateral that the flash loan is swapped into, whole tokens.',
      resolve: ({ terms }) => formatUnitsPlain(terms.leverageSwap.minOut, terms.leverageSwap.tokenOut.decimals),
    }),
    reallocationFeeWei: t.field({
      type: 'BigInteger',
      nullable: true,
      description: 'What the vaults ask for it in wei; `null` = no liquidity is moved.',
      resolve: ({ terms }) =>
        terms.reallocations.length === 0 ? null : terms.reallocations.reduce((sum, { feeWei }) => sum + feeWei, 0n),
    }),
    slippage: t.field({
      type: 'Decimal',
      description:
        'The slippage that holds in the calldata, a ratio: what was asked for, capped, or what a limit leaves of it.',
      resolve: ({ terms }) => terms.slippage.value,
    }),
    note: t.exposeString('note', { description: 'The same in sentences.' }),
    issues: t.field({
      type: [IssueRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'What there is to know.',
      resolve: ({ issues }) => [...issues],
    }),
  }),
});

const PlanRef = builder.objectRef<Plan>('TransactionPlan').implement({
  description:
    'Unsigned calls for one wallet, tried out on the newest state. Sign the approvals first, then the transaction.',
  fields: (t) => ({
    chainId: t.field({ type: 'ChainId', description: 'The chain.', resolve: ({ chain }) => chain.chainId }),
    action: t.expose('action', { type: PlanActionRef, description: 'What it does.' }),
    path: t.expose('path', { type: PathRef, description: 'Which contract function it runs.' }),
    approvals: t.field({
      type: [UnsignedCallRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'Exact allowances that are missing, in order; empty when none is.',
      resolve: ({ approvals, user }) => formatCalls(approvals, user),
    }),
    tx: t.field({
      type: UnsignedCallRef,
      description: 'The transaction.',
      resolve: ({ tx, user }) => ({ ...formatCalls([tx], user)[0] }) as ReturnType<typeof formatCalls>[number],
    }),
    sendCalls: t.field({
      type: SendCallsRef,
      description: 'All of it as one batch for `wallet_sendCalls`.',
      resolve: ({ chain, user, approvals, tx }) => ({
        chainId: chain.chainId,
        from: user,
        calls: [...approvals, tx],
        atomicRequired: false,
      }),
    }),
    position: t.field({
      type: PositionPreviewRef,
      nullable: true,
      description: 'The position after the expected fill; `null` = none is left.',
      resolve: (plan) => positionOfPlan(plan),
    }),
    borrowApyPct: t.field({
      type: RateChangeRef,
      description: 'Borrow APY of the market before and after: what is borrowed or repaid here moves it, a close too.',
      resolve: (plan) => borrowApyOf(plan),
    }),
    ltvBefore: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'The LTV as it stands now, percent with 2 places; `null` = on an open, or its collateral is worth nothing.',
      resolve: (plan) => ltvBeforeOf(plan),
    }),
    depositBasisBefore: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Deposit basis as it stands now, whole loan tokens; `null` = on an open. `position` tells the one after it.',
      resolve: (plan) => (plan.basisBefore === undefined ? null : loanAmount(plan, plan.basisBefore)),
    }),
    liquidationBefore: t.field({
      type: LiquidationRef,
      nullable: true,
      description: 'Where the position could be liquidated as it stands now; `null` = on an open, or it owes nothing.',
      resolve: (plan) => liquidationBeforeOf(plan),
    }),
    costs: t.field({
      type: [CostRef],
      complexity: { field: 1, multiplier: 4 },
      description: 'What it costs at once, by kind, a close too; empty where nothing is swapped and no fee is due.',
      resolve: (plan, _args, ctx) => costsOf({ ...plan, basis: basisOfPlan(plan) }, ctx),
    }),
    totalSwapCostPctOfEquity: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'All that the swaps lose, their referral fees included, percent of the equity with 2 places; `null` = nothing prices one of them.',
      resolve: (plan) => {
        const { totalSwapCostPctOfEquity: pct } = basisOfPlan(plan);
        return pct ? formatPct(pct) : null;
      },
    }),
    worstCase: t.field({
      type: WorstCaseRef,
      nullable: true,
      description:
        'What the wallet has of it when every swap gives its minimum only; `null` = nothing is left and nothing is paid out.',
      resolve: (plan) => worstCaseOfPlan(plan),
    }),
    amountFlashLoan: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Flash loan, whole loan tokens; `null` = none is taken.',
      resolve: (plan) => (plan.amountFlashLoan === undefined ? null : loanAmount(plan, plan.amountFlashLoan)),
    }),
    minTokenOut: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Least output of the (last) swap, whole tokens; `null` = nothing is swapped.',
      resolve: ({ swaps }) => {
        const last = swaps.at(-1);
        return last ? formatUnitsPlain(last.minOut, last.tokenOut.decimals) : null;
      },
    }),
    slippage: t.field({
      type: 'Decimal',
      description:
        'The slippage that holds in the calldata, a ratio: what was asked for, capped, or what a limit leaves of it.',
      resolve: ({ slippage }) => slippage.value,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the earliest of its quotes expires, at most 60 s away; `null` = it contains none.',
      resolve: ({ expiresAtMs }) => expiresAtMs ?? null,
    }),
    signingUrl: t.exposeString('signingUrl', {
      nullable: true,
      description: 'Link to review and sign in the app; `null` = no app is configured.',
    }),
    instructions: t.exposeString('instructions', { description: 'What to do with it, in sentences.' }),
    issues: t.field({
      type: [IssueRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'What there is to know or to do before signing.',
      resolve: ({ issues }) => [...issues],
    }),
    received: t.field({
      type: [TokenAmountRef],
      nullable: true,
      complexity: { field: 1, multiplier: 2 },
      description:
        'What the wallet had more after the simulation, fees of the contracts paid; empty = nothing, `null` = it could not be simulated.',
      resolve: ({ received }) => (received ? [...received] : null),
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
    simulatedGas: t.expose('gasUsed', {
      type: 'BigInteger',
      nullable: true,
      description: 'Gas that the simulation of all calls used; `null` = it could not be simulated, see `issues`.',
    }),
  }),
});

/** Quotes, chain reads and a simulation: dearer than anything that is read from the snapshot. */
const COMPLEXITY = 50;

builder.queryFields((t) => ({
  leveragePreview: t.field({
    type: PreviewRef,
    description: 'Preview opening a leveraged position, without a wallet. Needs a key.',
    args: { input: t.arg({ type: PreviewInputRef, required: true, description: 'What to open.' }) },
    ...builtField({
      complexity: COMPLEXITY,
      union: { name: 'LeveragePreviewResult', description: 'The preview, or why there is none.' },
    }),
    resolve: (_root, { input }, ctx) => previewLeverage(input, ctx),
  }),
  openLeverage: t.field({
    type: PlanRef,
    description:
      'Build the unsigned transaction that opens a leveraged position. Changes nothing: the wallet signs and sends. Needs a key.',
    args: { input: t.arg({ type: OpenInputRef, required: true, description: 'What to open, and who signs.' }) },
    ...builtField({
      complexity: COMPLEXITY,
      union: { name: 'OpenLeverageResult', description: 'The plan, or why there is none.' },
    }),
    resolve: (_root, { input }, ctx) => openPosition(input, ctx),
  }),
  managePosition: t.field({
    type: PlanRef,
    description:
      'Build the unsigned transaction that manages or closes a position. Changes nothing: the wallet signs and sends. Needs a key.',
    args: { input: t.arg({ type: ManageInputRef, required: true, description: 'Which position, and what to do.' }) },
    ...builtField({
      complexity: COMPLEXITY,
      union: { name: 'ManagePositionResult', description: 'The plan, or why there is none.' },
    }),
    resolve: (_root, { input }, ctx) => managePosition(input, ctx),
  }),
}));
