import { expect, test } from 'vitest';
import { createCatalog, curatedChains } from '../../../catalog/index.ts';
import type { PositionKey } from '../../../domain/history/types.ts';
import { MAX_STATEMENT_EVENTS, statementOf } from '../resolvers/statement.ts';

const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const catalog = createCatalog(curatedChains);
const [chain] = catalog.chains;
if (!chain) throw new Error('the catalog has no chain');

/** A wallet with many positions, and a database that gives so many events at most at once. */
function manyPositions(count: number, mostAtOnce: number, { isMeasured = true } = {}) {
  const proxyOf = (id: number) => `0x${id.toString(16).padStart(40, '0')}`;
  const market = chain?.markets[0];
  const reads: number[] = [];
  const positions = Array.from({ length: count }, (_, id) => ({
    chainId: 1,
    wallet: WALLET,
    id,
    proxy: proxyOf(id),
    marketId: market?.id,
    positionId: `1-${market?.id}-${id}`,
  }));
  // The newest position has the oldest event. Two are in one block, and two blocks in one second.
  const placeOf = (positionIndex: number) => 100_000 - positionIndex;
  const supply = ({ account, marketId, positionIndex }: PositionKey) => ({
    event: 'SupplyCollateral',
    blockNumber: BigInt(Math.floor(placeOf(positionIndex ?? 0) / 2)),
    atMs: Math.floor(placeOf(positionIndex ?? 0) / 4) * 1_000,
    txHash: `0x${placeOf(positionIndex ?? 0).toString(16)}`,
    logIndex: placeOf(positionIndex ?? 0) % 2,
    account,
    marketId,
    collateral: 5n,
  });
  const readEvents = async (keys: readonly PositionKey[]) => {
    reads.push(keys.length);
    const isCut = keys.length > mostAtOnce;
    const loops = keys.map((key) => (key.positionIndex === null || isCut ? [] : [supply(key)]));
    return loops.map((logs) => ({ range: { isWhole: true }, logs, marks: [], isCut }));
  };
  const held = positions.map(({ id }) => ({ id, collateral: 5n, borrowShares: 0n }));
  const holdings = { positions: held, stocks: [], block: { number: 20_000n, timestamp: 20_000n } };
  const composed = {
    market,
    facts: {
      lendingState: {
        value: {
          blockTimestamp: 20_000n,
          lastUpdate: 20_000n,
          totalSupplyAssets: 0n,
          totalSupplyShares: 0n,
          totalBorrowAssets: 0n,
          totalBorrowShares: 0n,
          fee: 0n,
          rateAtTarget: 0n,
          borrowRate: 0n,
        },
      },
      oracle: { value: { price: 10n ** 36n } },
    },
    loanPrice: null,
  };
  const ctx = {
    services: { catalog },
    live: () => ({ positionHistory: { readEvents } }),
    loaders: {
      wallet: { load: async () => ({ holdings }) },
      marketsAt: () => new Map(isMeasured ? [[market?.id, composed]] : []),
    },
  };
  const wallet = { chainId: 1, wallet: WALLET, positions, equityPositions: [] };
  return { reads, statement: () => statementOf([wallet] as never, ctx as never) };
}

test('behavior: a wallet with many positions has a whole statement, read in groups, oldest event first', async () => {
  const { reads, statement } = manyPositions(450, 120);
  const rows = await statement();
  expect(rows.map(({ rank }) => rank)).toEqual(Array.from({ length: 450 }, (_, i) => i));
  const indexes = rows.map(({ positionId }) => Number(positionId.split('-')[2]));
  expect(indexes).toEqual(Array.from({ length: 450 }, (_, i) => 449 - i));
  // Groups with more logs than are read at once are read in halves.
  expect(reads.filter((size) => size > 120).length).toBeGreaterThan(0);
  expect(Math.max(...reads)).toBe(200);
});

test('behavior: a market whose sources were never measured takes no event out of a statement', async () => {
  const measured = await manyPositions(3, 120).statement();
  expect(measured).toHaveLength(3);
  expect(await manyPositions(3, 120, { isMeasured: false }).statement()).toEqual(measured);
});

test('behavior: a wallet with as many events as a statement can have has one', async () => {
  expect(await manyPositions(MAX_STATEMENT_EVENTS, 200).statement()).toHaveLength(MAX_STATEMENT_EVENTS);
});

test('error: BadRequest for one more, with the limit and what to read instead, before the rest is read', async () => {
  const { reads, statement } = manyPositions(2 * MAX_STATEMENT_EVENTS, 200);
  await expect(statement()).rejects.toMatchObject({
    code: 'bad_request',
    details: { field: 'address', value: WALLET, limit: { maxEvents: MAX_STATEMENT_EVENTS } },
  });
  expect(reads.length).toBe(MAX_STATEMENT_EVENTS / 200 + 1);
});
