import type { Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import { type ExecuteOptions, execute, type Plan, type Progress } from '../../packages/client/src/index.ts';
import { decodeFunctionData, encodeFunctionData } from '../../src/abi/calldata.ts';
import { equityRouterAbi } from '../../src/abi/equity-router.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { account, failureOf, useExecution, user } from '../support/execution.ts';
import type { Json } from '../support/service.ts';
import { batchingWallet, viemWallet } from '../support/wallets.ts';

const world = useExecution();
const { options } = world;
const chain = () => world.vaults.local;
const vault = () => world.vaults.vault('SPY');
const abi = [...equityRouterAbi, ...flashLeverageAbi];

const depositPlan = async () => {
  await world.vaults.fund(user, vault(), 5_000_000_000n);
  return world.client.equityDepositBuild({ strategyId: vault().id, amount: '5000', userAddress: user });
};
const exitPlan = () => world.client.equityExitBuild({ strategyId: vault().id, userAddress: user, maxSwapLossPct: 5 });
const lapsed = <P extends Plan>(plan: P): P => {
  const expiresAt = new Date(world.service.clock.now() - 1_000).toISOString();
  Object.assign(plan.meta as object, { expiresAt });
  return plan;
};
/** By a wallet with batches, in one transaction. */
const inBatch = async (plan: Plan, more: ExecuteOptions) => {
  const { provider } = await batchingWallet(chain(), user);
  return execute(plan, provider, options(more));
};
const inOrder = (plan: Plan, more: ExecuteOptions) => execute(plan, viemWallet(chain(), account), options(more));
const isOpen = async () => (await world.vaults.loops(user)).some(({ open }) => open);

/** A copy of a plan with the same figures, and with other arguments of its calls of a function. */
function changed<P extends Plan>(plan: P, functionName: string, change: (args: Json) => void): P {
  let text = JSON.stringify(plan);
  for (const { data } of (plan as Json).calls) {
    if (data.startsWith('0xeecea000') || data.startsWith('0x095ea7b3')) continue;
    const decoded = decodeFunctionData({ abi, data: data as Hex });
    if (decoded.functionName !== functionName) continue;
    const args = structuredClone(decoded.args) as Json;
    change(args);
    text = text.replaceAll(data, encodeFunctionData({ abi, functionName, args } as Json));
  }
  return JSON.parse(text);
}

/** The same with a minimum that is lower by a share of it. */
const lowered = <P extends Plan>(plan: P, functionName: string, minimumOf: (args: Json) => Json, bps: bigint): P =>
  changed(plan, functionName, (args) => {
    const { of, name } = minimumOf(args);
    of[name] = (of[name] * (10_000n - bps)) / 10_000n;
  });

describe('an expired plan of a vault is built again', () => {
  test('default: deposit and exit, in a batch and one after the other', async () => {
    const rebuilding = (reports: Progress[]): ExecuteOptions => ({
      rebuild: world.client.rebuild,
      maxWorsePct: 1,
      onProgress: (progress) => reports.push(progress),
    });
    for (const run of [inBatch, inOrder]) {
      for (const [build, action] of [
        [depositPlan, 'equity_deposit'],
        [exitPlan, 'equity_exit'],
      ] as const) {
        const plan = await build();
        const reports: Progress[] = [];
        const done = await run(lapsed(plan), rebuilding(reports));
        expect(done.plan).not.toBe(plan);
        expect(done.proof).toMatchObject({ action });
        expect(reports[0]).toMatchObject({ kind: 'rebuilt', comparison: { worsePct: expect.any(Number) } });
        expect(await isOpen()).toBe(action === 'equity_deposit');
        expect(await world.vaults.isAuthorized(user)).toBe(false);
      }
    }
  });

  test.each<[string, string, (args: Json) => Json, string]>([
    ['the stock', 'equityEntry', ([params]) => ({ of: params, name: 'stockMinOut' }), 'payment'],
    ['the stock loan', 'equityEntry', ([params]) => ({ of: params, name: 'yieldMinOut' }), 'stock loan'],
    ['the loan', 'equityEntry', ([params]) => ({ of: params.leverageParams, name: 'minTokenOut' }), 'loan'],
  ])('error: a deposit that repeats its figures, and may get less for %s', async (_, name, minimumOf, of) => {
    const plan = await depositPlan();
    const worse = lowered(plan, name, minimumOf, 15n);
    const refused = await failureOf(inBatch(lapsed(plan), { rebuild: async () => worse }));
    expect(refused).toMatchObject({ code: 'worse_plan', sent: [] });
    const what = expect.stringMatching(new RegExp(`^proven output of the ${of} in 0x`));
    expect(refused.comparison.worse).toContainEqual(
      expect.objectContaining({ what, worsePct: expect.closeTo(0.15, 3) }),
    );
    expect(await isOpen()).toBe(false);
    // The caller may accept it.
    const accepted = lowered(await depositPlan(), name, minimumOf, 15n);
    await inBatch(lapsed(plan), { rebuild: async () => accepted, acceptWorse: () => true });
    expect(await isOpen()).toBe(true);
  });

  test.each<[string, string, (args: Json) => Json, string]>([
    ['the stock leg', 'equityExit', ([params]) => ({ of: params, name: 'minLoanOut' }), 'stock leg'],
    ['a loop', 'deleverage', (args) => ({ of: args, name: 3 }), 'position 0'],
  ])('error: an exit that repeats its figures, and may get less for %s', async (_, name, minimumOf, of) => {
    await inBatch(await depositPlan(), {});
    const plan = await exitPlan();
    const worse = lowered(plan, name, minimumOf, 40n);
    const refused = await failureOf(inBatch(lapsed(plan), { rebuild: async () => worse }));
    expect(refused).toMatchObject({ code: 'worse_plan', sent: [] });
    const what = expect.stringMatching(new RegExp(`^proven output of the ${of} in 0x`));
    expect(refused.comparison.worse).toContainEqual(
      expect.objectContaining({ what, worsePct: expect.closeTo(0.4, 3) }),
    );
    expect(await isOpen()).toBe(true);
  });

  test('error: a deposit of more, into another vault, and an exit that closes no loop', async () => {
    const plan = await depositPlan();
    await world.vaults.fund(user, vault(), 5_000_000_000n);
    const build = { strategyId: vault().id, amount: '5100', userAddress: user };
    const more = await world.client.equityDepositBuild(build);
    const taking = await failureOf(inBatch(lapsed(plan), { rebuild: async () => more }));
    expect(taking).toMatchObject({ code: 'worse_plan', sent: [] });
    const other = { ...plan, strategyId: `${vault().id}0` };
    const elsewhere = await failureOf(inBatch(lapsed(plan), { rebuild: async () => other }));
    expect(elsewhere).toMatchObject({ code: 'invalid_plan', sent: [] });
    await inBatch(await depositPlan(), {});
    const exit = await exitPlan();
    const [sale] = exit.calls;
    const data = sale?.data.replace(/^(0x.{8}).{64}/, `$1${'1'.padStart(64, '0')}`);
    const another = { ...exit, calls: [{ ...sale, data }, ...exit.calls.slice(1)] } as typeof exit;
    expect(await failureOf(inBatch(lapsed(exit), { rebuild: async () => another }))).toMatchObject({
      code: 'invalid_plan',
      message: expect.stringContaining('closes position 1'),
    });
    const part = { ...exit, calls: exit.calls.slice(1), meta: { ...exit.meta, sendCalls: undefined } };
    const leaving = await failureOf(inBatch(lapsed(exit), { rebuild: async () => part as never }));
    expect(leaving.sent).toEqual([]);
    expect(['worse_plan', 'unproven']).toContain(leaving.code);
    expect(await isOpen()).toBe(true);
  });

  test.each([
    ['all loops of the vault', {}],
    ['named loops', { yieldPositionIds: [0] }],
  ])(
    'behavior: quotes that lapse after the loop of an exit was closed: the rest is built again, for %s',
    async (_, ids) => {
      await inBatch(await depositPlan(), {});
      const exiting = { strategyId: vault().id, userAddress: user, maxSwapLossPct: 5, ...ids };
      const plan = await world.client.equityExitBuild(exiting);
      const reports: Progress[] = [];
      const onProgress = (progress: Progress) => {
        reports.push(progress);
        const mined = reports.filter(({ kind }) => kind === 'mined').length;
        if (progress.kind === 'mined' && mined === 1) world.service.clock.advance(61_000);
      };
      const done = await inOrder(plan, { rebuild: world.client.rebuild, maxWorsePct: 1, onProgress });
      expect(reports.map(({ kind }) => kind)).toContain('rebuilt');
      expect(done.receipts).toHaveLength(4);
      expect(await isOpen()).toBe(false);
      expect(await world.vaults.isAuthorized(user)).toBe(false);
    },
  );

  test.each([1, 2])(
    'behavior: of two loops that are not named, %i were closed before the quotes lapse',
    async (count) => {
      const owner = seededWallet('stacker').account;
      const { equityPositions } = await world.client.walletPositions({ address: owner.address, chainId: 4663 });
      const strategyId = equityPositions[0]?.strategyId ?? '';
      const plan = await world.client.equityExitBuild({ strategyId, userAddress: owner.address });
      const kinds: string[] = [];
      const now = () => {
        const isLapsed = kinds.filter((kind) => kind === 'mined').length >= count && !kinds.includes('rebuilt');
        return world.service.clock.now() + (isLapsed ? 61_000 : 0);
      };
      const onProgress = ({ kind }: Progress) => void kinds.push(kind);
      const more = { rebuild: world.client.rebuild, maxWorsePct: 1, onProgress, now };
      const done = await execute(plan, viemWallet(chain(), owner), options(more));
      expect(kinds).toContain('rebuilt');
      expect(done.receipts).toHaveLength(5);
      const loops = await world.vaults.loops(owner.address);
      expect(loops.slice(0, 2).map(({ open }) => open)).toEqual([false, false]);
      expect(await world.vaults.isAuthorized(owner.address)).toBe(false);
    },
  );

  test('error: a deposit that repeats its figures, and borrows more for the same equity', async () => {
    const plan = await depositPlan();
    const borrowing = (lent: bigint, given: bigint) => (fresh: Plan) =>
      changed(fresh, 'equityEntry', ([{ leverageParams: of }]) => {
        const loan = (of.amountFlashLoan * (10_000n + lent)) / 10_000n;
        of.minTokenOut = (of.minTokenOut * loan * (10_000n + given)) / of.amountFlashLoan / 10_000n;
        of.amountFlashLoan = loan;
      });
    const rebuild = async () => borrowing(200n, 5n)(await depositPlan());
    const refused = await failureOf(inBatch(lapsed(plan), { rebuild }));
    expect(refused).toMatchObject({ code: 'worse_plan', sent: [] });
    expect(refused.comparison.worse).toEqual([
      {
        what: 'proven LTV',
        before: expect.stringMatching(/^91\.2\d$/),
        after: expect.any(String),
        worsePct: expect.closeTo(0.15, 1),
      },
    ]);
    // At the liquidation LTV of the market it is not proven at all.
    const beyond = async () => borrowing(500n, 5n)(await depositPlan());
    const unproven = await failureOf(inBatch(lapsed(plan), { rebuild: beyond, acceptWorse: () => true }));
    expect(unproven).toMatchObject({ code: 'unproven', cause: { code: 'loan' }, sent: [] });
    expect(unproven.message).toContain('91.5 %');
    expect(await isOpen()).toBe(false);
  });

  test('error: after the loop of an exit was closed, the rest may get less', async () => {
    await inBatch(await depositPlan(), {});
    const plan = await exitPlan();
    let isMined = false;
    const onProgress = ({ kind }: Progress) => {
      if (kind === 'mined' && !isMined) world.service.clock.advance(61_000);
      if (kind === 'mined') isMined = true;
    };
    const rebuild = async (old: Plan) =>
      lowered(await world.client.rebuild(old), 'equityExit', ([params]) => ({ of: params, name: 'minLoanOut' }), 40n);
    const refused = await failureOf(inOrder(plan, { rebuild, onProgress }));
    expect(refused).toMatchObject({ code: 'worse_plan', sent: [expect.stringMatching(/^0x/)] });
    const what = expect.stringMatching(/^proven output of the stock leg in 0x/);
    expect(refused.comparison.worse).toMatchObject([{ what, worsePct: expect.closeTo(0.4, 1) }]);
    expect(await world.vaults.isAuthorized(user)).toBe(false);
  });
});
