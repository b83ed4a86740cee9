import { Decimal, ZERO } from '../../shared/decimal.ts';
import type { EquityPosition } from '../equity/position.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';
import type { PositionStatus, WalletHoldings } from '../position/types.ts';
import { valueHolding } from '../position/valuation.ts';
import type { PortfolioContext } from './context.ts';
import { addParts, OPENED_AHEAD, type PnlPart, type PnlParts, stockIncentives } from './pnl.ts';
import type { PortfolioLoop, RegisteredPosition } from './types.ts';

type LoopWithParts = PortfolioLoop & { readonly parts: PnlParts };

/**
 * Compute the parts of an open vault. The chain keeps no basis of a stock leg: deposits and withdrawals come from the rows of
 * its loops, one row per deposit into the vault.
 */
export function openVaultParts(
  context: PortfolioContext,
  holdings: WalletHoldings,
  equity: EquityPosition,
  loops: readonly LoopWithParts[],
): PnlParts {
  const vault = context.chain.equityVaults.find(({ id }) => id === equity.strategyId);
  const stockMarketId = vault?.stockMarket.id;
  const stock = holdings.stocks.find(({ marketId }) => marketId === stockMarketId);
  const composed = stockMarketId && context.marketsAt(holdings.markets).get(stockMarketId);
  const loopsValue = sumOf(loops, 'netValueUsd');
  const stockUsd = stock && composed ? valueHolding(stock, composed, holdings.block.timestamp).usd : null;
  const flows = registeredFlows(equity, loops);
  const stockNetUsd = stockUsd ? Decimal.max(stockUsd.net, ZERO) : ZERO;
  return {
    ...flows,
    netValueUsd:
      equity.yieldLoopMatch === 'ambiguous'
        ? AMBIGUOUS
        : addParts(stockUsd ? stockNetUsd : gap('', 'NOT_MEASURED', 'The stock leg cannot be valued.'), loopsValue),
    badDebtUsd: loops.reduce(
      (sum, { parts }) => sum.plus(parts.badDebtUsd ?? ZERO),
      stockUsd ? Decimal.max(stockUsd.net.negated(), ZERO) : ZERO,
    ),
    divergentUsd: loops.reduce(
      (sum, { parts }) => sum.plus(parts.divergentUsd ?? ZERO),
      composed?.oracleDivergence ? stockNetUsd : ZERO,
    ),
    yieldFeeUsd: equity.yieldLoopMatch === 'ambiguous' ? AMBIGUOUS : sumOf(loops, 'yieldFeeUsd'),
    incentivesUsd: addParts(
      sumOf(loops, 'incentivesUsd'),
      stock && stockMarketId
        ? stockLegIncentives(context, stock, stockMarketId, loops, holdings)
        : gap('', 'NOT_MEASURED', 'The stock leg is unknown.'),
    ),
  };
}

/** Compute the parts of an ended vault, whose net value is zero. */
export function closedVaultParts(loops: readonly LoopWithParts[]): PnlParts {
  return {
    ...sumRows(loops.map(({ row }) => row)),
    netValueUsd: ZERO,
    yieldFeeUsd: ZERO,
    incentivesUsd: sumOf(loops, 'incentivesUsd'),
  };
}

/** A vault with a liquidated loop counts as liquidated. */
export function statusOfEnded(loops: readonly PortfolioLoop[]): PositionStatus {
  return loops.some(({ position }) => position.liquidated) ? 'liquidated' : 'closed';
}

const AMBIGUOUS = gap('', 'NOT_MEASURED', 'More than one set of loops may belong to the vault.');

function registeredFlows(
  { yieldLoopMatch }: EquityPosition,
  loops: readonly LoopWithParts[],
): Pick<PnlParts, 'depositedUsd' | 'returnedUsd'> {
  if (yieldLoopMatch === 'ambiguous') return { depositedUsd: AMBIGUOUS, returnedUsd: AMBIGUOUS };
  return sumRows(loops.map(({ row }) => row));
}

function sumRows(rows: readonly (RegisteredPosition | null)[]): Pick<PnlParts, 'depositedUsd' | 'returnedUsd'> {
  const known = rows.filter((row) => row !== null);
  if (known.length === 0 || known.length < rows.length) {
    const missing = gap('', 'NOT_MEASURED', 'Not every loop of the vault is registered.');
    return { depositedUsd: missing, returnedUsd: missing };
  }
  return {
    depositedUsd: known.reduce((sum, row) => sum.plus(row.depositedUsd).plus(row.addedUsd), ZERO),
    returnedUsd: known.reduce((sum, row) => sum.plus(row.returnedUsd).plus(row.removedUsd), ZERO),
  };
}

function sumOf(loops: readonly LoopWithParts[], part: PnlPart): Decimal | Gap {
  return loops.reduce<Decimal | Gap>((sum, { parts }) => addParts(sum, parts[part]), ZERO);
}

function stockLegIncentives(
  context: PortfolioContext,
  stock: WalletHoldings['stocks'][number],
  marketId: WalletHoldings['stocks'][number]['marketId'],
  loops: readonly LoopWithParts[],
  { block, markets }: WalletHoldings,
): Decimal | Gap {
  const rewards = context.rewards(marketId);
  if (!('field' in rewards) && !rewards.pays) return ZERO;
  const since = loops.flatMap(({ row }) => (row ? [row.openedAtMs] : []));
  if (since.length === 0)
    return gap('', 'NOT_MEASURED', 'The vault is not registered, so the start of its earnings is unknown.');
  const known = since.filter((openedAtMs) => openedAtMs !== null);
  if (known.length < since.length) return OPENED_AHEAD;
  const life = { fromMs: Math.min(...known), toMs: Number(block.timestamp) * 1_000 };
  return stockIncentives(stock, context.marketsAt(markets).get(marketId), rewards, life);
}
