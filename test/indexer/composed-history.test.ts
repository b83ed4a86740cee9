import { describe, expect, test } from 'vitest';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { equityCurve } from '../../src/features/position-history/domain/equity-curve.ts';
import type { Address } from '../../src/shared/ids.ts';
import { alice, mallory } from '../contracts/world.ts';
import { sumOf, useHistories } from './composed-world.ts';
import { equityAt, heldAt } from './contract-values.ts';
import { actions, MARKET, ownActions } from './world.ts';

/** Histories of positions that real contracts have made, compared with what the chain holds and paid. */
const { world, database, index, heldNow, historyOf, stockHistoryOf } = useHistories();

/** Every point of a curve as the contracts compute it at its block: those of the marks, and the newest one. */
async function expectCurve(account: Address, { history, now }: Awaited<ReturnType<typeof historyOf>>) {
  const curve = equityCurve(history, now);
  const blocks = [...history.marks.map((mark) => mark.blockNumber), await world().client.getBlockNumber()];
  expect(curve).toHaveLength(blocks.length);
  for (const [i, point] of curve.entries()) {
    expect(point, `block ${blocks[i]}`).toMatchObject(await equityAt(world(), account, blocks[i]));
  }
  return curve;
}

const balances = async (wallet = alice) => {
  const { collateral, loan } = world().market(MARKET);
  return {
    collateral: await world().balance(collateral.symbol, wallet),
    loan: await world().balance(loan.symbol, wallet),
  };
};

describe('composePositionHistory', () => {
  test('default: finds every kind of event, with the payments and receipts of the wallet', async () => {
    const { open, supply, withdraw, repay, borrow, increase, sell } = actions(world());
    const { loan } = world().market(MARKET);
    const before = await balances();
    const month = () => world().chain.increaseTime(30 * 86_400);
    await open('70');
    await month();
    await supply(200n);
    await world().chain.moveOracle(world().market(MARKET), '1.3');
    await increase(300n);
    await month();
    await borrow(20n);
    await withdraw(30n);
    await repay(50n);
    await world().chain.moveOracle(world().market(MARKET), '-0.7');
    await sell(30n);
    await month();
    await sell(100n);
    const after = await balances();
    const { history, split } = await historyOf();
    expect(history.events.map(({ kind }) => kind)).toEqual([
      ...['opened', 'supplied', 'increased', 'borrowed', 'withdrawn', 'repaid', 'partly_closed', 'closed'],
    ]);
    expect(history.incomplete).toBeUndefined();
    const total = (of: 'paid' | 'received', token: 'collateral' | 'loan') =>
      history.events.reduce((sum, event) => sum + event[of][token], 0n);
    expect(total('received', 'collateral') - total('paid', 'collateral')).toBe(after.collateral - before.collateral);
    const minted = 50n * 10n ** BigInt(loan.decimals);
    expect(total('received', 'loan') - total('paid', 'loan')).toBe(after.loan - before.loan - minted);
    expect(history.events.at(-1)).toMatchObject({ collateralAfter: 0n, debtAfter: 0n });
    expect(sumOf(split)).toBe(split.total);
    expect(split.result).toBe((split.received as bigint) - (split.paid as bigint));
    expect(split.parts.borrowCost).toBeLessThan(0n);
    expect(split.parts.fees).toBeLessThanOrEqual(0n);
  });

  test('behavior: of an open position the parts add up to its value on chain, and the curve ends there', async () => {
    await actions(world()).open('80');
    await world().chain.increaseTime(90 * 86_400);
    await world().chain.accrue(world().market(MARKET));
    await world().chain.moveOracle(world().market(MARKET), '2');
    const { history, split, now, price } = await historyOf();
    const value = (now.collateral * price) / 10n ** 36n;
    expect(split.netValue).toBe(value - now.debt);
    expect(split.result).toBe(split.netValue - (split.paid as bigint) - 0n);
    expect(sumOf(split)).toBe(split.total);
    const [opened] = history.events;
    expect(split.parts.borrowCost).toBe((opened?.debtChange ?? 0n) - now.debt);
    const curve = equityCurve(history, now);
    expect(curve.at(-1)?.equity).toBe(value - now.debt);
  });

  test('behavior: every point of the curve equals the values of the contracts at the block of its time', async () => {
    const { open, supply, borrow, repay, sell } = actions(world());
    const { collateral } = world().market(MARKET);
    const later = async (hours: number) => {
      await world().chain.increaseTime(hours * 3_600);
      await world().chain.mine(1);
      await index();
    };
    await open('75');
    await later(2);
    await world().chain.moveOracle(world().market(MARKET), '1.5');
    await supply(100n);
    await later(30);
    await borrow(20n);
    await world().chain.moveOracle(world().market(MARKET), '-2');
    await later(50);
    await repay(30n);
    await later(1);
    await sell(40n);
    await later(24 * 40);
    const found = await historyOf();
    const { userProxy } = await world().position(alice);
    const curve = await expectCurve(userProxy, found);
    // Five events, five samples after them, and now.
    expect(curve.length).toBeGreaterThanOrEqual(10);
    expect(new Set(curve.map(({ equity }) => equity)).size).toBeGreaterThanOrEqual(9);
    expect(collateral.decimals).toBe(18);
  });

  test('behavior: collateral of another market that somebody gives the contract of a position is not its event', async () => {
    await actions(world()).open('70');
    const { userProxy } = await world().position(alice);
    const other = world().row.markets.find(
      ({ id, collateral }) => id !== world().market(MARKET).id && collateral.decimals === 18,
    );
    if (!other) throw new Error('no other market');
    const { morphoBlue } = world().row.contracts;
    await world().chain.mint(other.collateral, mallory, 10n ** 18n);
    await world().approve(other.collateral.symbol, mallory, morphoBlue, 10n ** 18n);
    await world().chain.call(mallory, morphoBlue, 'Morpho', 'supplyCollateral', [
      ...[marketParams(other), 10n ** 18n, userProxy, '0x'],
    ]);
    const { history, split } = await historyOf();
    expect(history.events.map(({ kind }) => kind)).toEqual(['opened']);
    expect(history.incomplete).toBeUndefined();
    expect(sumOf(split)).toBe(split.total);
  });

  test('behavior: a liquidation is a loss, and bad debt is not', async () => {
    await actions(world()).open('85');
    const { market } = await historyOf();
    const { userProxy, collateral } = await world().position(alice);
    await world().chain.moveOracle(world().market(MARKET), '-60');
    await world().chain.mint(market.loan, mallory, 10n ** 30n);
    await world().approve(market.loan.symbol, mallory, world().row.contracts.morphoBlue, 10n ** 30n);
    await world().chain.call(mallory, world().row.contracts.morphoBlue, 'Morpho', 'liquidate', [
      {
        loanToken: market.loan.address,
        collateralToken: market.collateral.address,
        oracle: market.oracle,
        irm: market.irm,
        lltv: market.lltv,
      },
      ...[userProxy, collateral, 0n, '0x'],
    ]);
    const { history, split } = await historyOf();
    expect(history.events.map(({ kind }) => kind)).toEqual(['opened', 'liquidated']);
    expect(history.events[1]?.badDebt).toBeGreaterThan(0n);
    expect(history.incomplete).toBeUndefined();
    expect(split.result).toBe(-(split.paid as bigint));
    expect(sumOf(split)).toBe(split.total);
  });

  test('behavior: without the opening, or with an event left out, it is incomplete and says so', async () => {
    const { open, supply } = actions(world());
    await open();
    await supply(10n);
    await historyOf();
    const ofWallet = () => database().db.deleteFrom('position_events').where('wallet', '=', alice.toLowerCase());
    const read = async () => (await historyOf()).history;
    const head = await world().client.getBlockNumber();
    await database()
      .db.deleteFrom('position_events')
      .where('event', '=', 'SupplyCollateral')
      .where('block_number', '=', String(head))
      .execute();
    expect((await read()).incomplete).toMatchObject({ reason: 'IMPLAUSIBLE' });
    await ofWallet().where('event', '=', 'LeveragePositionOpened').execute();
    const { incomplete, events } = await read();
    expect(incomplete).toMatchObject({ reason: 'NOT_MEASURED' });
    expect(events.every(({ kind }) => kind !== 'opened')).toBe(true);
    const { split } = await historyOf();
    expect(split.total).toMatchObject({ field: 'total', reason: 'NOT_MEASURED' });
  });
});

describe('holdings of an older block than the history', () => {
  test('behavior: are said to be older, and not taken for wrong data of a node', async () => {
    const { open, supply } = actions(world());
    await open();
    const held = await heldNow();
    await supply(10n);
    const { history, split } = await historyOf(alice, held);
    expect(history.events.map(({ kind }) => kind)).toEqual(['opened', 'supplied']);
    expect(history.incomplete).toMatchObject({
      reason: 'NOT_MEASURED',
      message: expect.stringContaining(`of block ${held.blockNumber}, older than its newest event`),
    });
    expect(split.total).toMatchObject({ field: 'total', reason: 'NOT_MEASURED' });
  });

  test('behavior: that differ from the events up to their block are wrong data of a node', async () => {
    const { open, supply } = actions(world());
    await open();
    const held = await heldNow();
    await supply(10n);
    const { history } = await historyOf(alice, { ...held, collateral: held.collateral + 1n });
    expect(history.incomplete).toMatchObject({ reason: 'IMPLAUSIBLE' });
  });
});

describe('composeStockHistory', () => {
  const WHOLE = 10n ** 18n;

  test('default: every event of holdings in the wallet itself, with its curve, and parts that add up to the total', async () => {
    const { supply, withdraw, borrow, repay } = ownActions(world(), mallory);
    const week = async () => {
      await world().chain.increaseTime(7 * 86_400);
      await world().chain.mine(1);
      await index();
    };
    await supply(1_000n * WHOLE);
    await borrow(400_000_000n);
    await week();
    await supply(50n * WHOLE);
    await world().chain.moveOracle(world().market(MARKET), '3');
    await withdraw(20n * WHOLE);
    await week();
    await repay(100_000_000n);
    const open = await stockHistoryOf(mallory);
    expect(open.history.incomplete).toBeUndefined();
    expect(open.history.events.map(({ kind }) => kind)).toEqual([
      ...['opened', 'borrowed', 'supplied', 'withdrawn', 'repaid'],
    ]);
    expect(sumOf(open.split)).toBe(open.split.total);
    expect(open.split.parts).toMatchObject({ fees: 0n, slippage: 0n, liquidation: 0n });
    expect(open.split.parts.borrowCost).toBeLessThan(0n);
    expect((await expectCurve(mallory, open)).length).toBeGreaterThanOrEqual(7);

    const { borrowShares, collateral } = await heldAt(world(), mallory);
    await repay(1_000_000_000n, borrowShares);
    await withdraw(collateral);
    await supply(5n * WHOLE);
    const again = await stockHistoryOf(mallory);
    expect(again.history.events.slice(5).map(({ kind }) => kind)).toEqual(['repaid', 'closed', 'opened']);
    expect(again.history.incomplete).toBeUndefined();
    expect(again.history.completeFrom?.blockNumber).toBe(open.history.events[0]?.blockNumber);
    expect(sumOf(again.split)).toBe(again.split.total);
  });

  test('behavior: a liquidation is a loss; events of others in the market are not its own', async () => {
    const { supply, borrow, liquidate } = ownActions(world(), mallory);
    await actions(world()).open('70');
    await supply(1_000n * WHOLE);
    await borrow(800_000_000n);
    await world().chain.moveOracle(world().market(MARKET), '-60');
    await liquidate(alice, 1_000n * WHOLE);
    const { history, split } = await stockHistoryOf(mallory);
    expect(history.events.map(({ kind }) => kind)).toEqual(['opened', 'borrowed', 'liquidated']);
    expect(history.events[2]?.badDebt).toBeGreaterThan(0n);
    expect(history.incomplete).toBeUndefined();
    expect(sumOf(split)).toBe(split.total);
    expect((await historyOf()).history.incomplete).toBeUndefined();
  });

  test('behavior: with an event left out it is incomplete and says so', async () => {
    const { supply, borrow } = ownActions(world(), mallory);
    await supply(1_000n * WHOLE);
    await borrow(100_000_000n);
    await stockHistoryOf(mallory);
    await database()
      .db.deleteFrom('position_events')
      .where('account', '=', mallory.toLowerCase())
      .where('event', '=', 'SupplyCollateral')
      .execute();
    expect((await stockHistoryOf(mallory)).history.incomplete).toMatchObject({ reason: 'IMPLAUSIBLE' });
  });
});
