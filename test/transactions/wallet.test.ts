import { describe, expect, test } from 'vitest';
import type { StrategyId } from '../../src/shared/ids.ts';
import { buildManagePlan } from '../../src/transactions/manage/index.ts';
import { buildOpenPlan, prepareOpen } from '../../src/transactions/open/index.ts';
import { createPositionDirectory } from '../../src/transactions/read/position.ts';
import { planWallet } from '../../src/transactions/read/wallet.ts';
import { depsOf, tokenOn, USER } from './model/scene.ts';
import { before, chain, collateral, d, loan, market } from './susde-position.ts';

describe('funds of the wallet', () => {
  const spenders = [chain.contracts.flashLeverage, chain.contracts.flashLeverageRouter];
  const token = { ...loan, isNative: false };

  test('behavior: native tokens are balance and payment at once; nothing is paid without a token', () => {
    const native = planWallet(chain, USER, { ...tokenOn(1, 'ETH') }, spenders);
    expect([native.reads.length, native.fold([5n], { timestamp: 1n })]).toEqual([
      1,
      { native: 5n, balance: 5n, allowances: new Map() },
    ]);
    expect(planWallet(chain, USER, undefined, spenders).fold([5n], { timestamp: 1n })).toMatchObject({
      native: 5n,
      balance: 0n,
    });
  });

  test('behavior: a token has an allowance for every spender; nothing may be missing', () => {
    const plan = planWallet(chain, USER, token, spenders);
    expect(plan.fold([5n, 6n, 7n, 8n], { timestamp: 1n })).toEqual({
      native: 5n,
      balance: 6n,
      allowances: new Map([
        [spenders[0], 7n],
        [spenders[1], 8n],
      ]),
    });
    for (let i = 0; i < 4; i += 1) {
      expect(() => plan.fold([5n, 6n, 7n, 8n].with(i, undefined as never), { timestamp: 1n })).toThrow();
    }
  });

  test('behavior: a token that could be lent in simulation is looked up for a wallet that signs', async () => {
    const prepared: string[] = [];
    const { deps: plain } = depsOf({ market, before });
    const node = plain.node(1);
    const prepare = async ({ symbol }: { readonly symbol: string }) => {
      prepared.push(symbol);
      return undefined;
    };
    const deps = { ...plain, node: () => ({ ...node, simulator: { ...node.simulator, prepare } }) };
    const opening = {
      chainId: 1,
      strategyId: market.id as string as StrategyId,
      payToken: collateral.address,
      amount: d(1_000),
      leverage: d(3),
    };
    await prepareOpen(deps, opening);
    expect(prepared).toEqual([]);
    await buildOpenPlan(deps, opening, USER);
    const manage = { chainId: 1, user: USER, id: 0 } as const;
    await buildManagePlan(deps, createPositionDirectory(), {
      ...manage,
      action: 'repay',
      amount: d(1),
      payToken: loan.address,
    });
    await buildManagePlan(deps, createPositionDirectory(), { ...manage, action: 'close' });
    expect(prepared).toEqual(['sUSDe', 'PYUSD']);
  });
});
