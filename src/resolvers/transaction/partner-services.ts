import type { Chain, Market } from '../../catalog/types.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import type {
  BuiltDeposit,
  BuiltExit,
  DepositInput,
  ExitInput,
  PreviewedDeposit,
} from '../../transactions/equity/index.ts';
import type {
  DeleverageOptions,
  DeleverageRequest,
  ExitCost,
  ManageInput,
  OpenInput,
  Plan,
  PreparedOpen,
  ProxyOwner,
  QuoteAge,
} from '../../transactions/index.ts';

/** Services of the keyed partner surface beside the public reads. */
export interface PartnerServices {
  readonly leverage: LeveragePort;
  readonly equity: EquityPort;
}

/**
 * Previews and unsigned transactions of leveraged positions. Expected failures are thrown as the error classes of
 * `transactions/errors.ts`, which GraphQL answers as data.
 */
export interface LeveragePort {
  preview(input: OpenInput, age: QuoteAge): Promise<PreparedOpen>;
  /** The plan of `manage`, not simulated where the plan itself shows the outcome. */
  previewManage(input: ManageInput, age: QuoteAge): Promise<Plan>;
  open(input: OpenInput, user: Address): Promise<Plan>;
  manage(input: ManageInput): Promise<Plan>;
  /** The ways to bring a position down to an LTV, each previewed by its own build. */
  deleverage(request: DeleverageRequest): Promise<DeleverageOptions>;
  /** The loss of selling this collateral now, at the oracle's price scaled by 1e36. */
  exitCost(chain: Chain, market: Market, collateral: bigint, price: bigint): Promise<ExitCost>;
  /**
   * Whose positions addresses hold, in a constant number of calls; `null` = an address is no position's contract,
   * an error = it cannot be read.
   * @throws ChainReadError
   */
  proxyOwners(
    chainId: ChainId,
    addresses: readonly Address[],
  ): Promise<ReadonlyMap<Address, ProxyOwner | null | Error>>;
  /** USD per whole token where the price is accepted. */
  usdOf(chainId: ChainId, token: Address): Decimal | undefined;
}

/** Previews and batches of equity vaults. Expected failures are thrown, as those of `LeveragePort`. */
interface EquityPort {
  preview(input: DepositInput, age: QuoteAge): Promise<PreviewedDeposit>;
  /** The batch of `exit`, not simulated. */
  previewExit(input: ExitInput, user: Address, age: QuoteAge): Promise<BuiltExit>;
  deposit(input: DepositInput, user: Address): Promise<BuiltDeposit>;
  exit(input: ExitInput, user: Address): Promise<BuiltExit>;
}
