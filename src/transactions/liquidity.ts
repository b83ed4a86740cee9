import { MathLib } from '@morpho-org/blue-sdk';
import type { Market } from '../catalog/types.ts';
import { PLAN_EXPIRY_SEC } from '../shared/contract/plan-expiry.ts';
import { formatUnitsPlain } from '../shared/decimal.ts';
import type { MarketId } from '../shared/ids.ts';
import { InsufficientLiquidityError, type LargestInput, type LiquidityPlace } from './errors.ts';
import type { LiveMarket } from './read/market-state.ts';

/**
 * A movement of the market's loan token while a call runs, in the order of execution. A flash loan is out until the end of its
 * call, so the protocol has to hold a borrow beside it.
 */
export interface Flow {
  readonly kind: 'flash_loan' | 'borrow' | 'repay';
  readonly market: Market;
  /** Loan base units. */
  readonly amount: bigint;
}

/** Available liquidity, loan base units. */
export interface MarketLiquidity {
  readonly market: Market;
  /** Liquidity of the market, a reallocation included. */
  readonly lendable: bigint;
  /** Loan tokens that the protocol holds over all its markets. */
  readonly idle: bigint;
}

/** One condition of the lending protocol: so much has to be there when a call asks for it. Loan base units. */
export interface LiquidityNeed {
  /** The market for a borrow; the protocol for all amounts that are out at the same time. */
  readonly place: LiquidityPlace;
  readonly market: Market;
  readonly needed: bigint;
  readonly available: bigint;
}

/** Flows of opening and increasing: the loan is swapped and supplied, and borrowed while the flash loan is still out. */
export function borrowingFlows(market: Market, amount: bigint): readonly Flow[] {
  return [
    { kind: 'flash_loan', market, amount },
    { kind: 'borrow', market, amount },
  ];
}

/** How long a plan may be sent after it was built: a repayment counts the interest of that time. */
export const SENT_WITHIN_SEC = BigInt(PLAN_EXPIRY_SEC);

/** Flows of closing: the flash loan repays the debt, so only that much is out. */
export function closingFlows(market: Market, debt: bigint): readonly Flow[] {
  return [
    { kind: 'flash_loan', market, amount: debt },
    { kind: 'repay', market, amount: debt },
  ];
}

/** Liquidity of a market as read, and `moved` into it by a reallocation. */
export function liquidityOf(
  market: Market,
  { liquidity, idle }: Pick<LiveMarket, 'liquidity' | 'idle'>,
  moved = 0n,
): MarketLiquidity {
  return { market, lendable: liquidity + moved, idle };
}

/** List the needs of each call from markets and protocol: a repayment of one call is available to the next. */
export function liquidityNeeds(
  calls: readonly (readonly Flow[])[],
  liquidity: readonly MarketLiquidity[],
): readonly LiquidityNeed[] {
  const lendable = new Map(liquidity.map((entry) => [entry.market.id, entry.lendable]));
  const idle = new Map(liquidity.map((entry) => [entry.market.loan.address, entry.idle]));
  return calls.flatMap((flows) => {
    const needs = [...marketNeeds(flows, lendable), ...protocolNeeds(flows, idle)];
    for (const { kind, market, amount } of flows) {
      if (kind === 'flash_loan') continue;
      const change = kind === 'repay' ? amount : -amount;
      lendable.set(market.id, (lendable.get(market.id) ?? 0n) + change);
      idle.set(market.loan.address, (idle.get(market.loan.address) ?? 0n) + change);
    }
    return needs;
  });
}

function marketNeeds(flows: readonly Flow[], lendable: ReadonlyMap<MarketId, bigint>): readonly LiquidityNeed[] {
  const borrowed = new Map<Market, bigint>();
  for (const { kind, market, amount } of flows) {
    if (kind === 'borrow') borrowed.set(market, (borrowed.get(market) ?? 0n) + amount);
  }
  return [...borrowed].map(([market, needed]) => ({
    place: 'market',
    market,
    needed,
    available: lendable.get(market.id) ?? 0n,
  }));
}

function protocolNeeds(flows: readonly Flow[], idle: ReadonlyMap<string, bigint>): readonly LiquidityNeed[] {
  const out = new Map<string, bigint>();
  const peaks = new Map<string, { readonly market: Market; readonly needed: bigint }>();
  for (const { kind, market, amount } of flows) {
    const { address } = market.loan;
    const now = (out.get(address) ?? 0n) + (kind === 'repay' ? -amount : amount);
    out.set(address, now);
    if (now > (peaks.get(address)?.needed ?? 0n)) peaks.set(address, { market, needed: now });
  }
  return [...peaks].map(([address, { market, needed }]) => ({
    place: 'protocol',
    market,
    needed,
    available: idle.get(address) ?? 0n,
  }));
}

/** The one comparison of liquidity: exactly the needed amount is enough. */
export function isCovered({ needed, available }: Pick<LiquidityNeed, 'needed' | 'available'>): boolean {
  return needed <= available;
}

/** Whether a market lends an amount and has something left: where it can be brought more, its last unit is not counted on. */
export function lendsWithRoom(liquidity: bigint, amount: bigint): boolean {
  return isCovered({ needed: amount + 1n, available: liquidity });
}

/** Scale an amount down until every need that grows with it is covered; rounded down, never above the amount itself. */
export function largestCovered(amount: bigint, needs: readonly LiquidityNeed[]): bigint {
  return needs.reduce((largest, need) => {
    if (isCovered(need)) return largest;
    return MathLib.min(largest, (amount * need.available) / need.needed);
  }, amount);
}

/** Margin of a largest amount, as a divisor: its swaps fill a little differently. */
const FILL_MARGIN_DIVISOR = 1_000n;

/** The same for an amount that is swapped first, so that the borrow on it depends on a quote. */
export function largestSwapped(amount: bigint, needs: readonly LiquidityNeed[]): bigint {
  const largest = largestCovered(amount, needs);
  return largest - MathLib.mulDivUp(largest, 1n, FILL_MARGIN_DIVISOR);
}

/**
 * Require that every need is covered. A refusal names the need that is covered least, and the largest input that is covered.
 * @throws InsufficientLiquidityError
 */
export function requireCovered(
  needs: readonly LiquidityNeed[],
  largest: (needs: readonly LiquidityNeed[]) => LargestInput = () => ({}),
): void {
  const [first, ...rest] = needs.filter((need) => !isCovered(need));
  if (!first) return;
  const least = rest.reduce((a, b) => (b.available * a.needed < a.available * b.needed ? b : a), first);
  const { id, loan } = least.market;
  throw new InsufficientLiquidityError({
    needed: formatUnitsPlain(least.needed, loan.decimals),
    available: formatUnitsPlain(least.available, loan.decimals),
    loan: { chainId: loan.chainId, address: loan.address, symbol: loan.symbol },
    place: least.place,
    marketId: least.place === 'market' ? id : undefined,
    ...largest(needs),
  });
}
