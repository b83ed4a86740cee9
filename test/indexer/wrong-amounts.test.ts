import { describe, expect, test } from 'vitest';
import { wrongBasis } from '../../src/domain/history/wrong-amounts.ts';
import { equityCurve } from '../../src/features/position-history/domain/equity-curve.ts';
import { alice } from '../contracts/world.ts';
import { sumOf, useHistories } from './composed-world.ts';
import { actions } from './world.ts';

/** Histories of stored amounts and prices that a node has answered wrong. */
const { world, database, index, historyOf } = useHistories();

describe('amounts that nodes have answered wrong', () => {
  const incomplete = async () => (await historyOf()).history.incomplete;
  const events = () => database().db.updateTable('position_events').where('wallet', '=', alice.toLowerCase());

  test('behavior: a deposit that is wrong in both tokens contradicts the record of the contract', async () => {
    const { open, supply, repay, borrow } = actions(world());
    await open();
    await supply(10n);
    await repay(5n);
    await borrow(3n);
    expect(await incomplete()).toBeUndefined();
    const opening = () => events().where('event', '=', 'LeveragePositionOpened');
    await opening()
      .set((eb) => ({ assets: eb('assets', '*', '2'), collateral: eb('collateral', '*', '2') }))
      .execute();
    expect(await incomplete()).toMatchObject({
      reason: 'IMPLAUSIBLE',
      message: expect.stringContaining('and the contract has recorded'),
    });
    // After a withdrawal the record is bounded from above alone.
    await actions(world()).withdraw(2n);
    expect(await incomplete()).toBeUndefined();
    // A sale of a part takes the share of the basis, and has the event, that the contract likes.
    const { input } = await historyOf();
    const logs = input.recorded.logs.filter(({ event }) => event !== 'CollateralWithdrawn');
    const judge = (depositedAssets: bigint) =>
      wrongBasis({ ...input, recorded: { ...input.recorded, logs }, held: { ...input.held, depositedAssets } });
    expect([judge(1n), judge(10n ** 30n)]).toEqual([undefined, expect.objectContaining({ reason: 'IMPLAUSIBLE' })]);
    await opening().set({ assets: '1', collateral: '1' }).execute();
    expect(await incomplete()).toMatchObject({ reason: 'IMPLAUSIBLE' });
  });

  test('behavior: a later event of another amount contradicts the record of the contract', async () => {
    const { open, supply } = actions(world());
    await open();
    await supply(10n);
    await historyOf();
    await events().where('event', '=', 'CollateralSupplied').set({ assets: '1000000000000000' }).execute();
    expect(await incomplete()).toMatchObject({ reason: 'IMPLAUSIBLE' });
  });

  test('behavior: an impossible price at a later event is said, and the event has none', async () => {
    const { open, supply } = actions(world());
    await open();
    await supply(10n);
    const { history } = await historyOf();
    const later = String(history.events[1]?.blockNumber);
    const marks = () => database().db.updateTable('market_marks');
    await marks().where('block_number', '=', later).set({ price: '1' }).execute();
    expect(await incomplete()).toMatchObject({
      reason: 'IMPLAUSIBLE',
      message: expect.stringContaining(`at block ${later} is impossible`),
    });
    expect((await historyOf()).history.events[1]?.price).toBeNull();
  });

  test.each(['0', '1', `1${'0'.repeat(77)}`])(
    'behavior: a sample between events with the impossible price %s is left out of curve and parts, and everything else is the same',
    async (impossible) => {
      const { open, supply } = actions(world());
      await open();
      for (const amount of [10n, 5n]) {
        await world().chain.increaseTime(2 * 3_600);
        await world().chain.mine(1);
        await index();
        await world().chain.increaseTime(60);
        await supply(amount);
      }
      const before = await historyOf();
      const atEvents = new Set(before.history.events.map(({ blockNumber }) => blockNumber));
      const between = before.history.marks.filter(({ blockNumber }) => !atEvents.has(blockNumber));
      expect(between).toHaveLength(2);
      const [sample] = between;
      await database()
        .db.updateTable('market_marks')
        .set({ price: impossible })
        .where('block_number', '=', String(sample?.blockNumber))
        .execute();
      const after = await historyOf();
      expect(after.history).toEqual({
        ...before.history,
        marks: before.history.marks.filter(({ blockNumber }) => blockNumber !== sample?.blockNumber),
      });
      const curve = equityCurve(before.history, before.now);
      expect(equityCurve(after.history, after.now)).toEqual(curve.filter(({ atMs }) => atMs !== sample?.atMs));
      expect(sumOf(after.split)).toBe(after.split.total);
      expect(after.split.total).toBe(before.split.total);
    },
  );
});
