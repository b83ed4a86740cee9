import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { RecordedLog } from '../../src/domain/history/types.ts';
import { createPositionHistoryReads } from '../../src/services/position-history.ts';
import type { MarketId } from '../../src/shared/ids.ts';
import { alice, mallory } from '../contracts/world.ts';
import { useHistories } from './composed-world.ts';
import { actions } from './world.ts';

/** Logs of a page of these tests, in place of 20,000. */
const PAGE = 200;
/** Pages that are read at most. */
const PAGES = 5;

/** Transfers and events of strangers, of amounts that cost nothing: they do not hide the events of a position. */
const { world, database, index, historyOf } = useHistories({ logsPerPage: PAGE });

/** Open a position, and read it. Its blocks are read again with new ones alone. */
async function opened() {
  await actions(world()).open();
  return historyOf();
}

/** Copy the transfers of the first event `times` times into its transaction, with an amount. */
async function addTransfers(txHash: string, times: number, amount: string, of: { readonly token?: string } = {}) {
  const { rows } = await sql<{ readonly count: number }>`
    with one as (select * from position_events where tx_hash = ${txHash} and event = 'Transfer' order by log_index limit 1)
    insert into position_events
    select chain_id, block_number, 100000 + place, block_hash, block_time, tx_hash, event, market_id, account, wallet,
      position_index, coalesce(${of.token ?? null}, token), ${mallory.toLowerCase()}, ${world().router.toLowerCase()}, ${amount}::numeric,
      shares, collateral, bad_debt, bad_debt_shares
    from one, generate_series(1, ${times}::integer) as place
    returning 1 as count`.execute(database().db);
  expect(rows).toHaveLength(times);
}

test('behavior: transfers of a stranger to the contract of a position, without an event, are not stored', async () => {
  await opened();
  const { userProxy } = await world().position(alice);
  const usdc = world().chain.token('USDC');
  await world().chain.mint(usdc, mallory, 5n);
  await world().chain.call(mallory, usdc.address, 'TestToken', 'transfer', [userProxy, 1n]);
  await index();
  const head = await world().client.getBlockNumber();
  const rows = await database()
    .db.selectFrom('position_events')
    .select('event')
    .where('block_number', '=', String(head))
    .execute();
  expect(rows).toEqual([]);
});

test('behavior: more transfers in the transaction of an event than one page has do not end the history', async () => {
  const before = await opened();
  await addTransfers(before.history.events[0]?.txHash ?? '', 2.25 * PAGE, '1');
  const { history, split } = await historyOf();
  expect(history).toEqual(before.history);
  expect(split).toEqual(before.split);
});

test('behavior: more logs than all pages have are said to be too many', async () => {
  const before = await opened();
  await addTransfers(before.history.events[0]?.txHash ?? '', PAGES * PAGE + 1, '1');
  expect((await historyOf()).history.incomplete).toMatchObject({
    reason: 'NOT_MEASURED',
    message: 'It has more events than are read.',
  });
});

test('default: five pages of 20,000 logs each are read', async () => {
  const limits: number[] = [];
  const log = { account: alice, marketId: '0x', txHash: '0x', blockNumber: 1n } as unknown as RecordedLog;
  const reads = createPositionHistoryReads({
    history: {
      cursor: async () => null,
      logs: async ({ limit }) => {
        limits.push(limit);
        return Array.from({ length: limit }, () => log);
      },
    },
    marks: { read: async () => [], at: async () => [] },
  });
  const [recorded] = await reads.read([
    { chainId: 1, wallet: alice, positionIndex: 0, account: mallory, marketId: '0x' as MarketId },
  ]);
  expect([limits, recorded?.isCut]).toEqual([Array.from({ length: PAGES }, () => 20_000), true]);
});

test('behavior: stored transfers of 0 tokens are not read', async () => {
  const before = await opened();
  await addTransfers(before.history.events[0]?.txHash ?? '', 1.25 * PAGE, '0');
  expect((await historyOf()).history).toEqual(before.history);
});

test('behavior: collateral of a stranger on another market is not read with the history', async () => {
  const before = await opened();
  const { userProxy } = await world().position(alice);
  await sql`
    insert into position_events
    select chain_id, block_number, 100000 + place, block_hash, block_time, '0x' || lpad(to_hex(place), 64, '0'), event,
      '0x' || lpad('', 64, 'a'), account, wallet, position_index, token, sender, receiver, assets, shares, 1, bad_debt, bad_debt_shares
    from position_events, generate_series(1, ${1.25 * PAGE}::integer) as place
    where event = 'SupplyCollateral' and account = ${userProxy.toLowerCase()}`.execute(database().db);
  expect((await historyOf()).history).toEqual(before.history);
});
