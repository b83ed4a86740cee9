import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap } from '../../domain/freshness/types.ts';
import { composePositionHistory } from '../../domain/history/compose.ts';
import { marketRewards } from '../../domain/portfolio/incentives.ts';
import { observedRow } from '../../domain/portfolio/observed-row.ts';
import { loopParts, OPENED_AHEAD, toPnl } from '../../domain/portfolio/pnl.ts';
import type { Pnl, RegisteredPosition } from '../../domain/portfolio/types.ts';
import type { HeldPosition, Position } from '../../domain/position/types.ts';
import { momentOf } from '../common/age.ts';
import type { AppContext } from '../common/context.ts';
import { blockOf } from '../common/fresh-reads.ts';

/** Gap of everything that needs the register while it cannot be read. */
export const UNREADABLE = gap('', 'SOURCE_FAILED', 'The register of the app cannot be read now.');
const UNREGISTERED = gap('', 'NOT_MEASURED', 'The app has not registered it, and the chain does not keep the time.');

/** Find the row of a position in the register; a gap when there is none or it cannot be read. Never throws. */
async function rowOf({ chainId, wallet, id, marketId }: Position, ctx: AppContext): Promise<RegisteredPosition | Gap> {
  const rows = await ctx.loaders.registered.load({ chainId, wallet }).catch(() => null);
  if (rows === null) return UNREADABLE;
  const row = rows.find((registered) => registered.positionIndex === id && registered.marketId === marketId);
  return row === undefined ? UNREGISTERED : observedRow(row, momentOf(ctx));
}

/** The time at which the app registered a position, ms; a gap when it is not known. */
export async function openedAtOf(position: Position, ctx: AppContext): Promise<number | Gap> {
  const row = await rowOf(position, ctx);
  if ('reason' in row) return row;
  return row.openedAtMs ?? OPENED_AHEAD;
}

/**
 * Compute the profit and loss of a position from its holdings on chain and its row of the register; `null` when the wallet does
 * not hold the position any more.
 * @throws as reading the wallet
 */
export async function pnlOf(position: Position, ctx: AppContext): Promise<Pnl | null> {
  const { chainId, wallet, id, marketId } = position;
  const block = blockOf(position, ctx);
  const reading = ctx.loaders.wallet.load({ chainId, wallet, block });
  const [{ holdings }, row] = await Promise.all([reading, rowOf(position, ctx)]);
  const held = holdings.positions.find((entry) => entry.id === id);
  if (!held) return null;
  const rewards = marketRewards(ctx.loaders.facts(chainId), marketId);
  const isUnreadable = 'reason' in row && row === UNREADABLE;
  return toPnl(
    loopParts({
      held,
      row: 'reason' in row ? null : row,
      market: ctx.services.catalog.market(chainId, marketId),
      composed: ctx.loaders.marketsAt(chainId, holdings.markets).get(marketId),
      rewards: isUnreadable && (!('pays' in rewards) || rewards.pays) ? UNREADABLE : rewards,
      timestamp: holdings.block.timestamp,
      soldInPart: await wasSoldInPart({ chainId, wallet, blockNumber: holdings.block.number, held }, ctx),
    }),
  );
}

/**
 * Whether a part of a closed position was sold before: its proceeds are in what the chain says was returned, but their deposit
 * basis is not in what it says was deposited. `false` also while the history cannot be read. Never throws.
 */
export async function wasSoldInPart(
  { held, ...at }: Pick<Position, 'chainId' | 'wallet'> & { readonly blockNumber: bigint; readonly held: HeldPosition },
  ctx: AppContext,
): Promise<boolean> {
  const { chainId, wallet, blockNumber } = at;
  const { id, proxy, marketId } = held;
  const { catalog } = ctx.services;
  const [chain, market] = [catalog.chain(chainId), catalog.market(chainId, marketId)];
  if (held.open || held.returnedAssets === 0n || !chain || !market) return false;
  const key = { chainId, wallet, account: proxy, positionIndex: id, marketId };
  const recorded = await ctx.loaders.positionEvents.load(key).catch(() => null);
  if (recorded === null) return false;
  const { events } = composePositionHistory({
    key,
    market,
    contracts: chain.contracts,
    recorded,
    held: { ...held, blockNumber },
  });
  return events.some(({ kind }) => kind === 'partly_closed');
}

/** Links to the block explorer of the chain. */
export interface ExplorerLinks {
  readonly wallet: string;
  readonly proxy: string;
  readonly block: string;
}

/** Make the links of a position to the block explorer; `null` = none is known for the chain. */
export function explorerLinksOf({ chainId, wallet, proxy, readAt }: Position, ctx: AppContext): ExplorerLinks | null {
  const url = ctx.services.catalog.chain(chainId)?.explorerUrl;
  if (url === undefined) return null;
  return {
    wallet: `${url}/address/${wallet}`,
    proxy: `${url}/address/${proxy}`,
    block: `${url}/block/${readAt.blockNumber}`,
  };
}
