import type { ContractTerms } from '../../../domain/deployment/terms.ts';
import { isStale } from '../../../domain/freshness/stamp.ts';
import type { Stamp } from '../../../domain/freshness/types.ts';
import type { ComposedChain } from '../../../domain/market/types.ts';
import type { Position } from '../../../domain/position/types.ts';
import type { ComposedWallet } from '../../../domain/position/wallet.ts';
import type { Strategy } from '../../../domain/strategy/types.ts';
import { Decimal } from '../../../shared/decimal.ts';
import type { StrategyId } from '../../../shared/ids.ts';
import { createMarketStates, hasApyGap, type MarketState, UNKNOWN } from './market-state.ts';
import { awaitedGroups, isFresh, mergedGroups, type StaleGroup, staleGroupsOf, staleGroupsOfMarket } from './stale.ts';
import type { AlertSubject, LeastValue, LiquidationEvent, SeenLiquidations, SubjectObservation } from './types.ts';

/** The latest reading of a wallet. */
export interface WatchedWallet {
  /** Time of its block, ms; without a reading the time from which one was tried. */
  readonly asOfMs: number;
  /** `null` = it was never read. */
  readonly wallet: ComposedWallet | null;
}

/** A liquidation of an account as the history of positions has it. */
export interface RecordedLiquidation extends Omit<LiquidationEvent, 'positionIndex' | 'strategyId'> {
  readonly marketId: Position['marketId'];
}

/** Liquidations of the history of positions, as far as it was read. */
export interface LiquidationHistory {
  readonly toBlock: bigint;
  /** Time of that block, ms. */
  readonly toMs: number;
  /** Find the liquidations of the contract of a position, or of a wallet itself, in the order of the chain. */
  of(account: Position['proxy']): readonly RecordedLiquidation[];
}

/** Where the stock leg of a vault is. */
export interface StockLegPlace {
  readonly strategyId: StrategyId;
  readonly marketId: Position['marketId'];
}

/** Everything that subjects of one chain are observed from. */
export interface AlertFacts {
  readonly composed: ComposedChain;
  /** The equity vaults of the chain: each has collateral and debt of wallets themselves in a market. */
  readonly vaults: readonly StockLegPlace[];
  /** The contract on this chain, for subjects that are no strategy. */
  readonly contract: Pick<ContractTerms, 'isPaused' | 'stamp'>;
  /** Finds the reading of a wallet; `undefined` = it was not tried yet. */
  readonly wallets: { get(wallet: string): WatchedWallet | undefined };
  /** Freshness budget of readings of wallets, seconds. */
  readonly walletStaleAfterSec: number;
  /** `null` = no log of the chain was read yet, or none is needed. */
  readonly history: LiquidationHistory | null;
  readonly nowMs: number;
}

const NOT_APPLICABLE: LeastValue = { least: null, complete: true };
/** The facts of a chain with the values that all subjects share, each computed once. */
export interface AlertWorld extends AlertFacts {
  readonly market: (marketId: Position['marketId']) => MarketState;
  /** Groups of the contract that are past their budget or missing. */
  readonly contractGroups: readonly StaleGroup[];
}

/** Prepare the observation of the subjects of a chain. */
export function createAlertWorld(facts: AlertFacts): AlertWorld {
  const { composed, contract, nowMs } = facts;
  return {
    ...facts,
    market: createMarketStates(composed, nowMs),
    contractGroups: staleGroupsOf({ deployment: [contract.stamp] }, nowMs),
  };
}

/**
 * Observe a subject; `undefined` = there is nothing to judge it by yet.
 * @param loops indexes of the positions that have counted as loops of the vault before
 */
export function observeSubject(
  subject: AlertSubject,
  world: AlertWorld,
  loops: ReadonlySet<number> = new Set(),
): SubjectObservation | undefined {
  if (subject.kind === 'strategy') return observeStrategy(subject, world);
  const watched = world.wallets.get(subject.wallet);
  if (watched === undefined) return undefined;
  const { wallet } = watched;
  const { contract, contractGroups, nowMs } = world;
  const observedMs = Math.max(watched.asOfMs, world.composed.asOfMs);
  const isOld = isStale({ asOfMs: watched.asOfMs, staleAfterSec: world.walletStaleAfterSec }, nowMs);
  const isPaused = isFresh(contract.stamp, nowMs) ? contract.isPaused : undefined;
  const stale: readonly StaleGroup[] = isOld ? ['wallet', ...contractGroups] : contractGroups;
  if (wallet === null) return { ...NOTHING, observedMs, staleGroups: mergedGroups(stale), isPaused };
  const { positions, vaults, stockLegs } = heldBy(subject, wallet, world, loops);
  const parts = [
    ...positions.flatMap((position) => partOfPosition(position, world) ?? []),
    ...vaults.map((vault) => partOfVault(vault, world)),
  ];
  const { headroomPct, apyPct, liquidityUsd } = isOld ? NO_VALUES : leastOfParts(parts);
  return {
    headroomPct,
    apyPct,
    liquidityUsd,
    observedMs,
    staleGroups: mergedGroups([...stale, ...parts.flatMap((part) => part.staleGroups)]),
    isPaused,
    exists: subject.kind !== 'position' || positions.length > 0,
    liquidations: liquidationsOf(positions, stockLegs, wallet, world.history),
    loops: subject.kind === 'vault' ? positions.map(({ id }) => id).sort((a, b) => a - b) : undefined,
  };
}

interface Held {
  readonly positions: readonly Position[];
  readonly vaults: ComposedWallet['equityPositions'];
  /** Also of vaults that the wallet has left: their end may be a liquidation. */
  readonly stockLegs: readonly StockLegPlace[];
}

/**
 * Find the positions of a subject. A vault is its stock leg with its loops, those that may be its loops, and those that were: a
 * liquidation, a repayment or a payment ends the match of a loop, and not its risk.
 */
function heldBy(
  subject: Exclude<AlertSubject, { readonly kind: 'strategy' }>,
  wallet: ComposedWallet,
  { vaults }: AlertWorld,
  loopsBefore: ReadonlySet<number>,
): Held {
  const { positions, equityPositions } = wallet;
  const all = [...positions, ...equityPositions.flatMap(({ yieldLoops }) => yieldLoops)];
  if (subject.kind === 'wallet') return { positions: all, vaults: equityPositions, stockLegs: vaults };
  if (subject.kind === 'position') {
    return { positions: all.filter(({ id }) => id === subject.positionIndex), vaults: [], stockLegs: [] };
  }
  const own = equityPositions.filter(({ strategyId }) => strategyId === subject.strategyId);
  const loops = own.flatMap(({ yieldLoops, ambiguousYieldLoopIds = [] }) => [
    ...yieldLoops.map(({ id }) => id),
    ...ambiguousYieldLoopIds,
  ]);
  const registeredElsewhere = equityPositions
    .filter((other) => !own.includes(other) && other.yieldLoopMatch === 'tagged')
    .flatMap(({ yieldLoops }) => yieldLoops.map(({ id }) => id));
  return {
    positions: all.filter(({ id }) => loops.includes(id) || (loopsBefore.has(id) && !registeredElsewhere.includes(id))),
    vaults: own,
    stockLegs: vaults.filter(({ strategyId }) => strategyId === subject.strategyId),
  };
}

/** The history follows a reading within this time, also on a chain whose newest blocks it leaves out. */
const HISTORY_FOLLOWS_MS = 60_000;

function liquidationsOf(
  positions: readonly Position[],
  stockLegs: readonly StockLegPlace[],
  { wallet, block: { number, timestamp } }: Pick<ComposedWallet, 'wallet' | 'block'>,
  history: LiquidationHistory | null,
): SeenLiquidations {
  const atMs = Number(timestamp) * 1_000;
  const recorded = (account: Position['proxy'], marketId: Position['marketId']) =>
    (history?.of(account) ?? []).filter((event) => event.marketId === marketId);
  const events = [
    ...positions.flatMap(({ id, proxy, marketId }) =>
      recorded(proxy, marketId).map((event) => eventOf(event, { positionIndex: id, strategyId: null })),
    ),
    ...stockLegs.flatMap(({ strategyId, marketId }) =>
      recorded(wallet, marketId).map((event) => eventOf(event, { positionIndex: null, strategyId })),
    ),
  ];
  return {
    blockNumber: number,
    atMs,
    events: events.sort((a, b) => Number(a.blockNumber - b.blockNumber)),
    history: progressOf(history, number, atMs),
    // The chain does not keep how a stock leg without collateral has ended: an exit looks the same.
    emptied: positions.flatMap(({ id, liquidated }) => (liquidated ? [id] : [])),
  };
}

function eventOf(
  { id, blockNumber, atMs, txHash }: RecordedLiquidation,
  of: Pick<LiquidationEvent, 'positionIndex' | 'strategyId'>,
): LiquidationEvent {
  return { id, ...of, blockNumber, atMs, txHash };
}

function progressOf(history: LiquidationHistory | null, block: bigint, atMs: number): SeenLiquidations['history'] {
  if (history === null) return 'behind';
  if (history.toBlock >= block) return 'whole';
  return history.toMs >= atMs - HISTORY_FOLLOWS_MS ? 'soon' : 'behind';
}

type Values = Pick<SubjectObservation, 'headroomPct' | 'apyPct' | 'liquidityUsd'>;
type Part = Values & Pick<SubjectObservation, 'staleGroups'>;

const NO_VALUES: Values = { headroomPct: UNKNOWN, apyPct: UNKNOWN, liquidityUsd: UNKNOWN };
const NOTHING = { ...NO_VALUES, exists: true, isPaused: undefined, liquidations: undefined } as const;

function observeStrategy({ strategyId }: { readonly strategyId: StrategyId }, world: AlertWorld): SubjectObservation {
  const { nowMs, composed } = world;
  const strategy = composed.lookup.strategies.get(strategyId);
  const observedMs = composed.asOfMs;
  // A strategy that cannot be composed waits for a measurement, or has left the catalog.
  if (strategy === undefined)
    return { ...NOTHING, observedMs, staleGroups: awaitedGroups(strategyId, composed.excluded) };
  const { borrow, collateralApy } = strategy.freshness;
  const { prices, incentives } = strategy.inputFreshness;
  const { deployment } = strategy;
  // Its APY is the one at the safe LTV.
  const isApyKnown =
    fresh([borrow, collateralApy, incentives], nowMs) && !hasApyGap(strategy.gaps, 'ltvLimits.safePct');
  const isDeploymentKnown = fresh([deployment?.stamp], nowMs);
  const stale = [...groupsOfStrategy(strategy, world), ...(isDeploymentKnown ? [] : ['deployment' as const])];
  return {
    observedMs,
    headroomPct: NOT_APPLICABLE,
    apyPct: isApyKnown ? knownAs(strategy.defaultLeverage.leverageApyPct) : UNKNOWN,
    liquidityUsd: fresh([borrow, prices], nowMs) ? knownAs(strategy.liquidityUsd) : UNKNOWN,
    staleGroups: mergedGroups(stale),
    isPaused: isDeploymentKnown ? deployment?.isPaused : undefined,
    exists: true,
    liquidations: undefined,
  };
}

/** The groups of a strategy's markets that are old or missing: those of a vault are on two markets. */
function groupsOfStrategy({ marketId, equityVault }: Strategy, { composed, nowMs }: AlertWorld): readonly StaleGroup[] {
  const { markets } = composed.lookup;
  if (equityVault === undefined) return staleGroupsOfMarket(markets.get(marketId), nowMs);
  const legId = equityVault.yieldStrategyId as string as Position['marketId'];
  // The stock itself earns nothing that counts.
  const ofStock = staleGroupsOfMarket(markets.get(marketId), nowMs).filter((group) => group !== 'collateralApy');
  return [...ofStock, ...staleGroupsOfMarket(markets.get(legId), nowMs)];
}

/** `undefined` = it has ended, and is no part of the wallet's risk. */
function partOfPosition(position: Position, { nowMs, market: stateOf }: AlertWorld): Part | undefined {
  if (position.status !== 'open') return undefined;
  const market = stateOf(position.marketId);
  if (position.freshness === undefined) return { ...NO_VALUES, staleGroups: market.staleGroups };
  const { borrow, oracle, collateralApy } = position.freshness;
  const isLtvKnown = isFresh(borrow, nowMs) && isFresh(oracle, nowMs);
  const isApyKnown = isLtvKnown && isFresh(collateralApy, nowMs) && market.isApyKnown;
  return {
    // Without a price of the collateral there is no LTV: that is unknown and not safe.
    headroomPct: isLtvKnown ? knownAs(position.ltvHeadroomPct ?? undefined) : UNKNOWN,
    apyPct: isApyKnown ? knownAs(position.currentLeverageApyPct ?? undefined) : UNKNOWN,
    liquidityUsd: market.liquidityUsd,
    staleGroups: withLtvGroups(market.staleGroups, borrow, oracle, nowMs),
  };
}

/** Add the groups of an LTV that are past their budget. */
function withLtvGroups(
  groups: readonly StaleGroup[],
  borrow: Stamp,
  oracle: Stamp,
  nowMs: number,
): readonly StaleGroup[] {
  const ofLtv = staleGroupsOf({ lendingState: [borrow], oracle: [oracle] }, nowMs);
  return ofLtv.length === 0 ? groups : [...groups, ...ofLtv];
}

/** The stock leg of an equity vault with the APY of the whole; its loops are positions. */
function partOfVault(vault: ComposedWallet['equityPositions'][number], world: AlertWorld): Part {
  const { nowMs, composed } = world;
  const strategy = composed.lookup.strategies.get(vault.strategyId);
  const ofStrategy = strategy ? groupsOfStrategy(strategy, world) : awaitedGroups(vault.strategyId, composed.excluded);
  if (vault.freshness === undefined) return { ...NO_VALUES, staleGroups: ofStrategy };
  const { borrow, oracle } = vault.freshness;
  const isKnown = fresh([borrow, oracle], nowMs);
  const isApyKnown =
    isKnown &&
    strategy &&
    fresh([strategy.freshness.collateralApy, strategy.inputFreshness.incentives], nowMs) &&
    !hasApyGap(strategy.gaps);
  return {
    headroomPct: isKnown ? knownAs(vault.stock.ltvHeadroomPct ?? undefined) : UNKNOWN,
    apyPct: isApyKnown ? knownAs(vault.currentNetApyPct ?? undefined) : UNKNOWN,
    liquidityUsd: strategy ? world.market(strategy.marketId).liquidityUsd : UNKNOWN,
    staleGroups: withLtvGroups(ofStrategy, borrow, oracle, nowMs),
  };
}

function fresh(stamps: readonly (Stamp | undefined)[], nowMs: number): boolean {
  return stamps.every((stamp) => isFresh(stamp, nowMs));
}

function knownAs(text: string | undefined): LeastValue {
  return text === undefined ? UNKNOWN : { least: new Decimal(text), complete: true };
}

function leastOfParts(parts: readonly Part[]): Values {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  return {
    headroomPct: leastOf(parts.map((part) => part.headroomPct)),
    apyPct: leastOf(parts.map((part) => part.apyPct)),
    liquidityUsd: leastOf(parts.map((part) => part.liquidityUsd)),
  };
}

function leastOf(measures: readonly LeastValue[]): LeastValue {
  let least: Decimal | null = null;
  let complete = true;
  for (const measure of measures) {
    complete &&= measure.complete;
    if (measure.least !== null && (least === null || measure.least.lt(least))) least = measure.least;
  }
  return { least, complete };
}
