import type { EquityPosition } from '../../../domain/equity/position.ts';
import { gap } from '../../../domain/freshness/gaps.ts';
import type { Gap } from '../../../domain/freshness/types.ts';
import { marketsById } from '../../../domain/market/lookup.ts';
import type { Position } from '../../../domain/position/types.ts';
import { isDust } from '../../../domain/position/valuation.ts';
import type { Strategy } from '../../../domain/strategy/types.ts';
import { momentOf } from '../../../resolvers/common/age.ts';
import type { AppContext } from '../../../resolvers/common/context.ts';
import type { WalletView } from '../../../resolvers/position/wallets.ts';
import { requestedLeverage } from '../../../resolvers/strategy/leveraged-history.ts';
import { marketOf, termsOf } from '../../../resolvers/strategy/strategies.ts';
import { Decimal, HUNDRED } from '../../../shared/decimal.ts';
import { BadRequestError } from '../../../shared/errors.ts';
import { type Address, type ChainId, formatValue, type MarketId } from '../../../shared/ids.ts';
import { borrowedHolding, heldHolding, openedHolding } from '../domain/holding.ts';
import { type RecordedMove, recordedMoves } from '../domain/survival.ts';
import { type StressTable, stressTable } from '../domain/table.ts';
import type { StressHolding } from '../domain/types.ts';
import { riskServices } from './risk-services.ts';

/** A stress table with the holdings that it is made from. */
export interface StressView extends StressTable {
  readonly holdings: readonly StressHolding[];
}

export interface StrategyStressArgs {
  readonly leverage?: Decimal | null | undefined;
  readonly equityUsd?: Decimal | null | undefined;
}

/** Equity of a strategy's table where none is requested. */
export const DEFAULT_STRESS_EQUITY_USD = 10_000;
const MAX_EQUITY_USD = new Decimal('1e12');

/** Stress a strategy as a deposit of this equity would open it now. @throws BadRequestError */
export function stressOfStrategy(
  strategy: Strategy,
  { leverage: requested, equityUsd }: StrategyStressArgs,
  ctx: AppContext,
): StressView {
  const leverage = requestedLeverage(strategy, requested, ctx);
  const composed = marketOf(strategy, {}, ctx);
  const nowMs = momentOf(ctx);
  const usd = checkedEquity(equityUsd);
  // Without a price the ratios are known all the same: they are those of as many loan tokens.
  const equity = composed.loanPrice ? usd.div(composed.loanPrice.value.usd) : usd;
  if (strategy.kind === 'loop') return viewOf([openedHolding(composed, { leverage, equity, nowMs })]);
  const id = termsOf(strategy, ctx).yieldStrategyId as string as MarketId;
  const leg = marketsById(ctx.loaders.composed(strategy.chainId)).get(id);
  if (!leg) throw new Error(`the vault ${strategy.id} is composed without its yield market`);
  const ltvPct = leverage.minus(1).times(HUNDRED);
  const stock = borrowedHolding(composed, { value: equity, ltvPct, nowMs });
  const borrowed = equity.times(ltvPct).div(HUNDRED);
  return viewOf([stock, openedHolding(leg, { leverage: leg.limits.safeRung.times, equity: borrowed, nowMs })]);
}

function checkedEquity(equityUsd: Decimal | null | undefined): Decimal {
  if (equityUsd == null) return new Decimal(DEFAULT_STRESS_EQUITY_USD);
  if (equityUsd.gt(0) && equityUsd.lte(MAX_EQUITY_USD)) return equityUsd;
  const message = `equityUsd is above 0 and at most ${MAX_EQUITY_USD.toFixed()}. Send the USD that are paid in.`;
  throw new BadRequestError(message, {
    field: 'equityUsd',
    value: formatValue(equityUsd.toFixed()),
    limit: { above: '0', max: MAX_EQUITY_USD.toFixed() },
  });
}

/** Stress one position as it is held. An ended one has an empty table. @throws as reading the wallet */
export async function stressOfPosition({ chainId, wallet, id, open }: Position, ctx: AppContext): Promise<StressView> {
  if (!open) return viewOf([]);
  return viewOfFound(await holdingsOf({ chainId, wallet }, ctx, { loops: [id] }));
}

/** Stress a vault: its stock leg and its loops together. @throws as reading the wallet */
export async function stressOfVault(
  { chainId, wallet, strategyId, yieldLoops }: EquityPosition,
  ctx: AppContext,
): Promise<StressView> {
  const vault = ctx.services.catalog.vault(chainId, strategyId);
  const stocks = vault ? [vault.stockMarket.id] : [];
  return viewOfFound(await holdingsOf({ chainId, wallet }, ctx, { loops: yieldLoops.map(({ id }) => id), stocks }));
}

/** Stress everything that a wallet holds on the requested chains. @throws as reading the wallet */
export async function stressOfWallet(
  { address, readings, missingChains }: WalletView,
  ctx: AppContext,
): Promise<StressView> {
  const found = await Promise.all(readings.map(({ chainId }) => holdingsOf({ chainId, wallet: address }, ctx, 'all')));
  const missing = missingChains.map(({ chainId }) =>
    gap('positionCount', 'SOURCE_FAILED', `The wallet cannot be read on the chain ${chainId} now.`),
  );
  return viewOfFound(found.flat(), missing);
}

/** Hold the worst recorded moves of the markets against the holdings of a table. */
export async function recordedMovesOf({ holdings }: StressView, ctx: AppContext): Promise<readonly RecordedMove[]> {
  const { marketRecords } = riskServices.cached(ctx);
  const readings = await Promise.all(holdings.map(({ market }) => marketRecords.read(market)));
  for (const { validUntilMs } of readings) ctx.cacheHints.until(validUntilMs);
  return recordedMoves(holdings.map((holding, i) => ({ holding, record: readings[i]?.record })));
}

type Which = 'all' | { readonly loops: readonly number[]; readonly stocks?: readonly MarketId[] | undefined };

/**
 * The open holdings of a wallet; `null` stands for one whose market cannot be valued. Dust, which anybody may supply for a wallet,
 * is none: it may be worth nothing and have no LTV, which would take that of the whole wallet.
 * @throws as reading the wallet
 */
async function holdingsOf(
  key: { readonly chainId: ChainId; readonly wallet: Address },
  ctx: AppContext,
  which: Which,
): Promise<readonly (StressHolding | null)[]> {
  const { holdings } = await ctx.loaders.wallet.load(key);
  const markets = ctx.loaders.marketsAt(key.chainId, holdings.markets);
  const isWanted = ({ id }: { readonly id: number }) => which === 'all' || which.loops.includes(id);
  const isWantedStock = (id: MarketId) => which === 'all' || (which.stocks ?? []).includes(id);
  const held = [
    ...holdings.positions.filter((position) => position.open && isWanted(position)),
    ...holdings.stocks.filter(({ marketId }) => isWantedStock(marketId)),
  ].filter((one) => one.collateral > 0n && !isDust(one, markets.get(one.marketId)));
  return held.map((position) => {
    const composed = markets.get(position.marketId);
    return composed ? heldHolding(position, composed, holdings.block.timestamp) : null;
  });
}

function viewOfFound(found: readonly (StressHolding | null)[], missing: readonly Gap[] = []): StressView {
  const holdings = found.flatMap((holding) => holding ?? []);
  return viewOf(holdings, found.length - holdings.length, missing);
}

function viewOf(holdings: readonly StressHolding[], uncounted = 0, missing: readonly Gap[] = []): StressView {
  const table = stressTable(holdings, uncounted);
  return { ...table, holdings, gaps: [...missing, ...table.gaps] };
}
