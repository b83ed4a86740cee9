import type { Market } from '../../../catalog/types.ts';
import type { PositionKey, RecordedPosition } from '../../../domain/history/types.ts';
import type { ComposedWallet } from '../../../domain/position/wallet.ts';
import type { AppContext } from '../../../resolvers/common/context.ts';
import { type Page, type PageArgs, pageByRank } from '../../../resolvers/common/page.ts';
import { requireChain } from '../../../resolvers/market/chains.ts';
import { BadRequestError } from '../../../shared/errors.ts';
import type { ChainId } from '../../../shared/ids.ts';
import { letOthersRun } from '../../../shared/turns.ts';
import { eventViews, type PositionEventView } from './history-views.ts';
import { composeHistoryRow, historyKeyOf } from './position-history.ts';

type StatementWallet = Pick<ComposedWallet, 'chainId' | 'wallet' | 'positions' | 'equityPositions'>;

/** Most events of a statement: a file of some 4 MB, which is made in memory, so that it has an ETag and a length. */
export const MAX_STATEMENT_EVENTS = 10_000;
/** Positions whose events are read at once. */
const POSITIONS_AT_ONCE = 200;

/** A position or stock leg of a statement. */
interface Subject {
  readonly key: PositionKey;
  /** As the lists of positions name it; of a stock leg the id of its vault. */
  readonly name: string;
}

/** An event of a statement. */
export interface StatementRow {
  /** Place in the statement, from 0. */
  readonly rank: number;
  readonly chainId: ChainId;
  readonly positionId: string;
  readonly market: Market;
  /** Whether the events of the position are all from its opening until now. */
  readonly isComplete: boolean;
  readonly event: PositionEventView;
}

type FoundRow = Omit<StatementRow, 'rank'>;

/** Page through the statement of a wallet. @throws as `statementOf`, and BadRequestError for a broken bound or cursor */
export async function pageStatement(
  readings: readonly StatementWallet[],
  args: PageArgs,
  ctx: AppContext,
): Promise<Page<StatementRow>> {
  return pageByRank(await statementOf(readings, ctx), ({ rank }) => rank, args, ctx.maxPageSize, 'statement');
}

/**
 * Every event of the positions of a wallet on its chains, oldest first: loops of vaults, and the stock legs of vaults, held or left,
 * included. Positions are read in groups, so that a wallet with many has a whole statement too.
 * @throws BadRequestError for a wallet with more events than a statement has; UpstreamUnavailableError
 */
export async function statementOf(
  readings: readonly StatementWallet[],
  ctx: AppContext,
): Promise<readonly StatementRow[]> {
  const rows: FoundRow[] = [];
  for (const reading of readings) {
    const subjects = subjectsOf(reading, ctx);
    for (let from = 0; from < subjects.length; from += POSITIONS_AT_ONCE) {
      for (const row of await rowsOf(reading, subjects.slice(from, from + POSITIONS_AT_ONCE), ctx)) rows.push(row);
      if (rows.length > MAX_STATEMENT_EVENTS) throw tooMany(reading.wallet);
      await letOthersRun();
    }
  }
  return rows.sort(olderFirst).map((row, rank) => ({ ...row, rank }));
}

function tooMany(wallet: string): BadRequestError {
  const message = `${wallet} has more than ${MAX_STATEMENT_EVENTS} events, the most of a statement. Read the history of each of its positions, which comes in pages.`;
  return new BadRequestError(message, {
    field: 'address',
    value: wallet,
    limit: { maxEvents: MAX_STATEMENT_EVENTS },
  });
}

/** By time, and within a second, which may have several blocks, in the order of the chain. */
function olderFirst(a: FoundRow, b: FoundRow): number {
  return (
    a.event.atMs - b.event.atMs ||
    a.chainId - b.chainId ||
    Number(a.event.blockNumber - b.event.blockNumber) ||
    a.event.logIndex - b.event.logIndex
  );
}

function subjectsOf({ chainId, wallet, positions, equityPositions }: StatementWallet, ctx: AppContext): Subject[] {
  const loops = [...positions, ...equityPositions.flatMap(({ yieldLoops }) => yieldLoops)];
  return [
    ...loops.map((position) => ({ key: historyKeyOf(position, ctx), name: position.positionId })),
    ...requireChain(ctx, chainId).equityVaults.map(({ id }) => ({
      key: historyKeyOf({ chainId, wallet, strategyId: id, isOpen: false }, ctx),
      name: id,
    })),
  ];
}

/** Read the events of some positions. Those that have too many logs together are read in halves. */
async function rowsOf(
  wallet: Pick<StatementWallet, 'chainId' | 'wallet'>,
  subjects: readonly Subject[],
  ctx: AppContext,
): Promise<readonly FoundRow[]> {
  const recorded = await ctx.live().positionHistory.readEvents(subjects.map(({ key }) => key));
  if (subjects.length > 1 && recorded.some(({ isCut }) => isCut)) {
    const half = Math.ceil(subjects.length / 2);
    const first = await rowsOf(wallet, subjects.slice(0, half), ctx);
    return [...first, ...(await rowsOf(wallet, subjects.slice(half), ctx))];
  }
  const { holdings } = await ctx.loaders.wallet.load(wallet);
  return subjects.flatMap(({ key, name }, i) => {
    const found = recorded[i];
    return found ? rowsOfOne(name, key, found, holdings, ctx) : [];
  });
}

function rowsOfOne(
  name: string,
  key: PositionKey,
  recorded: RecordedPosition,
  holdings: Parameters<typeof composeHistoryRow>[2],
  ctx: AppContext,
): readonly FoundRow[] {
  const row = composeHistoryRow(key, recorded, holdings, ctx);
  if (!row) return [];
  const { market, history } = row;
  const isComplete = history.incomplete === undefined;
  return eventViews(row).map((event) => ({ chainId: key.chainId, positionId: name, market, isComplete, event }));
}
