import { describe, expect, test } from 'vitest';
import { gasOfSteps, gasUsdOf } from '../../src/transactions/deleverage/gas.ts';
import { deleverageOptions } from '../../src/transactions/deleverage/options.ts';
import type { DeleverageOptions } from '../../src/transactions/deleverage/types.ts';
import { SimulationRevertedError } from '../../src/transactions/errors.ts';
import { createPositionDirectory } from '../../src/transactions/read/position.ts';
import { depsOf, type Scene, servedChain, USER, whole } from './model/scene.ts';
import { before, d, loan, market } from './susde-position.ts';

/** 8,000 sUSDe at 1.07 carry 6,848 of debt at 80 %; 7,000 are owed. */
const stretched = { ...before, loop: { ...before.loop, debt: whole(7_000, loan) } };

describe('gas of options', () => {
  /** The options where a simulation uses a fixed gas a call, or reverts by the number of its calls. */
  const metered = (scene: Partial<Scene> = {}, reverts?: (calls: number) => boolean) => {
    const { deps } = depsOf({ market, before: stretched, ...scene });
    const { reader, simulator } = deps.node(market.chainId);
    const simulate: typeof simulator.simulate = async (input) => {
      const { length } = input.calls;
      if (reverts?.(length)) throw new SimulationRevertedError({ reason: 'x', args: [], callIndex: 1 }, false);
      const done = await simulator.simulate(input);
      return done.simulated ? { ...done, gasUsed: 100_000n * BigInt(length) } : done;
    };
    const node = () => ({ reader, simulator: { ...simulator, simulate } });
    const request = { chainId: market.chainId, user: USER, id: 0, targetLtvPct: d(70) };
    return deleverageOptions({ ...deps, node }, createPositionDirectory(), request);
  };
  const stepsOf = ({ options }: DeleverageOptions, action: string) =>
    options.find((one) => one.action === action)?.steps ?? [];
  const gasOf = (found: DeleverageOptions, action: string) => stepsOf(found, action).map(({ gasUsed }) => gasUsed);

  test('behavior: the repayment after a sale is simulated behind it', async () => {
    const found = await metered();
    expect(gasOf(found, 'repay')).toEqual([100_000n]);
    expect(gasOf(found, 'close')).toEqual([100_000n, 100_000n]);
    expect(gasOfSteps(stepsOf(found, 'close'))).toBe(200_000n);
    expect(found.gasPriceWei).toBe(2_000_000_000n);
  });

  test('behavior: an approval that is missing now is part of it', async () => {
    const found = await metered({ answers: { allowance: 0n } });
    expect(gasOf(found, 'close')).toEqual([100_000n, 200_000n]);
  });

  test('behavior: it is unknown where both revert together, and the sale stays possible', async () => {
    const found = await metered({}, (calls) => calls > 1);
    expect(gasOf(found, 'close')).toEqual([100_000n, undefined]);
    expect(gasOfSteps(stepsOf(found, 'close'))).toBeUndefined();
    expect(found.options.at(-1)).toMatchObject({ action: 'close', outcome: { action: 'close' } });
  });

  test('behavior: its value is unknown without one of its factors', () => {
    const { native } = servedChain(1);
    expect(gasUsdOf(200_000n, 2_000_000_000n, { native }, d(3_000))?.toFixed()).toBe('1.2');
    expect(gasUsdOf(undefined, 2n, { native }, d(1))).toBeUndefined();
    expect(gasUsdOf(1n, undefined, { native }, d(1))).toBeUndefined();
    expect(gasUsdOf(1n, 2n, { native }, undefined)).toBeUndefined();
    expect(gasOfSteps([])).toBeUndefined();
  });
});
