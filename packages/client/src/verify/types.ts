type Hex = `0x${string}`;
type Address = Hex;

/** One call as the service returns it. `value` is wei; absent = none. */
export interface PlannedCall {
  readonly to: string;
  readonly data: string;
  readonly value?: string | number | bigint | undefined;
}

/**
 * The part of a built plan that is verified: every call, and of its `meta` nothing but `sendCalls`. A plan has `tx` with its
 * `approvals`, or `calls`. `sendCalls` has to say the same once more.
 */
export interface VerifiablePlan {
  readonly chainId: number;
  readonly approvals?: readonly PlannedCall[] | undefined;
  readonly tx?: PlannedCall | undefined;
  readonly calls?: readonly PlannedCall[] | undefined;
  readonly sendCalls?: unknown;
  /** Where the REST interface has `sendCalls`. */
  readonly meta?: unknown;
  /** Of a batch. */
  readonly atomic?: unknown;
}

export type { TrustedChain, TrustedMarket, TrustedToken, TrustedVault } from './trusted.ts';

/** A ratio as a decimal number: 0.005 is half a percent. */
export type Ratio = number | string;

interface Asked {
  readonly chainId: number;
  /** The wallet that signs. */
  readonly owner: string;
}

/** How much a swap may lose. */
export interface SwapLimits {
  /** Default 0.005, and 0.01 for vaults, as in a request to the service. */
  readonly slippage?: Ratio | undefined;
  /**
   * The most that one swap may lose besides, of the value that it sells; default 0.005, and 0.01 for vaults and for the sale of a
   * close. By default the sale of a position above its max LTV may lose as much as a liquidation would take.
   */
  readonly maxSwapLoss?: Ratio | undefined;
  /**
   * The least output that you asked for, base units: of the swap of the payment, of the loan of an increase, or of the sale. Of
   * an exit of a vault it is the sum of all its sales. Refused where the payment is not swapped.
   */
  readonly minAmountOut?: bigint | undefined;
}

/** How much several swaps may lose together. */
export interface TotalLimits extends SwapLimits {
  /**
   * The most that all swaps may lose together besides the slippage, of the own money. Default 0.02 where risk is added, and 0.05
   * where positions are left; of a position above its max LTV as much as a liquidation would take.
   */
  readonly maxTotalLoss?: Ratio | undefined;
}

export interface Payment {
  /** The zero address is the native token. */
  readonly token: string;
  /** Base units. */
  readonly amount: bigint;
  /**
   * Its value in base units of the token that it is swapped into, by a source that you trust. Needed where the payment
   * is swapped: the collateral of the position, or its loan token when debt is repaid.
   */
  readonly worth?: bigint | undefined;
}

/** Fees of the contract, WAD. A fee that is left out counts as the most that the contract allows. */
export interface ContractFees {
  readonly depositFee?: bigint | undefined;
  readonly yieldFee?: bigint | undefined;
}

/** The state of a market as you read it. */
export interface MarketReading extends ContractFees {
  /** `price()` of the market's oracle: loan base units per collateral base unit, scaled by 1e36. */
  readonly price: bigint;
}

/** The state of a position as you read it, base units. */
export interface PositionReading extends MarketReading {
  readonly collateral: bigint;
  /** With the interest until it is sent. */
  readonly debt: bigint;
  /** Deposit basis of the contract; absent = 0, the least favourable. */
  readonly basis?: bigint | undefined;
  /** Above it the contract lets no position grow, and leaving may cost as much as a liquidation; WAD; absent = the liquidation LTV. */
  readonly maxLtv?: bigint | undefined;
}

/** Exactly one of both. */
export interface Target {
  readonly leverage?: Ratio | undefined;
  /** Percent. */
  readonly desiredLtv?: Ratio | undefined;
}

interface OfPosition extends Asked {
  readonly marketId: string;
  /** Index of the position on chain. */
  readonly positionId: number;
}

export interface ReallocationLimits {
  /** Vaults that you know as such. Nothing tells from the bytes of a call that an address is a vault. */
  readonly vaults: readonly string[];
  /** The most that all of them may charge, wei. */
  readonly maxFee: bigint;
}

export interface OpenIntent extends Asked, TotalLimits, Target {
  readonly action: 'open_leverage';
  readonly marketId: string;
  readonly pay: Payment;
  /** Liquidity that may be moved into the market first; absent = none. */
  readonly reallocation?: ReallocationLimits | undefined;
  readonly state: MarketReading;
}

export interface IncreaseIntent extends OfPosition, TotalLimits, Target {
  readonly action: 'increase_leverage';
  readonly state: PositionReading;
}

export interface AddIntent extends OfPosition, SwapLimits {
  readonly action: 'add_collateral';
  readonly pay: Payment;
  readonly state?: ContractFees | undefined;
}

export interface RemoveIntent extends OfPosition {
  readonly action: 'remove_collateral';
  /** Collateral, base units. */
  readonly amount: bigint;
  readonly state?: ContractFees | undefined;
}

export interface BorrowIntent extends OfPosition {
  readonly action: 'borrow';
  /** Loan tokens, base units. */
  readonly amount: bigint;
}

export interface RepayIntent extends OfPosition, SwapLimits {
  readonly action: 'repay';
  /** With `full` the most that is spent. Where it is swapped all of it may be, and the rest comes back in loan tokens. */
  readonly pay: Payment;
  readonly full?: boolean | undefined;
  /** With `full`: the plan pays exactly `pay.amount`, as where the request names the amount of another token. */
  readonly isExact?: boolean | undefined;
  /** `debt`, with its interest in base units: a full repayment that may bring less is refused. */
  readonly state?: (ContractFees & { readonly debt?: bigint | undefined }) | undefined;
}

export interface CloseIntent extends OfPosition, TotalLimits {
  readonly action: 'close';
  /** Collateral to sell, base units; absent = all. */
  readonly amount?: bigint | undefined;
  /** Whether the call names the collateral that was read: what somebody adds stays behind. Up to 0.2 % less than your reading. */
  readonly exact?: boolean | undefined;
  readonly state: PositionReading;
}

export interface DepositIntent extends Asked, Omit<TotalLimits, 'minAmountOut'> {
  readonly action: 'equity_deposit';
  readonly vaultId: string;
  /** Deposit tokens, base units. */
  readonly amount: bigint;
  /** Of the stock leg, percent. */
  readonly stockLtv: Ratio;
  /** Of the yield leg, percent; absent = up to the liquidation LTV of its market less 0.75 points. */
  readonly yieldLtv?: Ratio | undefined;
  readonly state: { readonly stock: MarketReading; readonly yield: MarketReading };
}

export interface ExitIntent extends Asked, TotalLimits {
  readonly action: 'equity_exit';
  readonly vaultId: string;
  /** The loops to close, in any order; none = the stock leg only. */
  readonly positionIds: readonly number[];
  /** As in `CloseIntent`, for every loop. */
  readonly exact?: boolean | undefined;
  readonly state: {
    readonly stock: PositionReading;
    /** By position id. */
    readonly loops: Readonly<Record<number, PositionReading>>;
  };
}

export interface RevokeIntent extends Asked {
  readonly action: 'revoke_authorization';
  /** The contract that may no longer act on the wallet's lending positions. */
  readonly authorized: string;
}

export interface ManualExitIntent extends Asked {
  readonly action: 'manual_exit';
  readonly marketId: string;
  /** The contract that holds the position, as you read it from FlashLeverage. */
  readonly proxy: string;
  readonly state: { readonly collateral: bigint; readonly borrowShares: bigint; readonly debt: bigint };
}

/** The request of the wallet's owner. Amounts are base units. */
export type Intent =
  | OpenIntent
  | IncreaseIntent
  | AddIntent
  | RemoveIntent
  | BorrowIntent
  | RepayIntent
  | CloseIntent
  | DepositIntent
  | ExitIntent
  | RevokeIntent
  | ManualExitIntent;

/** An amount of one token, base units. The zero address is the native token. */
export interface VerifiedAmount {
  readonly token: Address;
  readonly amount: bigint;
  /** "1000 sUSDe". */
  readonly text: string;
}

/** A right that the plan gives, and when it ends. */
export type Authorization =
  | {
      readonly kind: 'allowance';
      readonly spender: Address;
      readonly amount: VerifiedAmount;
      /** The call that takes exactly this amount; absent = the call takes the most of it, and the rest stays allowed. */
      readonly until?: { readonly callIndex: number };
    }
  | {
      readonly kind: 'morpho';
      readonly authorized: Address;
      /** The call that revokes it. */
      readonly until: { readonly callIndex: number };
    };

/** Bytes that were not decoded, and why they can do no harm. */
export interface OpaqueBytes {
  readonly callIndex: number;
  /** Offsets into the calldata, in bytes. */
  readonly from: number;
  readonly to: number;
  readonly what: 'swap' | 'reallocation';
  readonly because: string;
}

/** A swap with its least output, below which the contract reverts. */
export interface VerifiedSwap {
  /** The sold amount: `payment`, `loan`, `stock loan`, `stock leg`, or a position such as `position 3`. Each once in a plan. */
  readonly of: string;
  readonly sells: VerifiedAmount;
  readonly givesAtLeast: VerifiedAmount;
}

/** The bounds of the effects of the calls on collateral and debt of one position at the lending protocol. */
export interface PositionBounds {
  /** Index of the position; `opened` = the new one; `wallet` = that of the wallet itself, the stock leg of a vault. */
  readonly of: number | 'opened' | 'wallet';
  readonly marketId: string;
  readonly addsAtLeast: VerifiedAmount;
  /** Absent = all collateral. */
  readonly takesOutAtMost?: VerifiedAmount;
  readonly borrowsAtMost: VerifiedAmount;
  /** Where less is owed, the rest comes back in the same token. */
  readonly repaysAtLeast?: VerifiedAmount;
  /** The debt that a sale repays, by your reading. A larger debt lowers `receivesAtLeast`. */
  readonly owes?: VerifiedAmount;
}

/** The effects of a plan, as proven from its bytes. */
export interface Verified {
  readonly action: Intent['action'];
  readonly chainId: number;
  readonly owner: Address;
  /** The effects of the calls, each followed by the approvals and rights that it needs, and the bounds of all together. */
  readonly sentences: readonly string[];
  readonly spendsAtMost: readonly VerifiedAmount[];
  readonly receivesAtLeast: readonly VerifiedAmount[];
  /** Each swap with its least output, whether that goes to the wallet or into a position. */
  readonly swaps: readonly VerifiedSwap[];
  /** The position that is opened or grown, at the least outputs; absent where the calls do not bound it. */
  readonly position?: {
    readonly collateralAtLeast: VerifiedAmount;
    readonly debtAtMost: VerifiedAmount;
    /** Percent, at the price of `state`. */
    readonly ltvAtMostPct: string;
  };
  /** Every position whose collateral or debt the calls change; empty for a revocation and for an end in manual mode. */
  readonly changes: readonly PositionBounds[];
  /**
   * Loss of all swaps at their least outputs, against the prices of `state`; absent for plans that only pay, and for those
   * that swap nothing.
   */
  readonly swapsLoseAtMost?: {
    readonly amount: VerifiedAmount;
    /** Percent of the own money, rounded up; `unbounded` = there is none. */
    readonly ofEquityPct: string;
  };
  /**
   * The loss that the sales of a close or an exit are expected to have besides the slippage, where that is 2 % of the own money or
   * more; absent = less.
   */
  readonly highCost?: { readonly amount: VerifiedAmount; readonly ofEquityPct: string };
  readonly authorizes: readonly Authorization[];
  /** Every contract that the wallet calls. */
  readonly calls: readonly Address[];
  readonly opaque: readonly OpaqueBytes[];
  /** Assumptions of the proof besides the bytes. */
  readonly assumptions: readonly string[];
}
