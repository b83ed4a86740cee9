import type { Json } from '../support/service.ts';
import { carry, type ExpectedMarket, exactLeverageAt } from './expected.ts';
import { loopParts, type Parts, pnlNumbers, sumParts, valued, vaultParts } from './portfolios.ts';
import { Exact, shown } from './protocol.ts';
import type { HeldOnChain, RegisteredRow } from './sources.ts';

/*
 * The totals of a wallet, as they have to be: each open loop and stock leg once.
 */

export interface KnownPosition {
  readonly held: HeldOnChain;
  readonly market: ExpectedMarket;
  readonly row: RegisteredRow | undefined;
  readonly isOpen: boolean;
}

/** A vault of the wallet: its stock leg, and the loops that belong to it. */
export interface KnownVault {
  readonly strategyId: string;
  readonly stock: ExpectedMarket;
  readonly holding: { readonly collateral: bigint; readonly borrowShares: bigint };
  readonly loops: readonly KnownPosition[];
  readonly isAmbiguous: boolean;
}

/** What one reading adds to the totals. */
export interface ExpectedTotals {
  readonly openCount: number;
  readonly collateral: Exact;
  readonly debt: Exact;
  readonly equity: Exact;
  readonly badDebt: Exact;
  /** Percent times USD; `undefined` = unknown. */
  readonly earned: Exact | undefined;
  /** LTV over liquidation LTV of everything with a debt, by name. */
  readonly used: ReadonlyMap<string, Exact>;
  readonly results: readonly Parts[];
}

const ZERO = new Exact(0);
const above = (value: Exact) => Exact.max(value, ZERO);

export function totalsOnChain(
  own: readonly KnownPosition[],
  vaults: readonly KnownVault[],
  nowMs: number,
): ExpectedTotals {
  const inVault = new Set(vaults.flatMap(({ loops }) => loops.map(({ held }) => held.id)));
  const loops = own.filter(({ isOpen }) => isOpen).map((known) => ({ known, ...legOf(known.held, known.market) }));
  const stocks = vaults.map((vault) => ({ vault, ...legOf(vault.holding, vault.stock) }));
  const legs = [...loops, ...stocks];
  const sum = (of: (leg: (typeof legs)[number]) => Exact) => legs.reduce((total, leg) => total.plus(of(leg)), ZERO);
  const loopIncome = loops
    .filter(({ known, ltv }) => !inVault.has(known.held.id) && ltv.lt(100))
    .map(({ apy, netUsd }) => apy.times(netUsd));
  const vaultIncome = stocks.map(({ vault, ltv, netUsd }) => {
    const inside = loops.filter(({ known }) => vault.loops.includes(known) && known.isOpen);
    const equity = inside.reduce((total, leg) => total.plus(above(leg.netUsd)), ZERO);
    const earned = inside.reduce((total, leg) => total.plus(leg.apy.times(above(leg.netUsd))), ZERO);
    const legApy = equity.isZero() ? ZERO : earned.div(equity);
    const apy = ltv.div(100).times(legApy.minus(vault.stock.netBorrowApy));
    return vault.isAmbiguous ? undefined : apy.times(equity.plus(above(netUsd)));
  });
  const named = [
    ...loops.map(({ known, ...leg }) => [`loop ${known.market.market.chainId} ${known.held.id}`, leg] as const),
    ...stocks.map(({ vault, ...leg }) => [`stock ${vault.strategyId}`, leg] as const),
  ];
  return {
    openCount: loops.filter(({ known }) => !inVault.has(known.held.id)).length + vaults.length,
    collateral: sum(({ collateralUsd }) => collateralUsd),
    debt: sum(({ debtUsd }) => debtUsd),
    equity: sum(({ netUsd }) => above(netUsd)),
    badDebt: sum(({ netUsd }) => above(netUsd.negated())),
    earned: [...loopIncome, ...vaultIncome].reduce<Exact | undefined>((total, part) => part && total?.plus(part), ZERO),
    used: new Map(
      named.filter(([, { debt }]) => debt > 0n).map(([name, { ltv, liquidation }]) => [name, ltv.div(liquidation)]),
    ),
    results: resultsOf(own, vaults, inVault, nowMs),
  };
}

function legOf(held: { readonly collateral: bigint; readonly borrowShares: bigint }, market: ExpectedMarket) {
  const { ltv = ZERO, ...values } = valued(held, market);
  const apy = ltv.lt(100) ? carry(market.earned, market.netBorrowApy, exactLeverageAt(ltv)) : ZERO;
  return { ...values, ltv, apy, liquidation: market.liquidation };
}

/** One result per plain loop and per vault; the ended loops of a vault are one. */
function resultsOf(
  own: readonly KnownPosition[],
  vaults: readonly KnownVault[],
  inVault: ReadonlySet<number>,
  nowMs: number,
): readonly Parts[] {
  const partsOf = ({ held, market, row }: KnownPosition) => ({ row, parts: loopParts(held, market, row, nowMs) });
  const rest = own.filter(({ held }) => !inVault.has(held.id));
  const ended = new Map<string, KnownPosition[]>();
  for (const known of rest) {
    const id = known.isOpen ? null : known.row?.vaultId;
    if (id) ended.set(id, [...(ended.get(id) ?? []), known]);
  }
  const grouped = new Set([...ended.values()].flat());
  return [
    ...rest.filter((known) => !grouped.has(known)).map((known) => partsOf(known).parts),
    ...[...ended.values()].map((loops) => vaultParts(loops.map(partsOf), ZERO, false)),
    ...vaults.map(({ loops, holding, stock, isAmbiguous }) =>
      vaultParts(loops.map(partsOf), valued(holding, stock).netUsd, isAmbiguous),
    ),
  ];
}

/** The totals of several readings as they are shown. */
export function shownTotals(all: readonly ExpectedTotals[]): Json {
  const sum = (of: (totals: ExpectedTotals) => Exact) => all.reduce((total, one) => total.plus(of(one)), ZERO);
  const equity = sum((one) => one.equity);
  const earned = all.reduce<Exact | undefined>((total, one) => one.earned && total?.plus(one.earned), ZERO);
  return {
    openCount: all.reduce((total, one) => total + one.openCount, 0),
    collateralUsd: shown(sum((one) => one.collateral)),
    debtUsd: shown(sum((one) => one.debt)),
    equityUsd: shown(equity),
    badDebtUsd: shown(sum((one) => one.badDebt)),
    netApyPct: earned && !equity.isZero() ? shown(earned.div(equity)) : undefined,
    pnl: pnlNumbers(sumParts(all.flatMap(({ results }) => results))),
  };
}

/** The name and the fall of the price of what is nearest to its liquidation. */
export function nearestOf(all: readonly ExpectedTotals[]): readonly [string, string] | undefined {
  const ranked = all.flatMap(({ used }) => [...used]).sort(([, a], [, b]) => b.comparedTo(a) ?? 0);
  return ranked[0] && [ranked[0][0], shown(new Exact(100).minus(ranked[0][1].times(100)))];
}
