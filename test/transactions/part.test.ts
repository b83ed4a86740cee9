import { describe, expect, test } from 'vitest';
import { LimitExceededError, SimulationRevertedError } from '../../src/transactions/errors.ts';
import { buildManagePlan } from '../../src/transactions/manage/index.ts';
import { largestPart, mostOfPart, shareOfDebt } from '../../src/transactions/manage/part.ts';
import { depsOf, manageIn, type Scene, USER, whole } from './model/scene.ts';
import { before, chain, collateral, d, liveOf, loan, market, refusal } from './susde-position.ts';

describe('a part of a position', () => {
  const held = (debt: bigint, idle = whole(1_000_000, loan)) => ({
    market,
    live: { ...liveOf(whole(2_000_000, loan), whole(1_000_000, loan)), idle },
    position: { id: 0, collateral: whole(100, collateral), debt, borrowShares: debt * 1_000_000n, basis: 0n },
  });

  test('behavior: without debt all but one unit may be sold, and nothing is repaid', () => {
    const free = held(0n);
    expect([mostOfPart(free), largestPart(free), shareOfDebt(free, 50n)]).toEqual([
      whole(100, collateral) - 1n,
      whole(100, collateral) - 1n,
      0n,
    ]);
  });

  test('behavior: at its liquidation LTV no part may be sold, one unit below it hardly any', () => {
    // 100 at 1.07 and 91.5 % carry 97.905.
    expect([97_905_001n, 97_905_000n, 97_904_999n].map((debt) => mostOfPart(held(debt)))).toEqual([0n, 0n, 0n]);
    const some = held(whole(50, loan));
    expect(mostOfPart(some) > 0n && mostOfPart(some) < whole(100, collateral)).toBe(true);
  });

  test('behavior: is no larger than the holdings of the protocol allow for its debt', () => {
    expect(largestPart(held(whole(50, loan), whole(25, loan)))).toBeLessThan(whole(50, collateral));
    expect(largestPart(held(whole(50, loan), whole(25, loan)))).toBeGreaterThan(whole(49.9, collateral));
    expect(largestPart(held(whole(50, loan), 0n))).toBe(0n);
    expect(shareOfDebt(held(whole(50, loan)), whole(50, collateral))).toBeGreaterThan(whole(25, loan));
  });

  const reverting = (reason: string, retryable: boolean, scene: Scene = { market, before }) => {
    const { deps } = depsOf(scene);
    const node = deps.node(1);
    const simulate = async () => {
      throw new SimulationRevertedError({ reason, args: [], callIndex: 0 }, retryable);
    };
    return { ...scene, deps: { node: () => ({ ...node, simulator: { ...node.simulator, simulate } }) } };
  };

  test('error: that of a revert, where nothing else explains it', async () => {
    const sell = (scene: Scene, amount: number) => refusal(manageIn(scene, { action: 'close', amount: d(amount) }));
    expect(await sell(reverting('Slippage', true), 4_000)).toBeInstanceOf(SimulationRevertedError);
    expect(await sell(reverting('paused', false), 4_000)).toBeInstanceOf(SimulationRevertedError);
  });

  test('error: that the rest could not be held, where the position is at its liquidation LTV', async () => {
    const full = { ...before, loop: { ...before.loop, debt: whole(7_833, loan) } };
    const error = await refusal(
      manageIn(reverting('insufficient collateral', false, { market, before: full }), {
        action: 'close',
        amount: d(4_000),
      }),
    );
    expect(error).toBeInstanceOf(LimitExceededError);
    expect(error).toMatchObject({ details: { field: 'amount', value: '4000', limit: { liquidationLtvPct: '91.5' } } });
    expect((error as Error).message).toContain('Leave amount out to close the whole position');
  });

  test('error: that the protocol holds too little for it', async () => {
    const poor = {
      market,
      before,
      answers: {
        balanceOf: ({ data }: { readonly data: string }) =>
          data.includes(chain.contracts.morphoBlue.slice(2).toLowerCase()) ? whole(2_000, loan) : 10n ** 30n,
      },
    };
    const error = await refusal(
      manageIn(reverting('transfer reverted', true, poor), { action: 'close', amount: d(4_000) }),
    );
    expect(error).toMatchObject({ code: 'insufficient_liquidity', details: { place: 'protocol', available: '2000' } });
  });
});

describe('a position that a reorganization moved', () => {
  const moved = (times: number) => {
    const scene: Scene = { market, before };
    const { deps } = depsOf(scene);
    let bound = 0;
    const forgotten: number[] = [];
    const positions = {
      bind: async () => {
        bound += 1;
        return { market, proxy: bound > times ? depsOf(scene).proxy : USER };
      },
      forget: (_chain: unknown, _user: unknown, id: number) => void forgotten.push(id),
    };
    const built = buildManagePlan(deps, positions, { chainId: 1, user: USER, id: 3, action: 'close' });
    return { built, forgotten, bound: () => bound };
  };

  test('behavior: is looked up once more, and forgotten before', async () => {
    const { built, forgotten, bound } = moved(1);
    expect([(await built).path, forgotten, bound()]).toEqual(['deleverage', [3], 2]);
  });

  test('error: implausible where it moves again', async () => {
    const { built, forgotten, bound } = moved(9);
    expect([await refusal(built), forgotten, bound()]).toEqual([
      expect.objectContaining({ reason: 'implausible' }),
      [3, 3],
      2,
    ]);
  });
});
