import type { Market } from '../../catalog/types.ts';
import type { LtvLimits } from '../../domain/leverage/limits.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId, MarketId } from '../../shared/ids.ts';
import type { BuilderDeps } from '../deps.ts';
import type { PlanDraft } from '../plan.ts';
import type { PositionPreviewInput } from '../preview/position.ts';
import type { MarketRates } from '../preview/rates.ts';
import type { SwapBounds } from '../quote/request.ts';
import type { ManagedState, PositionBinding } from '../read/position.ts';
import type { ManageAction, PayToken, PlannedSwap } from '../types.ts';

export interface ManageInput {
  readonly chainId: ChainId;
  readonly user: Address;
  /** Index of the position on chain. */
  readonly id: number;
  /** Market that the caller expects the position on. */
  readonly marketId?: MarketId | undefined;
  readonly action: ManageAction;
  /** Whole tokens: of the pay token, else of the collateral or the loan. */
  readonly amount?: Decimal | undefined;
  readonly payToken?: Address | undefined;
  readonly full?: boolean | undefined;
  /** Whether a close names the amount that was read, so that collateral that is added meanwhile cannot make it revert. */
  readonly exact?: boolean | undefined;
  readonly leverage?: Decimal | undefined;
  readonly desiredLtvPct?: Decimal | undefined;
  readonly slippage?: Decimal | undefined;
  /** The most that all swaps and fees may cost together, percent of the equity. */
  readonly maxSwapLossPct?: Decimal | undefined;
  /** The least that the swap of the action may give, whole tokens of its output. */
  readonly minAmountOut?: Decimal | undefined;
  /** Whether it may be built where no node can simulate it; only for actions that take risk back. */
  readonly allowUnsimulated?: boolean | undefined;
}

/** Everything a manage verb decides on. */
export interface ManageContext extends ManagedState, SwapBounds {
  readonly deps: BuilderDeps;
  /** Its contract at the lending protocol. */
  readonly binding: Pick<PositionBinding, 'proxy'>;
  readonly input: ManageInput;
  readonly market: Market;
  readonly limits: LtvLimits;
  /** Interest of the debt until the plan expires, loan base units. */
  readonly interest: bigint;
  /** The most that it may allow for this action. */
  readonly largestPct: Decimal;
  readonly rates: MarketRates | undefined;
  /** Only where the action is paid for. */
  readonly payToken: PayToken | undefined;
  /** The price-impact part of a preview: the venue, and the loss of the swap against its reference where something prices the pair. */
  impactOf(swap: PlannedSwap): Pick<PositionPreviewInput, 'swap'>;
}

/** The part of the draft that a verb decides. */
export type VerbDraft = Pick<PlanDraft, 'path' | 'approvals' | 'tx' | 'swaps'> &
  Partial<
    Pick<
      PlanDraft,
      | 'pays'
      | 'preview'
      | 'amountFlashLoan'
      | 'debtChange'
      | 'fees'
      | 'leastPaidOut'
      | 'notes'
      | 'issues'
      | 'slippage'
      | 'conclude'
      | 'explain'
      | 'overrides'
      | 'needsOutcome'
      | 'amounts'
    >
  >;
export type Verb = (context: ManageContext) => VerbDraft | Promise<VerbDraft>;
