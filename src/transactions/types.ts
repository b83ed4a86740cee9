import type { MarketParams } from '../catalog/market-id.ts';
import type { SwapSource } from '../catalog/schema.ts';
import type { Decimal } from '../shared/decimal.ts';
import type { Address, ChainId, Hex, MarketId, StrategyId } from '../shared/ids.ts';
import type { MANAGE_ACTIONS } from '../shared/names.ts';
import type { SwapQuote } from '../upstreams/types.ts';
import type { MarketRates } from './preview/rates.ts';

/** Contract function that the main call of a bundle runs. */
export type Path =
  | 'leverage'
  | 'swapAndLeverage'
  | 'reallocateAndLeverage'
  | 'reallocateSwapAndLeverage'
  | 'deleverage'
  | 'increaseLeverage'
  | 'supplyCollateral'
  | 'swapAndSupplyCollateral'
  | 'repay'
  | 'swapAndRepay'
  | 'withdrawCollateral'
  | 'borrow';
/** Issues of a plan that a signer has to know or to resolve. */
export const ISSUE_KINDS = [
  'INSUFFICIENT_BALANCE',
  'APPROVAL_NEEDED',
  'PRICE_UNVERIFIED',
  'NOT_SIMULATED',
  'SLIPPAGE_TIGHTENED',
  'SLIPPAGE_CAPPED',
  'REFERENCE_OLD',
  'REFERENCE_UNDATED',
  'LOOPS_STAY_OPEN',
  'HIGH_COST',
  'UNDER_WATER',
] as const;

/** Which contract function the main call runs. */

export type ManageAction = (typeof MANAGE_ACTIONS)[number];
export type PlanAction = 'open_leverage' | ManageAction;

/** One unsigned call. People and tests read `action`; only wallets read `data`. */
export interface BuiltCall<T extends string = string, A = unknown> {
  readonly to: Address;
  readonly data: Hex;
  /** Wei. */
  readonly value: bigint;
  readonly action: { readonly type: T; readonly args: A };
}

export interface SwapData {
  readonly extRouter: Address;
  readonly extCalldata: Hex;
}

/** The slippage that counts, a ratio. */
export interface EffectiveSlippage {
  readonly value: Decimal;
  /** The slippage of the request, when it is above the cap. */
  readonly cappedFrom?: Decimal | undefined;
  /** The slippage that would count if no minimum were raised above it. */
  readonly tightenedFrom?: Decimal | undefined;
}

/** A token that is paid with or received; curated or read on chain. The zero address is the native token. */
export interface PayToken {
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
  readonly isNative: boolean;
  /** Whether an allowance must go through zero. Assumed of tokens outside the catalog. */
  readonly resetsApproval: boolean;
}

/** The input and the output of a swap. */
export interface SwapPair {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
}

/** A chosen swap: the quote, its reference, and its guaranteed output. */
export interface PlannedSwap {
  readonly tokenIn: Pick<PayToken, 'address' | 'symbol' | 'decimals'>;
  readonly tokenOut: Pick<PayToken, 'address' | 'symbol' | 'decimals'>;
  readonly quote: SwapQuote;
  /** Value of the input at prices that no venue influences, base units of `tokenOut`; absent when nothing prices the pair. */
  readonly reference?: bigint | undefined;
  /** The output that is expected and shown: the quote, at most the reference. Base units. */
  readonly expectedOut: bigint;
  /** Percent of the reference that is lost at `expectedOut`, never negative; absent without a reference. */
  readonly lossPct?: Decimal | undefined;
  /** Least output the contracts accept, base units; never below reference × (1 − allowed loss − slippage). */
  readonly minOut: bigint;
  readonly feeBps: number;
}

/** A vault's liquidity to be moved into the market first. */
export interface Reallocation {
  readonly vault: Address;
  readonly feeWei: bigint;
  /** By market id, ascending. */
  readonly withdrawals: readonly {
    readonly marketId: MarketId;
    readonly market: MarketParams;
    readonly amount: bigint;
  }[];
}

/** State of a position on its market, base units. */
export interface PositionState {
  readonly collateral: bigint;
  readonly debt: bigint;
}

/** A simulation that ended with less than was planned. Whole tokens. */
export interface Shortfall {
  /** The output of one swap, or the value of the position less its debt. */
  readonly of: 'swap_output' | 'net_value';
  readonly expected: string;
  readonly simulated: string;
  /** The token of both amounts. */
  readonly token: Pick<PayToken, 'address' | 'symbol'>;
  /** The percentage of `expected` that may be missing. */
  readonly tolerancePct: string;
  /** The venue, where it is one swap. */
  readonly source?: SwapSource | undefined;
  /** The swap; not shown. */
  readonly swap?: SwapPair | undefined;
}

/** A position after the expected fill. */
export interface PositionPreview {
  /** Percent; absent without a requested target. */
  readonly requestedLtvPct?: Decimal | undefined;
  readonly effectiveLtvPct: Decimal;
  /** LTV when every swap gives its minimum only. */
  readonly worstLtvPct: Decimal;
  readonly after: PositionState;
  /** When every swap gives its minimum only. */
  readonly worst: PositionState;
  /** Deposit basis after it, loan base units; absent = the contract's own rule decides, and nothing was executed. */
  readonly basis?: bigint | undefined;
  /** Percent a year at the borrow rate that the market has once this is done; absent when the rates are not measured. */
  readonly expectedLeverageApyPct?: Decimal | undefined;
  /** The same position at the borrow rate of now, percent a year; absent likewise. */
  readonly leverageApyBeforePct?: Decimal | undefined;
  /** Percent of the swap's value at the oracle's price that the swap loses (negative = gains); absent without a swap. */
  readonly priceImpactPct?: Decimal | undefined;
  readonly swapSource?: SwapSource | undefined;
  /** The rates behind `expectedLeverageApyPct`. */
  readonly rates?: MarketRates | undefined;
}

/** An amount of one token, base units. */
export interface TokenAmount {
  readonly token: Pick<PayToken, 'address' | 'symbol' | 'decimals'>;
  readonly amount: bigint;
}

/** The end of a range: base units, or why there is no number. `quotes`: it depends on quotes for other amounts. */
export type AmountBound = bigint | 'unlimited' | 'quotes';

/** The amounts of an action that would pass now, the rest of the request unchanged. */
export interface AmountRange {
  readonly token: Pick<PayToken, 'address' | 'symbol' | 'decimals'>;
  readonly smallest: AmountBound;
  readonly largest: AmountBound;
}

export type IssueKind = (typeof ISSUE_KINDS)[number];

/** An issue that the signer has to know or to resolve. It never stops a plan. */
export interface Issue {
  readonly kind: IssueKind;
  readonly message: string;
  readonly token?: Address | undefined;
  /** Whole tokens. */
  readonly required?: string | undefined;
  readonly available?: string | undefined;
  /** Requested slippage (after its cap) and effective slippage, ratios. */
  readonly requested?: string | undefined;
  readonly effective?: string | undefined;
  /** Expected cost, percent of the equity with 2 places; absent = the issue is about no cost, or there is no equity. */
  readonly costPctOfEquity?: string | undefined;
  /** The part of a payment that goes to the lenders of a position under water, whole loan tokens; absent = none is in question. */
  readonly toLenders?: string | undefined;
  /** Expected cost in USD with 2 places; absent = the issue is about no cost, or nothing prices it. */
  readonly costUsd?: string | undefined;
}

/** Everything that was decided about an open, before any calldata. */
export interface OpenTerms {
  readonly chainId: ChainId;
  readonly strategyId: StrategyId;
  readonly path: Extract<Path, 'leverage' | 'swapAndLeverage' | 'reallocateAndLeverage' | 'reallocateSwapAndLeverage'>;
  readonly payToken: PayToken;
  readonly amountIn: bigint;
  /** The swap of the pay token into collateral; absent on direct paths. */
  readonly entrySwap?: PlannedSwap | undefined;
  /** The least collateral that the position opens with, before the flash loan's. */
  readonly amountCollateral: bigint;
  /** Expected deposit fee of the contract, collateral base units, and its rate in WAD. */
  readonly depositFee: bigint;
  readonly depositFeeRate: bigint;
  readonly amountFlashLoan: bigint;
  readonly leverageSwap: PlannedSwap;
  readonly reallocations: readonly Reallocation[];
  /** Their fee, loan base units; `null` = nothing prices it. */
  readonly movingFee: bigint | null;
  /** The slippage in the calldata. */
  readonly slippage: EffectiveSlippage;
  readonly preview: PositionPreview;
}
