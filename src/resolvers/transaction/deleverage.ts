import type { Token } from '../../catalog/types.ts';
import type { Gap } from '../../domain/freshness/types.ts';
import type { Position } from '../../domain/position/types.ts';
import { Decimal, formatUnitsPlain, fromUnits, toFixedHalfUp, ZERO } from '../../shared/decimal.ts';
import { AppError } from '../../shared/errors.ts';
import type { Address, StrategyId } from '../../shared/ids.ts';
import {
  type Affordability,
  affordabilityOf,
  compareOptions,
  type DeleverageAction,
  type DeleverageOption,
  type DeleverageOptions,
  type DeleverageStep,
  formatAmount,
  gasOfSteps,
  gasUsdOf,
  lostToLenders,
  ltvPctOf,
  type Plan,
  type PricedAt,
  paidStep,
  paymentOf,
  pricedAt,
  type RankedBy,
  totalUsd,
  underWaterFact,
  underWaterOf,
} from '../../transactions/index.ts';
import type { AppContext } from '../common/context.ts';
import { absences, type Estimate, estimateGaps } from './estimate.ts';
import { estimateOfPlan } from './leverage.ts';
import { type PositionPreviewView, positionGaps, positionOfPlan } from './position-preview.ts';
import { namesOf, spelled } from './request-names.ts';

export type DeleverageArgs = {
  readonly [K in 'targetLtvPct' | 'targetHeadroomPct' | 'maxSwapLossPct']?: Decimal | null | undefined;
};

/** The ways to a lower LTV of one position, the cheapest first. */
export interface DeleverageView {
  readonly wallet: Address;
  readonly isNeeded: boolean;
  /** Percent with 2 places, rounded up. */
  readonly ltvPct: string;
  readonly found: DeleverageOptions;
  readonly priced: PricedAt;
  readonly options: readonly DeleverageOptionView[];
  readonly cheapest: DeleverageAction | null;
  readonly cheapestAffordable: DeleverageAction | null;
  readonly underWater: UnderWaterView | null;
  readonly gaps: readonly Gap[];
}

/** A debt above the value of its collateral: whole loan tokens, USD with 2 places. */
export interface UnderWaterView {
  readonly code: 'under_water';
  readonly debt: string;
  readonly collateralValue: string;
  readonly excess: string;
  readonly excessUsd: string | null;
  readonly message: string;
}

export interface DeleverageOptionView {
  readonly action: DeleverageAction;
  readonly steps: readonly DeleverageStep[];
  readonly affordability: Affordability;
  /** Whole tokens of the first step. */
  readonly walletBalance: string | null;
  /** USD with 2 places. */
  readonly costUsd: string | null;
  /** Units of gas of all steps; `null` = not all of them were simulated. */
  readonly simulatedGas: bigint | null;
  /** USD with 4 places. */
  readonly gasUsd: string | null;
  readonly preview: DeleveragePreviewView | null;
  readonly unavailable: DeleverageUnavailable | null;
  readonly gaps: readonly Gap[];
}

/** Why an option is not possible now. Not the error itself: GraphQL throws every value that is an `Error`. */
export type DeleverageUnavailable = Pick<AppError, 'code' | 'message' | 'retryable'>;

/** Result of all steps of an option. */
export interface DeleveragePreviewView extends Estimate {
  readonly plan: Plan;
  readonly position: PositionPreviewView;
  readonly note: string;
}

/** Find the ways to bring a position down to an LTV. @throws NotEligibleError, BadRequestError, ChainReadError */
export async function deleverageOf(
  { chainId, wallet, id }: Position,
  { targetLtvPct, targetHeadroomPct, maxSwapLossPct }: DeleverageArgs,
  ctx: AppContext,
): Promise<DeleverageView> {
  const found = await ctx.live().leverage.deleverage({
    chainId,
    user: wallet,
    id,
    targetLtvPct: targetLtvPct ?? undefined,
    targetHeadroomPct: targetHeadroomPct ?? undefined,
    maxSwapLossPct: maxSwapLossPct ?? undefined,
  });
  const ranked = found.options
    .map((option) => optionView(option, found, ctx))
    .sort((a, b) => compareOptions(a.by, b.by));
  const options = ranked.map(({ view }) => view);
  const cheap = ranked.filter(({ by }) => by.costUsd !== undefined).map(({ view }) => view);
  const view = {
    wallet,
    isNeeded: found.excess > 0n,
    ltvPct: ltvText(found),
    found,
    priced: pricedAt(found.live),
    options,
    cheapest: cheap[0]?.action ?? null,
    cheapestAffordable:
      cheap.find(({ affordability }) => affordability === 'affordable' || affordability === 'nothing_to_pay')?.action ??
      null,
    underWater: underWaterView(found, ctx),
  };
  return { ...view, gaps: viewGaps(view) };
}

/** Rounded up as the contracts count it, so that one above the target is never shown as at it. */
function ltvText({ position, live }: DeleverageOptions): string {
  const ltv = ltvPctOf(position, live.price);
  if (!ltv) throw new Error('the price of a position is above 0');
  return ltv.toFixed(2, Decimal.ROUND_UP);
}

function optionView(
  option: DeleverageOption,
  found: DeleverageOptions,
  ctx: AppContext,
): { readonly view: DeleverageOptionView; readonly by: RankedBy } {
  const { action, steps, outcome } = option;
  const paid = paidStep(option);
  const held = paid && found.balances.get(paid.token.address);
  const lost = lostToLenders(option, found);
  const previewed = outcome instanceof AppError ? undefined : previewOf(outcome, action, lost, ctx);
  const swapsAndFees = previewed && totalUsd(previewed.costs);
  const lostUsd = usdOfLoan(lost, found, ctx);
  const costUsd = lostUsd && swapsAndFees?.plus(lostUsd);
  const gas = gasOfSteps(steps);
  const nativeUsd = ctx.live().leverage.usdOf(found.chain.chainId, found.chain.native.address);
  const gasUsd = gasUsdOf(gas, found.gasPriceWei, found.chain, nativeUsd);
  const view = {
    action,
    steps,
    affordability: affordabilityOf(option, found.balances),
    walletBalance: paid && held !== undefined ? formatUnitsPlain(held, paid.token.decimals) : null,
    costUsd: costUsd ? toFixedHalfUp(costUsd, 2) : null,
    simulatedGas: gas ?? null,
    gasUsd: gasUsd ? toFixedHalfUp(gasUsd, 4) : null,
    preview: previewed?.preview ?? null,
    unavailable: outcome instanceof AppError ? unavailableOf(outcome.spelled(namesOf(ctx))) : null,
  };
  return {
    view: { ...view, gaps: optionGaps(view, paid?.token) },
    by: { isPossible: previewed !== undefined, costUsd, payment: paymentOf(option, found) },
  };
}

function underWaterView(found: DeleverageOptions, ctx: AppContext): UnderWaterView | null {
  const under = underWaterOf(found);
  if (!under) return null;
  const { loan } = found.market;
  const { debt, collateralValue, excess } = under;
  const usd = usdOfLoan(excess, found, ctx);
  return {
    code: 'under_water',
    debt: formatUnitsPlain(debt, loan.decimals),
    collateralValue: formatUnitsPlain(collateralValue, loan.decimals),
    excess: formatUnitsPlain(excess, loan.decimals),
    excessUsd: usd ? toFixedHalfUp(usd, 2) : null,
    message: `${underWaterFact(under, loan)} Repaying or adding collateral costs ${formatAmount(excess, loan)} more than the position is worth afterwards: that part goes to the lenders. The owner does not have to pay it, and loses nothing more without it.`,
  };
}

function unavailableOf({ code, message, retryable }: AppError): DeleverageUnavailable {
  return { code, message, retryable };
}

/** `undefined` = nothing prices the loan token. */
function usdOfLoan(
  units: bigint,
  { chain, market: { loan } }: DeleverageOptions,
  ctx: AppContext,
): Decimal | undefined {
  if (units === 0n) return ZERO;
  const usd = ctx.live().leverage.usdOf(chain.chainId, loan.address);
  return usd && fromUnits(units, loan.decimals).times(usd);
}

function lossNote(lost: bigint, { loan }: Plan['market']): readonly string[] {
  if (lost === 0n) return [];
  return [
    `The debt is ${formatAmount(lost, loan)} above the value of the collateral. This part of the payment goes to the lenders and is counted as a cost; the owner does not have to pay it, and nothing more is lost without it.`,
  ];
}

function previewOf(plan: Plan, action: DeleverageAction, lost: bigint, ctx: AppContext) {
  const { costs, common } = estimateOfPlan(plan, ctx);
  const position = positionOfPlan(plan);
  if (!position) throw new Error(`the option ${action} leaves no position`);
  const preview: DeleveragePreviewView = {
    ...common,
    chainId: plan.chain.chainId,
    strategyId: plan.market.id as string as StrategyId,
    action,
    slippage: plan.slippage.value,
    issues: spelled(plan.issues, ctx),
    plan,
    position,
    note: [...lossNote(lost, plan.market), ...plan.notes].join(' '),
    gaps: [...estimateGaps(common), ...positionGaps(position)],
  };
  return { costs, preview };
}

function optionGaps(view: Omit<DeleverageOptionView, 'gaps'>, paid: Token | undefined): readonly Gap[] {
  const { walletBalance, costUsd, simulatedGas, gasUsd, preview, unavailable, steps } = view;
  const impossible = unavailable !== null;
  return absences(
    [
      'walletBalance',
      walletBalance,
      paid ? 'NOT_MEASURED' : 'NOT_APPLICABLE',
      paid ? `The balance of ${paid.symbol} could not be read.` : 'The wallet pays nothing: its position does.',
    ],
    [
      'costUsd',
      costUsd,
      impossible ? 'NOT_APPLICABLE' : 'NOT_MEASURED',
      impossible ? 'It is not possible now.' : 'Nothing prices one of the costs in USD.',
    ],
    [
      'simulatedGas',
      simulatedGas,
      impossible ? 'NOT_APPLICABLE' : 'NOT_MEASURED',
      impossible
        ? 'It is not possible now.'
        : steps.length > 1
          ? 'No node has simulated both transactions, one after the other.'
          : 'No node has simulated it.',
    ],
    [
      'gasUsd',
      gasUsd,
      impossible ? 'NOT_APPLICABLE' : 'NOT_MEASURED',
      impossible
        ? 'It is not possible now.'
        : simulatedGas === null
          ? 'The gas is not known, see `simulatedGas`.'
          : 'The node gave no gas price, or nothing prices the native token in USD.',
    ],
    ...steps.map(
      ({ gasUsed }, i) =>
        [
          `steps.${i}.simulatedGas`,
          gasUsed,
          impossible ? 'NOT_APPLICABLE' : 'NOT_MEASURED',
          impossible ? 'It is not possible now.' : 'No node has simulated it.',
        ] as const,
    ),
    ['preview', preview, 'NOT_APPLICABLE', 'It is not possible now, see `unavailable`.'],
    ['unavailable', unavailable, 'NONE', 'It is possible now.'],
  );
}

function viewGaps({
  isNeeded,
  cheapest,
  cheapestAffordable,
  priced,
  underWater,
}: Omit<DeleverageView, 'gaps'>): readonly Gap[] {
  const [reason, message] = isNeeded
    ? (['NONE', 'None is possible now at a known cost.'] as const)
    : (['NOT_APPLICABLE', 'The position is not above the target: nothing has to be done.'] as const);
  const unaffordable =
    isNeeded && cheapest ? 'The wallet is not known to hold the amount that a possible option takes.' : message;
  return absences(
    ['cheapestAction', cheapest, reason, message],
    ['cheapestAffordableAction', cheapestAffordable, reason, unaffordable],
    ['underWater', underWater, 'NOT_APPLICABLE', 'The collateral is worth at least the debt.'],
    [
      'underWater.excessUsd',
      underWater ? underWater.excessUsd : '',
      'NOT_MEASURED',
      'Nothing prices the loan token in USD.',
    ],
    ['readAt', priced.readAt, 'NOT_MEASURED', 'The node did not tell the block.'],
  );
}
