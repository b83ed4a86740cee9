import type { MarketId } from '../../shared/ids.ts';
import type { HeldPosition } from '../position/types.ts';
import type { RegisteredPosition, UnresolvedReason, UnresolvedRow } from './types.ts';

/** Markets that are configured here and on other chains. */
export interface KnownMarkets {
  market(id: MarketId): unknown;
  isElsewhere(marketId: MarketId): boolean;
}

const MESSAGES: Record<UnresolvedReason, string> = {
  market_not_configured: 'Its market is in no catalog.',
  no_chain_position: 'The wallet has no position with this index on this chain.',
  chain_mismatch: 'Its market differs from that of the position with this index on this chain.',
};

/**
 * Assign each position the row of the same index and market. Rows without such a position are unresolved, with the reason;
 * `otherMarketOf` has the market of such a row by its index.
 */
export function resolveRows(
  known: KnownMarkets,
  positions: readonly HeldPosition[],
  rows: readonly RegisteredPosition[],
): {
  readonly rowOf: ReadonlyMap<number, RegisteredPosition>;
  readonly otherMarketOf: ReadonlyMap<number, MarketId>;
  readonly unresolved: readonly UnresolvedRow[];
} {
  const heldById = new Map(positions.map((held) => [held.id, held] as const));
  const rowOf = new Map<number, RegisteredPosition>();
  const unresolved: UnresolvedRow[] = [];
  for (const row of rows) {
    const held = heldById.get(row.positionIndex);
    if (held?.marketId === row.marketId) rowOf.set(row.positionIndex, row);
    else {
      const reason = reasonOf(known, row, held !== undefined);
      unresolved.push({ reason, message: MESSAGES[reason], row });
    }
  }
  const otherMarketOf = new Map(unresolved.map(({ row }) => [row.positionIndex, row.marketId] as const));
  return { rowOf, otherMarketOf, unresolved };
}

function reasonOf(known: KnownMarkets, { marketId }: RegisteredPosition, isHeld: boolean): UnresolvedReason {
  if (known.market(marketId) !== undefined) return isHeld ? 'chain_mismatch' : 'no_chain_position';
  return known.isElsewhere(marketId) ? 'chain_mismatch' : 'market_not_configured';
}
