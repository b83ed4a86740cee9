import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { createMarketMarkRepository } from '../../src/database/market-marks.ts';
import { createPositionHistoryRepository } from '../../src/database/position-history.ts';
import { composePositionHistory, composeStockHistory } from '../../src/domain/history/compose.ts';
import type { PositionKey, RecordedPosition } from '../../src/domain/history/types.ts';
import { type PnlSplit, SPLIT_PARTS, splitPnl } from '../../src/features/position-history/domain/pnl-split.ts';
import { createPositionHistoryReads } from '../../src/services/position-history.ts';
import { ZERO } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import { alice, useWorld } from '../contracts/world.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';
import { debtOf, heldAt } from './contract-values.ts';
import { clear, MARKET, newIndexer, signal } from './world.ts';

/** After the months that pass in these tests. */
const LATER_MS = Date.UTC(2027, 5, 1);

/** A chain, a database, and the histories that the indexer and the service make of them, from pages of the usual or a given size. */
export function useHistories({ logsPerPage }: { readonly logsPerPage?: number } = {}) {
  const world = useWorld(1);
  let opened: MigratedDatabase;
  const database = () => opened;
  beforeAll(async () => {
    opened = await openMigratedDatabase();
  });
  afterEach(() => clear(opened.db));
  afterAll(() => opened.close());

  const index = () => newIndexer(world(), database().db, { nowMs: () => LATER_MS }).run(signal);

  /** The holdings of the first position of a wallet, and their block. */
  async function heldNow(wallet = alice) {
    const position = await world().position(wallet);
    const { borrowShares } = await heldAt(world(), position.userProxy);
    const depositedAssets = position.amountDepositedInLoanToken;
    return { ...position, depositedAssets, borrowShares, blockNumber: await world().client.getBlockNumber() };
  }

  /** @param held holdings of an earlier block */
  async function historyOf(wallet = alice, held?: Awaited<ReturnType<typeof heldNow>>) {
    const { userProxy, ...position } = held ?? (await heldNow(wallet));
    return composedOf({ wallet, positionIndex: 0, account: userProxy }, position);
  }

  /** The history of what a wallet holds itself in the market. */
  async function stockHistoryOf(wallet: Address) {
    const { collateral, borrowShares } = await heldAt(world(), wallet);
    const debt = await debtOf(world(), borrowShares);
    return composedOf({ wallet, positionIndex: null, account: wallet }, { collateral, borrowShares, debt });
  }

  async function composedOf(
    of: Pick<PositionKey, 'wallet' | 'positionIndex' | 'account'>,
    held: {
      readonly collateral: bigint;
      readonly borrowShares: bigint;
      readonly debt: bigint;
      readonly depositedAssets?: bigint;
      readonly blockNumber?: bigint;
    },
  ) {
    await index();
    const clock = { now: () => LATER_MS };
    const reads = createPositionHistoryReads({
      history: createPositionHistoryRepository(database().db),
      marks: createMarketMarkRepository(database().db, clock),
      logsPerPage,
    });
    const market = world().market(MARKET);
    const key = { chainId: 1, ...of, marketId: market.id };
    const [recorded] = await reads.read([key]);
    const [atEvents] = await reads.readEvents([key]);
    if (!recorded || !atEvents) throw new Error('nothing was read');
    const block = await world().client.getBlock();
    const { contracts } = world().row;
    const input = { key, market, contracts, recorded, held: { blockNumber: block.number, ...held } };
    const compose = (found: RecordedPosition) =>
      of.positionIndex === null
        ? composeStockHistory({ ...input, recorded: found })
        : composePositionHistory({ ...input, recorded: found });
    const history = compose(recorded);
    // A statement reads fewer marks, and has the same events.
    expect(compose(atEvents).events).toEqual(history.events);
    const price = await world().chain.oraclePrice(market);
    const now = {
      atMs: Number(block.timestamp) * 1_000,
      collateral: held.collateral,
      debt: held.debt,
      price: held.collateral > 0n ? price : null,
    };
    const split = splitPnl({
      operations: history.events,
      marks: history.marks,
      now,
      incomplete: history.incomplete,
      source: 'none',
      incentives: () => ZERO,
    });
    return { history, split, now, price, market, input };
  }

  return { world, database, index, heldNow, historyOf, stockHistoryOf };
}

/** The sum of the parts of a split. */
export const sumOf = (split: PnlSplit) =>
  SPLIT_PARTS.reduce((sum, name) => {
    const part = split.parts[name];
    if (typeof part !== 'bigint') throw new Error(`${name}: ${part.message}`);
    return sum + part;
  }, 0n);
