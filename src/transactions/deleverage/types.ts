import type { Chain, Market, Token } from '../../catalog/types.ts';
import type { LtvLimits } from '../../domain/leverage/limits.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { AppError } from '../../shared/errors.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import type { Plan } from '../plan.ts';
import type { LiveMarket } from '../read/market-state.ts';
import type { LivePosition } from '../read/position.ts';
import type { DeleverageTarget } from './target.ts';

/** Actions that lower the LTV of a position. */
export type DeleverageAction = 'repay' | 'add_collateral' | 'close';

export interface DeleverageRequest extends DeleverageTarget {
  readonly chainId: ChainId;
  readonly user: Address;
  /** Index of the position on chain. */
  readonly id: number;
  /** The most that the sale of a part may lose, percent of the equity; absent = the usual bounds. */
  readonly maxSwapLossPct?: Decimal | undefined;
}

/** The ways to a lower LTV. `close` sells a part of the collateral and repays with the proceeds. */

/** One transaction of an option, as the build takes it. */
export interface DeleverageStep {
  readonly action: DeleverageAction;
  readonly token: Token;
  /** Base units: to pay, or to sell. */
  readonly amount: bigint;
  /** Whether the whole debt is repaid, by shares. */
  readonly isFull: boolean;
  /** Whether it is paid with the proceeds of the step before it. */
  readonly fromProceeds: boolean;
  /** Gas of its calls, approvals included; absent = they could not be simulated, or the step is not possible now. */
  readonly gasUsed?: bigint | undefined;
}

export interface DeleverageOption {
  readonly action: DeleverageAction;
  /** In order, each built when the one before it has been mined; empty = it cannot be sized. */
  readonly steps: readonly DeleverageStep[];
  /** Result of all steps together, simulated; an error = it is not possible now. */
  readonly outcome: Plan | AppError;
}

export interface DeleverageOptions {
  readonly chain: Chain;
  readonly market: Market;
  readonly position: LivePosition;
  readonly live: LiveMarket;
  readonly limits: LtvLimits;
  readonly targetLtvPct: Decimal;
  /** Debt above the target now, loan base units; not positive = no option is needed, and none is listed. */
  readonly excess: bigint;
  readonly options: readonly DeleverageOption[];
  /** Balances of the wallet by token, base units; absent = it could not be read. */
  readonly balances: ReadonlyMap<Address, bigint | undefined>;
  /** Gas price of the node, wei per unit of gas; absent = the node gave none. */
  readonly gasPriceWei: bigint | undefined;
}
