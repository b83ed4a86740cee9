import type { Chain } from '../../catalog/types.ts';
import { Decimal, formatPct, HUNDRED, toFixedHalfUp, ZERO } from '../../shared/decimal.ts';
import { type EquityPosition, type VaultLeg, vaultApyPct } from '../equity/position.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import { exactApyPctAtLtv } from '../leverage/leveraged-apy.ts';
import type { MarketValues, PositionMarketValues } from '../market/at-block.ts';
import type { HeldPosition, HeldStock, Position, WalletHoldings } from '../position/types.ts';
import { type Valuation, valueHolding } from '../position/valuation.ts';
import type { ComposedWallet } from '../position/wallet.ts';
import { addParts, sumPnl, unknownPnl } from './pnl.ts';
import type { Pnl } from './types.ts';

/** The loop or stock leg that is nearest to its liquidation. Exactly one of the two is present. */
export interface NearestLiquidation {
  readonly position?: Position | undefined;
  /** The vault whose stock leg it is. */
  readonly equityPosition?: EquityPosition | undefined;
}

/**
 * Sums over the open loops and vaults of a wallet. USD and percent with 2 places. Absent = not known, with a gap: a sum never
 * leaves out what it could not read.
 */
export interface WalletTotals {
  /** Plain loops and vaults. */
  readonly openCount?: number | undefined;
  readonly collateralUsd?: string | undefined;
  readonly debtUsd?: string | undefined;
  /** Collateral less debt of each loop and stock leg, at least 0: no owner owes more than the collateral. */
  readonly equityUsd?: string | undefined;
  readonly badDebtUsd?: string | undefined;
  /** Of ended loops and vaults too. */
  readonly pnl: Pnl;
  /** Weighted by equity; `null` = there is no equity. */
  readonly netApyPct?: string | null | undefined;
  /** `null` = nothing has a debt. */
  readonly nearestLiquidation?: NearestLiquidation | null | undefined;
  readonly gaps: readonly Gap[];
}

type Known<T> = T | Gap;

/** The sums of one reading at full precision: each a value, or the reason why it is unknown. */
export interface TotalParts {
  readonly openCount: Known<number>;
  readonly collateralUsd: Known<Decimal>;
  readonly debtUsd: Known<Decimal>;
  readonly equityUsd: Known<Decimal>;
  readonly badDebtUsd: Known<Decimal>;
  /** Percent times USD of equity, summed. */
  readonly earned: Known<Decimal>;
  /** Why the APY counts no incentive; absent = it does. */
  readonly uncounted?: Gap | undefined;
  readonly nearest: Known<Ranked | null>;
  readonly pnl: Pnl;
}

interface Ranked extends NearestLiquidation {
  /** Its LTV over its liquidation LTV; `null` = its collateral is worth nothing. */
  readonly used: Decimal | null;
}

/** A loop or stock leg with what it is valued by. */
interface Leg {
  readonly item: NearestLiquidation;
  readonly market: PositionMarketValues;
  readonly value: Valuation;
}

/**
 * Sum one reading of a wallet.
 * @param markets values at the block of the reading
 * @param pnl of the wallet, ended positions included
 */
export function totalParts(
  chain: Chain,
  markets: MarketValues,
  holdings: WalletHoldings,
  wallet: ComposedWallet,
  pnl: Pnl,
): TotalParts {
  const heldById = new Map(holdings.positions.map((held) => [held.id, held] as const));
  const legOf = (held: HeldPosition | HeldStock | undefined, item: NearestLiquidation): Leg | Gap => {
    const market = held && markets.get(held.marketId);
    if (!held || !market) return unmeasured(item);
    return { item, market, value: valueHolding(held, market, holdings.block.timestamp) };
  };
  const loopLeg = (position: Position) => legOf(heldById.get(position.id), { position });
  const plain = wallet.positions.filter(({ open }) => open).map(loopLeg);
  const vaults = wallet.equityPositions.map((equityPosition) => {
    const vault = chain.equityVaults.find(({ id }) => id === equityPosition.strategyId);
    const held = holdings.stocks.find(({ marketId }) => marketId === vault?.stockMarket.id);
    return {
      equityPosition,
      stock: legOf(held, { equityPosition }),
      loops: equityPosition.yieldLoops.filter(({ open }) => open).map(loopLeg),
    };
  });
  const legs = [...plain, ...vaults.flatMap(({ stock, loops }) => [stock, ...loops])];
  const sum = (of: (usd: NonNullable<Valuation['usd']>) => Decimal): Known<Decimal> =>
    legs.reduce<Known<Decimal>>((total, leg) => addParts(total, isGap(leg) ? leg : usdOfLeg(leg, of)), ZERO);
  return {
    openCount: plain.length + vaults.length,
    collateralUsd: sum(({ collateral }) => collateral),
    debtUsd: sum(({ debt }) => debt),
    equityUsd: sum(equityOf),
    badDebtUsd: sum(({ net }) => Decimal.max(net.negated(), ZERO)),
    earned: [...plain.map(earnedByLoop), ...vaults.map(earnedByVault)].reduce(addParts, ZERO),
    uncounted: legs.flatMap((leg) => (isGap(leg) ? [] : (uncountedOf(leg) ?? [])))[0],
    nearest: nearestOf(legs),
    pnl,
  };
}

/** Parts of which nothing is known, for the same reason. */
export function unknownParts(why: Gap): TotalParts {
  return {
    openCount: why,
    collateralUsd: why,
    debtUsd: why,
    equityUsd: why,
    badDebtUsd: why,
    earned: why,
    nearest: why,
    pnl: unknownPnl(why),
  };
}

/** Add up the readings of a wallet. */
export function addTotals(all: readonly TotalParts[]): WalletTotals {
  const gaps: Gap[] = [];
  const known = <T>(field: string, part: Known<T>): T | undefined => {
    if (!isGap(part)) return part;
    gaps.push({ ...part, field });
    return undefined;
  };
  const sum = (name: 'collateralUsd' | 'debtUsd' | 'equityUsd' | 'badDebtUsd' | 'earned'): Known<Decimal> =>
    all.map((parts) => parts[name]).reduce(addParts, ZERO);
  const usd = (name: 'collateralUsd' | 'debtUsd' | 'equityUsd' | 'badDebtUsd') => {
    const value = known(name, sum(name));
    return value && toFixedHalfUp(value, 2);
  };
  const counts = all.map(({ openCount }) => openCount);
  const nearest = known('nearestLiquidation', all.map((parts) => parts.nearest).reduce(nearerOf, null));
  if (nearest === null) gaps.push(gap('nearestLiquidation', 'NONE', 'Nothing that is open has a debt.'));
  if (nearest?.used === null) {
    for (const field of ['priceDropToLiquidationPct', 'ltvHeadroomPct']) {
      gaps.push(gap(`nearestLiquidation.${field}`, 'NOT_APPLICABLE', 'The oracle values the collateral at zero.'));
    }
  }
  return {
    openCount: known(
      'openCount',
      counts.find(isGap) ?? counts.reduce<number>((total, count) => total + (count as number), 0),
    ),
    collateralUsd: usd('collateralUsd'),
    debtUsd: usd('debtUsd'),
    equityUsd: usd('equityUsd'),
    badDebtUsd: usd('badDebtUsd'),
    pnl: sumPnl(all.map(({ pnl }) => pnl)),
    netApyPct: netApyOf(sum('earned'), sum('equityUsd'), all, gaps),
    nearestLiquidation: nearest,
    gaps,
  };
}

function netApyOf(
  earned: Known<Decimal>,
  equityUsd: Known<Decimal>,
  all: readonly TotalParts[],
  gaps: Gap[],
): string | null | undefined {
  const unknown = [equityUsd, earned].find(isGap);
  if (unknown) {
    gaps.push({ ...unknown, field: 'netApyPct' });
    return undefined;
  }
  const [income, equity] = [earned, equityUsd] as [Decimal, Decimal];
  if (equity.isZero()) {
    gaps.push(gap('netApyPct', 'NOT_APPLICABLE', 'There is no equity that could earn.'));
    return null;
  }
  const uncounted = all.find((parts) => parts.uncounted)?.uncounted;
  if (uncounted) gaps.push({ ...uncounted, field: 'netApyPct' });
  return formatPct(income.div(equity));
}

function isGap<T>(part: Known<T>): part is Gap {
  return typeof part === 'object' && part !== null && 'reason' in part;
}

function nameOf({ position, equityPosition }: NearestLiquidation): string {
  return position ? `position ${position.id}` : `the vault ${equityPosition?.strategyId}`;
}

function unmeasured(item: NearestLiquidation): Gap {
  return gap('', 'NOT_MEASURED', `The market of ${nameOf(item)} has not been measured yet, or is not in the catalog.`);
}

function usdOfLeg({ item, market, value }: Leg, of: (usd: NonNullable<Valuation['usd']>) => Decimal): Known<Decimal> {
  if (value.usd) return of(value.usd);
  const known = market.gaps.find(({ field }) => field === 'loanPrice');
  const message = `The price of ${market.market.loan.symbol}, the loan token of ${nameOf(item)}, is unknown.`;
  return known ? { ...known, message: `${message} ${known.message}` } : gap('', 'NOT_MEASURED', message);
}

function equityOf({ net }: NonNullable<Valuation['usd']>): Decimal {
  return Decimal.max(net, ZERO);
}

/** What a plain loop earns, percent times USD; nothing without equity. */
function earnedByLoop(leg: Leg | Gap): Known<Decimal> {
  if (isGap(leg)) return leg;
  const { market, value } = leg;
  if (value.ltvPct === null || value.ltvPct.gte(HUNDRED)) return ZERO;
  const apyPct = exactApyPctAtLtv(market.effectiveCollateralApyPct, market.netBorrowApyPct, value.ltvPct);
  return usdOfLeg(leg, ({ net }) => net.times(apyPct));
}

/** What a vault earns on its equity at its net APY. */
function earnedByVault({
  equityPosition,
  stock,
  loops,
}: {
  readonly equityPosition: EquityPosition;
  readonly stock: Leg | Gap;
  readonly loops: readonly (Leg | Gap)[];
}): Known<Decimal> {
  const equity = [stock, ...loops].reduce<Known<Decimal>>(
    (total, leg) => addParts(total, isGap(leg) ? leg : usdOfLeg(leg, equityOf)),
    ZERO,
  );
  if (isGap(equity) || equity.isZero() || isGap(stock)) return equity;
  if (equityPosition.yieldLoopMatch === 'ambiguous') {
    return gap('', 'NOT_MEASURED', `The loops of ${nameOf(stock.item)} are ambiguous, so its APY is unknown.`);
  }
  const apyPct = vaultApyPct(stock.value, loops as readonly VaultLeg[], stock.market);
  if (apyPct) return equity.times(apyPct);
  return gap('', 'NOT_APPLICABLE', `The oracle values the stock of ${nameOf(stock.item)} at zero: it has no APY.`);
}

/** Why a rate of a leg counts no incentive. */
function uncountedOf({ market }: Leg): Gap | undefined {
  return market.gaps.find(({ field }) => field === 'netBorrowApyPct');
}

function nearestOf(legs: readonly (Leg | Gap)[]): Known<Ranked | null> {
  return legs
    .map((leg): Known<Ranked | null> => {
      if (isGap(leg)) return leg;
      const { item, value, market } = leg;
      if (value.debt === 0n) return null;
      return { ...item, used: value.ltvPct?.div(market.liquidationLtvPct) ?? null };
    })
    .reduce(nearerOf, null);
}

/** The nearer of two; one that could not be valued may be nearer than any other. */
function nearerOf(a: Known<Ranked | null>, b: Known<Ranked | null>): Known<Ranked | null> {
  if (isGap(a) || b === null) return a;
  if (isGap(b) || a === null) return b;
  if (a.used === null || b.used === null) return a.used === null ? a : b;
  return b.used.gt(a.used) ? b : a;
}
