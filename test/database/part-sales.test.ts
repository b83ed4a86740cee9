import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPartSales } from '../../src/database/history/part-sales.ts';
import { createPositionHistoryRepository } from '../../src/database/position-history.ts';
import type { RecordedLog } from '../../src/domain/history/types.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { type MigratedDatabase, openMigratedDatabase } from '../support/process/migrated-database.ts';

const WALLET: Address = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const OTHER: Address = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const PROXY: Address = '0xe83e21373cB7662cC5D63f3eca0A81D486bF2291';
const MARKET = `0x${'1'.repeat(64)}` as RecordedLog['marketId'];

let database: MigratedDatabase;
beforeAll(async () => {
  database = await openMigratedDatabase();
});
afterAll(() => database.close());

/** The logs of one transaction in one block: `event index` of the contract, `event` of Morpho. */
function transaction(block: bigint, wallet: Address, events: readonly string[]): RecordedLog[] {
  return events.map((text, logIndex) => {
    const [event, index] = text.split(' ');
    return {
      blockNumber: block,
      blockHash: `0x${block.toString(16).padStart(64, '0')}` as Hex,
      atMs: 1_000 * Number(block),
      txHash: `0x${block.toString(16).padStart(64, 'a')}` as Hex,
      logIndex,
      event: event as RecordedLog['event'],
      marketId: index === undefined ? MARKET : null,
      account: index === undefined ? PROXY : null,
      wallet: index === undefined ? null : wallet,
      positionIndex: index === undefined ? null : Number(index),
      token: null,
      sender: null,
      receiver: null,
      assets: 1n,
      shares: 1n,
      collateral: 1n,
      badDebt: 0n,
      badDebtShares: 0n,
    };
  });
}

test('default: positions of which a part was sold, and none with two calls in one transaction or a whole close', async () => {
  const history = createPositionHistoryRepository(database.db);
  const range = { fromBlock: 1n, fromMs: 1_000, toBlock: 1n, toMs: 1_000, isWhole: true };
  const cursor = { scope: 'a', ...range };
  const block = (number: bigint) => ({ number, hash: `0x${'ab'.repeat(32)}` as Hex, atMs: 1_000 * Number(number) });
  await history.begin(1, cursor, block(1n));
  const logs = [
    transaction(2n, WALLET, ['Repay', 'WithdrawCollateral', 'CollateralWithdrawn 0', 'LoanRepaid 0']),
    transaction(3n, WALLET, ['Repay', 'LoanRepaid 1', 'WithdrawCollateral', 'CollateralWithdrawn 1']),
    transaction(4n, WALLET, ['WithdrawCollateral', 'CollateralWithdrawn 2', 'Repay', 'LoanRepaid 2']),
    transaction(5n, WALLET, [
      ...['Repay', 'WithdrawCollateral', 'CollateralWithdrawn 3', 'LoanRepaid 3'],
      'LeveragePositionClosed 3',
    ]),
    transaction(6n, WALLET, ['WithdrawCollateral', 'CollateralWithdrawn 4']),
    transaction(7n, OTHER, ['Repay', 'WithdrawCollateral', 'LoanRepaid 7', 'CollateralWithdrawn 7']),
  ].flat();
  await history.append(1, cursor, { cursor: { ...cursor, toBlock: 7n, toMs: 7_000 }, logs, newest: block(7n) });
  const partSales = createPartSales(database.db);
  expect(await partSales(1, [WALLET])).toEqual(new Map([[WALLET.toLowerCase(), new Set([0])]]));
  expect(await partSales(1, [OTHER, WALLET])).toMatchObject({ size: 2 });
  expect([(await partSales(1, [])).size, (await partSales(4663, [WALLET])).size]).toEqual([0, 0]);
});
