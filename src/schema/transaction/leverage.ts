import {
  type LeveragePlanView,
  type LeveragePreviewView,
  type ManagePreviewView,
  managePosition,
  openPosition,
  type PlannedLeverageView,
  reallocationFeeOf,
} from '../../resolvers/transaction/leverage.ts';
import {
  borrowApyOf,
  liquidationBeforeOf,
  loanAmount,
  ltvBeforeOf,
} from '../../resolvers/transaction/position-preview.ts';
import { formatUnitsPlain } from '../../shared/decimal.ts';
import { MANAGE_ACTIONS } from '../../shared/names.ts';
import type { Path } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../common/enum-values.ts';
import { CHAIN_OF_ID } from '../common/page.ts';
import { PLAN_REFUSALS } from '../refusal/refusal.ts';
import { builtField } from './built-field.ts';
import { EstimateRef, formatLiquidation, LiquidationRef, planAction, RateChangeRef } from './estimate.ts';
import { ManageLeverageInputRef, OpenLeverageInputRef } from './leverage-inputs.ts';
import { TransactionPlanRef } from './plan.ts';
import { PositionPreviewRef } from './position-preview.ts';
import { PreviewRef } from './preview.ts';

const PathRef = builder.enumType('TransactionPath', {
  description: 'The contract function that the transaction runs.',
  values: enumValues<Path>({
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
  }),
});

const BORROW_APY = 'Borrow APY of the market before and after: new debt and repayments move it.';

export const LeveragePreviewRef = builder.objectRef<LeveragePreviewView>('LeveragePreview').implement({
  description:
    'A preview of opening a position at current prices. Nothing is built and no wallet is needed; a plan takes fresh quotes.',
  interfaces: [EstimateRef, PreviewRef],
  fields: (t) => ({
    path: t.field({
      type: PathRef,
      description: 'The contract function that a plan runs.',
      resolve: ({ terms }) => terms.path,
    }),
    isDirect: t.boolean({
      description: 'Whether the pay token is the collateral, so that nothing is swapped first.',
      resolve: ({ terms }) => !terms.entrySwap,
    }),
    isReallocate: t.boolean({
      description: 'Whether liquidity has to be brought into the market first.',
      resolve: ({ terms }) => terms.reallocations.length > 0,
    }),
    position: t.expose('position', { type: PositionPreviewRef, description: 'The position after the expected fill.' }),
    borrowApy: t.field({
      type: RateChangeRef,
      description: BORROW_APY,
      resolve: ({ position }) => borrowApyOf(position),
    }),
    amountFlashLoan: t.field({
      type: 'Decimal',
      description: 'Amount to be borrowed. Whole loan tokens.',
      resolve: ({ terms, position }) => loanAmount(position, terms.amountFlashLoan),
    }),
    minTokenOut: t.field({
      type: 'Decimal',
      description: 'Least output of the swap of the flash loan. Whole collateral tokens.',
      resolve: ({ terms }) => formatUnitsPlain(terms.leverageSwap.minOut, terms.leverageSwap.tokenOut.decimals),
    }),
    reallocationFeeWei: t.field({
      type: 'BigInteger',
      nullable: true,
      description: 'Fee of the vaults for bringing liquidity. Wei.',
      resolve: ({ terms }) => reallocationFeeOf(terms),
    }),
  }),
});

const PlannedLeverageRef = builder.interfaceRef<PlannedLeverageView>('PlannedLeverage').implement({
  description: 'What a plan that opens or manages a position decides, and the preview of a managed one.',
  interfaces: [EstimateRef],
  fields: (t) => ({
    action: t.expose('action', planAction('open_leverage', ...MANAGE_ACTIONS)),
    path: t.expose('path', { type: PathRef, description: 'The contract function that the transaction runs.' }),
    positionIndex: t.field({
      type: 'Int',
      nullable: true,
      description: 'Index of the managed position among those of the wallet.',
      resolve: ({ plan }) => plan.held?.id ?? null,
    }),
    position: t.expose('position', {
      type: PositionPreviewRef,
      nullable: true,
      description: 'The position after the expected fill.',
    }),
    borrowApy: t.field({ type: RateChangeRef, description: BORROW_APY, resolve: ({ plan }) => borrowApyOf(plan) }),
    depositBasisBefore: t.expose('depositBasisBefore', {
      type: 'Decimal',
      nullable: true,
      description: 'Current deposit basis of the managed position. Whole loan tokens.',
    }),
    amountFlashLoan: t.expose('amountFlashLoan', {
      type: 'Decimal',
      nullable: true,
      description: 'Flash loan. Whole loan tokens.',
    }),
    minTokenOut: t.expose('minTokenOut', {
      type: 'Decimal',
      nullable: true,
      description: 'Least output of the (last) swap, whole tokens of its output.',
    }),
  }),
});

export const ManageLeveragePreviewRef = builder.objectRef<ManagePreviewView>('ManageLeveragePreview').implement({
  description:
    'A preview of an action on a position. A sale of a part is simulated, because the share of the debt that it repays is a rule of the contract.',
  interfaces: [EstimateRef, PreviewRef, PlannedLeverageRef],
});

const LeveragePlanRef = builder.objectRef<LeveragePlanView>('LeveragePlan').implement({
  description:
    'A plan that opens or manages a leveraged position: the exact allowances that are missing, at most 2, then one transaction.',
  interfaces: [EstimateRef, PlannedLeverageRef, TransactionPlanRef],
  fields: (t) => ({
    ltvBeforePct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Current LTV of the managed position. Percent with 2 places. Signed.',
      resolve: ({ plan }) => ltvBeforeOf(plan),
    }),
    liquidationBefore: t.field({
      type: LiquidationRef,
      nullable: true,
      description: 'The price at which the managed position could be liquidated before the action.',
      resolve: ({ plan }) => formatLiquidation(liquidationBeforeOf(plan)),
    }),
    quotesExpireAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Expiry of the earliest quote in the calldata.',
      resolve: ({ plan }) => plan.expiresAtMs ?? null,
    }),
  }),
});

/** Quotes, chain reads and a simulation: dearer than anything that is read from the snapshot. */
const COMPLEXITY = 50;
const WALLET = 'The wallet that signs.';

builder.mutationFields((t) => ({
  openLeveragePlan: t.field({
    type: LeveragePlanRef,
    description:
      'Build the unsigned transaction that opens a leveraged position for a wallet. Changes nothing: the wallet signs and sends. Needs a key.',
    args: {
      wallet: t.arg({ type: 'Address', required: true, description: WALLET }),
      chainId: t.arg({ type: 'ChainId', description: CHAIN_OF_ID }),
      input: t.arg({ type: OpenLeverageInputRef, required: true, description: 'The position to open.' }),
    },
    ...builtField({
      complexity: COMPLEXITY,
      refusals: PLAN_REFUSALS,
      union: { name: 'OpenLeveragePlanResult', description: 'The plan, or the refusal in its place.' },
    }),
    resolve: (_root, { wallet, chainId, input }, ctx) => openPosition(wallet, { ...input, chainId }, ctx),
  }),
  manageLeveragePlan: t.field({
    type: LeveragePlanRef,
    description:
      'Build the unsigned transaction that manages or closes a position of a wallet. Changes nothing: the wallet signs and sends. Needs a key.',
    args: {
      wallet: t.arg({ type: 'Address', required: true, description: WALLET }),
      input: t.arg({ type: ManageLeverageInputRef, required: true, description: 'The position and the action.' }),
    },
    ...builtField({
      complexity: COMPLEXITY,
      refusals: PLAN_REFUSALS,
      union: { name: 'ManageLeveragePlanResult', description: 'The plan, or the refusal in its place.' },
    }),
    resolve: (_root, { wallet, input }, ctx) => managePosition(wallet, input, ctx),
  }),
}));
