import type { ChainContracts } from '../../catalog/types.ts';
import type { Address } from '../../shared/ids.ts';
import { buildApprovals } from '../build/approvals.ts';
import { swapDataOf } from '../build/call.ts';
import { buildEquityEntry, buildEquityExit } from '../build/equity-router.ts';
import { buildDeleverage } from '../build/flash-leverage.ts';
import { buildSetAuthorization } from '../build/set-authorization.ts';
import { payTokenOf } from '../read/tokens.ts';
import type { BuiltCall } from '../types.ts';
import type { DepositTerms, ExitTerms } from './types.ts';

/** Every call that a batch can hold. */
export type EquityCall =
  | BuiltCall<'approve', unknown>
  | ReturnType<
      typeof buildSetAuthorization | typeof buildEquityEntry | typeof buildDeleverage | typeof buildEquityExit
    >;

/** Grants of the wallet that decide about the calls before the router's. */
export interface WalletGrants {
  /** Deposit tokens that the router may take now, base units. */
  readonly allowance: bigint;
  /** Whether the router may act on the wallet's lending positions already. */
  readonly isAuthorized: boolean;
}

/** Build the deposit: approve exactly the amount, grant, enter, revoke. */
export function buildDepositBatch(
  contracts: ChainContracts,
  terms: DepositTerms,
  grants: WalletGrants,
): readonly EquityCall[] {
  const { vault, router, amountIn, swaps } = terms;
  const approvals = buildApprovals({
    token: payTokenOf(vault.depositToken),
    spender: router,
    amount: amountIn,
    allowance: grants.allowance,
  });
  const entry = buildEquityEntry(router, {
    depositToken: vault.depositToken.address,
    amountIn,
    stockSwapData: swapDataOf(swaps.stock),
    stockMinOut: swaps.stock.minOut,
    stockMarketId: vault.stockMarket.id,
    stockBorrowAmount: terms.stockBorrow,
    yieldSwapData: swapDataOf(swaps.zap),
    yieldMinOut: swaps.zap.minOut,
    leverageParams: {
      marketId: vault.yieldMarket.id,
      amountCollateral: 0n,
      amountFlashLoan: terms.amountFlashLoan,
      swapData: swapDataOf(swaps.leverage),
      minTokenOut: swaps.leverage.minOut,
    },
  });
  return Object.freeze([...approvals, ...whileAuthorized(contracts, router, entry, grants.isAuthorized)]);
}

/** Build the exit: close each loop of the list and no other, grant, take the stock leg apart, revoke. */
export function buildExitBatch(
  contracts: ChainContracts,
  terms: ExitTerms,
  grants: Pick<WalletGrants, 'isAuthorized'>,
): readonly EquityCall[] {
  const { vault, router, loops, stockSwap } = terms;
  const closings = loops.map(({ positionId, swap, amount = 0n }) =>
    buildDeleverage(contracts, {
      positionId: BigInt(positionId),
      amountCollateral: amount,
      swapData: swapDataOf(swap),
      minTokenOut: swap.minOut,
    }),
  );
  const exit = buildEquityExit(router, {
    stockMarketId: vault.stockMarket.id,
    stockSwapData: swapDataOf(stockSwap),
    minLoanOut: stockSwap.minOut,
  });
  return Object.freeze([...closings, ...whileAuthorized(contracts, router, exit, grants.isAuthorized)]);
}

/**
 * Put the router's call between its grant and its revoke. An authorization left by an unfinished batch is revoked
 * first, because Morpho refuses to grant an authorization that exists.
 */
function whileAuthorized(
  contracts: ChainContracts,
  router: Address,
  call: EquityCall,
  isAuthorized: boolean,
): readonly EquityCall[] {
  const authorize = (newIsAuthorized: boolean) =>
    buildSetAuthorization(contracts, { authorized: router, newIsAuthorized });
  return [...(isAuthorized ? [authorize(false)] : []), authorize(true), call, authorize(false)];
}
