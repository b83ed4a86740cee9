import type { Chain, Market } from '../../../catalog/types.ts';
import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import { composePositionHistory, composeStockHistory, type PositionHistory } from '../../../domain/history/compose.ts';
import type { PositionKey, RecordedPosition } from '../../../domain/history/types.ts';
import { oracleTypeOf } from '../../../domain/market/oracle-basis.ts';
import { accrueRewards, marketRewards } from '../../../domain/portfolio/incentives.ts';
import type { Position, WalletHoldings } from '../../../domain/position/types.ts';
import { valueHolding } from '../../../domain/position/valuation.ts';
import type { ComposedWallet } from '../../../domain/position/wallet.ts';
import type { AppContext } from '../../../resolvers/common/context.ts';
import { blockOf } from '../../../resolvers/common/fresh-reads.ts';
import { requireChain } from '../../../resolvers/market/chains.ts';
import { MAX_RANGE_DAYS, readHistory } from '../../../resolvers/market/histories.ts';
import { pnlOf } from '../../../resolvers/position/position-result.ts';
import { vaultOf } from '../../../resolvers/position/positions.ts';
import { Decimal } from '../../../shared/decimal.ts';
import type { Address, ChainId, StrategyId } from '../../../shared/ids.ts';
import { type PnlDifference, pnlDifference } from '../domain/pnl-difference.ts';
import { type HeldNow, type PnlSplit, splitPnl, type TimeSpan, type YieldSource } from '../domain/pnl-split.ts';

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
/** A day without an APY has that of the latest day before it, at most so many days back. */
const CARRIED_DAYS = 7;

/** The history of a position, or of a stock leg, with the prices that value it. */
export interface PositionHistoryRow {
  readonly market: Market;
  readonly history: PositionHistory;
  readonly now: HeldNow;
  /** Whether `now` has the value of what is held; `false` = the market has not been measured yet. */
  readonly isValued: boolean;
  /** USD per loan token; `null` = not known. */
  readonly loanUsd: Decimal | null;
}

/** The stock leg of a vault of a wallet, also of one that it has left. */
export interface StockLeg {
  readonly chainId: ChainId;
  readonly wallet: Address;
  readonly strategyId: StrategyId;
  /** Whether the wallet has collateral or debt in it now. */
  readonly isOpen: boolean;
}

export type HistorySubject = Pick<Position, 'chainId' | 'wallet' | 'id' | 'proxy' | 'marketId' | 'readAt'> | StockLeg;

/** The key of a position or a stock leg in recorded logs. */
export function historyKeyOf(subject: HistorySubject, ctx: AppContext): PositionKey {
  const { chainId, wallet } = subject;
  if ('proxy' in subject) {
    return { chainId, wallet, account: subject.proxy, positionIndex: subject.id, marketId: subject.marketId };
  }
  const marketId = vaultOf(subject, ctx).stockMarket.id;
  return { chainId, wallet, account: wallet, positionIndex: null, marketId };
}

/**
 * Read the history of a position or a stock leg; `null` = its market is not in the catalog, or the wallet does not hold the
 * position any more.
 * @throws UpstreamUnavailableError, as reading the wallet
 */
export async function readPositionHistory(
  subject: HistorySubject,
  ctx: AppContext,
): Promise<PositionHistoryRow | null> {
  const key = historyKeyOf(subject, ctx);
  const block = 'readAt' in subject ? blockOf(subject, ctx) : undefined;
  const [recorded, { holdings }] = await Promise.all([
    ctx.loaders.positionHistory.load(key),
    ctx.loaders.wallet.load({ chainId: key.chainId, wallet: key.wallet, block }),
  ]);
  return composeHistoryRow(key, recorded, holdings, ctx);
}

/** Compose the history of recorded logs; `null` as of `readPositionHistory`. */
export function composeHistoryRow(
  key: PositionKey,
  recorded: RecordedPosition,
  holdings: WalletHoldings,
  ctx: AppContext,
): PositionHistoryRow | null {
  const { chainId, marketId, positionIndex } = key;
  const chain = ctx.services.catalog.chain(chainId);
  const held =
    positionIndex === null
      ? (holdings.stocks.find((entry) => entry.marketId === marketId) ?? NO_STOCK)
      : holdings.positions.find((entry) => entry.id === positionIndex);
  const market = chain?.markets.find(({ id }) => id === marketId);
  if (!chain || !held || !market) return null;
  // Events need the market's tokens alone: a source that was never measured takes no event out of a statement.
  const composed = ctx.loaders.marketsAt(chainId, holdings.markets).get(marketId);
  const { number: blockNumber, timestamp } = holdings.block;
  const { contracts } = chain;
  const input = { key, market, contracts, recorded, held: { ...held, blockNumber } };
  const isHolding = held.collateral > 0n || held.borrowShares > 0n;
  return {
    market,
    history: positionIndex === null ? composeStockHistory(input) : composePositionHistory(input),
    now: {
      atMs: Number(timestamp) * 1_000,
      collateral: held.collateral,
      debt: isHolding && composed ? valueHolding(held, composed, timestamp).debt : 0n,
      price: isHolding && composed ? composed.facts.oracle.value.price : null,
    },
    isValued: !isHolding || composed !== undefined,
    loanUsd: composed?.loanPrice?.value.usd ?? null,
  };
}

const NO_STOCK = { collateral: 0n, borrowShares: 0n };

/**
 * Find the stock leg of a vault of a wallet, held or left; `null` = the chain has no such vault, or nothing of it was recorded and
 * the wallet holds none.
 * @throws UpstreamUnavailableError, as reading the wallet
 */
export async function findStockLeg(
  { chainId, equityVaults }: Pick<Chain, 'chainId' | 'equityVaults'>,
  { wallet, strategyId }: Pick<StockLeg, 'wallet' | 'strategyId'>,
  ctx: AppContext,
): Promise<StockLeg | null> {
  const vault = equityVaults.find(({ id }) => id === strategyId);
  if (!vault) return null;
  const { holdings } = await ctx.loaders.wallet.load({ chainId, wallet });
  const isOpen = holdings.stocks.some(({ marketId }) => marketId === vault.stockMarket.id);
  return knownLeg({ chainId, wallet, strategyId, isOpen }, ctx);
}

/** List the stock legs of a wallet on the chains of its readings, held or left. @throws UpstreamUnavailableError */
export async function listStockLegs(
  readings: readonly Pick<ComposedWallet, 'chainId' | 'wallet' | 'equityPositions'>[],
  ctx: AppContext,
): Promise<readonly StockLeg[]> {
  const legs = readings.flatMap(({ chainId, wallet, equityPositions }) =>
    requireChain(ctx, chainId).equityVaults.map(({ id: strategyId }) => {
      const isOpen = equityPositions.some((held) => held.strategyId === strategyId);
      return knownLeg({ chainId, wallet, strategyId, isOpen }, ctx);
    }),
  );
  return (await Promise.all(legs)).filter((leg) => leg !== null);
}

/** A stock leg that is held or was recorded; `null` = neither. */
async function knownLeg(leg: StockLeg, ctx: AppContext): Promise<StockLeg | null> {
  if (leg.isOpen) return leg;
  const { logs } = await ctx.loaders.positionHistory.load(historyKeyOf(leg, ctx));
  return logs.length > 0 ? leg : null;
}

/**
 * Split the profit and loss of a position into its parts; `null` = its market has not been measured yet.
 * @throws UpstreamUnavailableError
 */
export async function readPnlSplit(row: PositionHistoryRow, ctx: AppContext): Promise<PnlSplit | null> {
  const { history, market, now, isValued } = row;
  if (!isValued) return null;
  const [first] = history.events;
  const last = history.events.at(-1);
  // After the end nothing is earned.
  const end = now.price === null && last ? { ...now, atMs: last.atMs } : now;
  const span = { fromMs: first?.atMs ?? end.atMs, toMs: end.atMs };
  const rewards = marketRewards(ctx.loaders.facts(market.chainId), market.id);
  return splitPnl({
    operations: history.events,
    marks: history.marks,
    now: end,
    incomplete: history.incomplete,
    source: await yieldSourceOf(market, span, ctx),
    incentives: (held, over) => ('field' in rewards ? rewards : accrueRewards(rewards, held, over)),
  });
}

/**
 * Compare both P&Ls of a position; `null` as of `readPositionHistory` and `readPnlSplit`.
 * @throws UpstreamUnavailableError
 */
export async function readPnlDifference(position: Position, ctx: AppContext): Promise<PnlDifference | null> {
  const { chainId, wallet, id } = position;
  const block = blockOf(position, ctx);
  const [row, pnl, { holdings }] = await Promise.all([
    readPositionHistory(position, ctx),
    pnlOf(position, ctx),
    ctx.loaders.wallet.load({ chainId, wallet, block }),
  ]);
  const recorded = holdings.positions.find((entry) => entry.id === id);
  if (!row || !pnl || !recorded) return null;
  const { market, loanUsd } = row;
  const split = await readPnlSplit(row, ctx);
  return split && pnlDifference({ split, pnl, recorded, loanDecimals: market.loan.decimals, loanUsd });
}

const UNKNOWN_YIELD: Gap = gap('yield', 'NOT_MEASURED', 'The APY of the collateral was not recorded on every day.');

async function yieldSourceOf(market: Market, span: TimeSpan, ctx: AppContext): Promise<YieldSource> {
  const oracle = ctx.loaders.composed(market.chainId).lookup.markets.get(market.id)?.facts.oracle.value;
  if (oracle && oracleTypeOf(oracle) === 'nav') return 'rate';
  if (market.collateral.apySource === 'none') return 'none';
  const fromMs = span.fromMs - CARRIED_DAYS * DAY_MS;
  if (span.toMs - fromMs >= MAX_RANGE_DAYS * DAY_MS) return () => UNKNOWN_YIELD;
  const args = {
    fromAt: new Date(fromMs),
    toAt: new Date(span.toMs + 1_000),
    resolution: 'DAY',
    downsampling: 'MEAN',
  } as const;
  const { points } = await readHistory('collateralApy', market, args, ctx);
  const byDay = new Map(points.map(({ atMs, ratePct }) => [Math.floor(atMs / DAY_MS), ratePct] as const));
  const rateOn = (day: number): Decimal | undefined => {
    for (let back = 0; back <= CARRIED_DAYS; back += 1) {
      const rate = byDay.get(day - back);
      if (rate) return rate;
    }
    return undefined;
  };
  return (over) => shareOver(over, rateOn);
}

/** The yield of a unit of value over a time, by the APYs of its days, as a fraction. */
function shareOver({ fromMs, toMs }: TimeSpan, rateOn: (day: number) => Decimal | undefined): Decimal | Gap {
  let share = new Decimal(0);
  for (let atMs = fromMs; atMs < toMs; ) {
    const day = Math.floor(atMs / DAY_MS);
    const endMs = Math.min(toMs, (day + 1) * DAY_MS);
    const apyPct = rateOn(day);
    if (!apyPct) return UNKNOWN_YIELD;
    // The continuous rate of the APY, so that a year of days gives the APY.
    const rate = new Decimal(Math.log1p(apyPct.shiftedBy(-2).toNumber()).toFixed(15));
    share = share.plus(rate.times(endMs - atMs).div(YEAR_MS));
    atMs = endMs;
  }
  return share;
}
