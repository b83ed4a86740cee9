import type { Market } from '../../catalog/types.ts';
import { collateralValueInLoan } from '../../domain/leverage/flash-loan.ts';
import type { Decimal } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import type { BuilderDeps } from '../deps.ts';
import { SENT_WITHIN_SEC } from '../liquidity.ts';
import { requireCoversDebt } from '../quote/covers-debt.ts';
import { withSharedFloor } from '../quote/floor.ts';
import { withMinimum } from '../quote/planned.ts';
import { quoteSwap, type SwapBounds } from '../quote/request.ts';
import { heldSlippage } from '../quote/slippage.ts';
import { debtOf, type LiveMarket } from '../read/market-state.ts';
import type { EffectiveSlippage, PlannedSwap } from '../types.ts';
import type { FoundVault } from './vault.ts';

/** One lending position that an exit sells. Base units. */
export interface HeldLeg {
  readonly market: Market;
  readonly collateral: bigint;
  /** Of the collateral at the oracle's price. */
  readonly value: bigint;
  readonly debt: bigint;
  /** The same when the batch is sent at the latest. */
  readonly debtLater: bigint;
}

export interface HeldLoop extends HeldLeg {
  readonly id: number;
  readonly proxy: Address;
  /** Deposit basis. */
  readonly basis: bigint;
}

interface Sale {
  readonly swap: PlannedSwap;
  /** The input that a refusal of the sale names. */
  readonly requested: { readonly field: string; readonly value: string };
}

export type SoldLeg = HeldLeg & Sale;
export type SoldLoop = HeldLoop & Sale;

export interface SoldLegs {
  readonly stock: SoldLeg;
  /** In the order in which they are closed. */
  readonly loops: readonly SoldLoop[];
  /** The slippage that holds in the calldata. */
  readonly slippage: EffectiveSlippage;
  /** The same without the caller's own minimum. */
  readonly limited: EffectiveSlippage;
}

/** A lending position at the newest state of its market. */
export function legOf(
  live: LiveMarket,
  market: Market,
  { collateral, borrowShares }: { readonly collateral: bigint; readonly borrowShares: bigint },
): HeldLeg {
  return {
    market,
    collateral,
    value: collateralValueInLoan(collateral, live.price),
    debt: debtOf(live, borrowShares),
    debtLater: debtOf(live, borrowShares, SENT_WITHIN_SEC),
  };
}

/**
 * Quote the sale of every leg, each at least its debt, and all together at least the caller's minimum.
 * @throws LimitExceededError, NoRouteError, UpstreamUnavailableError
 */
export async function sellLegs(
  deps: BuilderDeps,
  bounds: FoundVault & SwapBounds,
  legs: { readonly stock: HeldLeg; readonly loops: readonly HeldLoop[] },
  /** The most that each sale may lose of its value by default, percent: those of the loops in order, then that of the stock. */
  eachPct: readonly Decimal[],
  minAmountOut: Decimal | undefined,
): Promise<SoldLegs> {
  const { chain, router, vault, slippage } = bounds;
  const sell = ({ market, collateral, value }: HeldLeg, executor: Address, maxLossPct: Decimal | undefined) => {
    const [tokenIn, tokenOut] = [market.collateral, vault.depositToken];
    const wanted = { tokenIn, tokenOut, amountIn: collateral, executor, feeBps: 0 };
    return quoteSwap(deps, { ...bounds, maxLossPct }, wanted, value);
  };
  const quoted = await Promise.all([
    sell(legs.stock, router, eachPct.at(-1)),
    ...legs.loops.map((loop, i) => sell(loop, chain.contracts.flashLeverage, eachPct[i])),
  ]);
  const floored = withSharedFloor(quoted, minAmountOut) as typeof quoted;
  const covering = <L extends HeldLeg>(
    leg: L,
    swap: PlannedSwap,
    owner: string,
    requested: Sale['requested'],
  ): L & Sale => {
    requireCoversDebt(swap, leg, `Selling all ${leg.market.collateral.symbol} of ${owner}`, requested);
    return { ...leg, swap: withMinimum(swap, leg.debt), requested };
  };
  // A position without a swap cannot be: both lists have one entry per leg.
  const loops = legs.loops.map((loop, i) =>
    covering(loop, floored[i + 1] as PlannedSwap, `position ${loop.id}`, {
      field: 'yieldPositionIds',
      value: String(loop.id),
    }),
  );
  const stock = covering(legs.stock, floored[0], `the vault ${vault.id}`, { field: 'strategyId', value: vault.id });
  const raisedFrom = (swaps: readonly PlannedSwap[]) =>
    heldSlippage(
      slippage,
      [stock, ...loops].map(({ swap: after }, i) => ({ before: swaps[i] ?? after, after })),
    );
  return { stock, loops, slippage: raisedFrom(quoted), limited: raisedFrom(floored) };
}
