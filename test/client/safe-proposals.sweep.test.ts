import { describe, expect, test } from 'vitest';
import { execute, proposeToSafe } from '../../packages/client/src/index.ts';
import { tokenOf } from '../e2e/leverage/support.ts';
import { failureOf, otherAccount, useExecution, user } from '../support/execution.ts';
import { deploySafe, injectedWallet } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan, positionOf } = world;

test('error: a plan whose object changes between the call and the proof is not sent', async () => {
  const [plan, larger] = [await openPlan(), await openPlan({ amount: '2000' })];
  const [own, other] = [plan, larger].map(({ approvals, tx, meta }) => ({ approvals, tx, meta }));
  Object.assign(plan, other);
  // The object has its own calls again before they are proven.
  const wallet = injectedWallet(local(), {
    eth_chainId: () => {
      Object.assign(plan, own);
      return '0x1';
    },
  });
  expect(await failureOf(execute(plan, wallet, options({ account: user })))).toMatchObject({
    code: 'unproven',
    sent: [],
  });
});

describe('proposeToSafe', () => {
  test('default: the built transaction of a Safe, executed by its owner with the contracts of Safe', async () => {
    const { safe, multiSend, execute: executeSafe } = await deploySafe(local(), otherAccount);
    await local().mint(tokenOf(1, 'sUSDe'), safe, 1_000n * 10n ** 18n);
    const plan = await openPlan({ userAddress: safe });
    const { now } = world.service.clock;
    const proposed = await proposeToSafe(plan, injectedWallet(local()), { safe, multiSend, now });
    expect(proposed.proof).toMatchObject({ action: 'open_leverage', readings: 'node' });
    expect(proposed).toMatchObject({
      chainId: 1,
      to: multiSend,
      value: '0',
      operation: 1,
      expiresAt: plan.meta.expiresAt,
    });
    expect(proposed.transactionBuilder.transactions.map(({ to, data }) => ({ to, data }))).toEqual(
      [...plan.approvals, plan.tx].map(({ to, data }) => ({ to, data })),
    );
    const { status } = await executeSafe(proposed);
    expect(status).toBe('success');
    expect((await positionOf(0n, safe)).open).toBe(true);
  });

  test('error: MultiSend or the Safe is not on the chain, the plan is of another account, or the Safe holds too little', async () => {
    const { safe, multiSend } = await deploySafe(local(), otherAccount);
    const plan = await openPlan({ userAddress: safe });
    const { now } = world.service.clock;
    const propose = (given: object) => failureOf(proposeToSafe(plan, injectedWallet(local()), { safe, now, ...given }));
    expect(await propose({})).toMatchObject({ code: 'no_code' });
    expect(await propose({ multiSend, safe: otherAccount.address })).toMatchObject({ code: 'invalid_plan' });
    const ofAccount = await openPlan();
    const notSafe = proposeToSafe(ofAccount, injectedWallet(local()), { safe: user, multiSend, now });
    expect(await failureOf(notSafe)).toMatchObject({ code: 'no_code', address: user });
    expect(await propose({ multiSend })).toMatchObject({ code: 'insufficient_balance', available: 0n });
    // By the clock of this machine, and by that of the chain where it is further.
    expect(await propose({ multiSend, createdAt: Date.parse(plan.meta.expiresAt ?? '') })).toMatchObject({
      code: 'expired',
    });
    await local().increaseTime(3_600);
    expect(await propose({ multiSend })).toMatchObject({ code: 'expired' });
  });

  test('behavior: the balance and the name are those of the proven action, and a missing end of quotes is said', async () => {
    const { safe, multiSend } = await deploySafe(local(), otherAccount);
    const { now } = world.service.clock;
    const node = injectedWallet(local());
    const plan = Object.assign(await openPlan({ userAddress: safe }), { action: 'repay' });
    expect(await failureOf(proposeToSafe(plan, node, { safe, multiSend, now }))).toMatchObject({
      code: 'insufficient_balance',
    });
    await local().mint(tokenOf(1, 'sUSDe'), safe, 1_000n * 10n ** 18n);
    Object.assign(plan.meta, { expiresAt: undefined });
    const { proof, transactionBuilder } = await proposeToSafe(plan, node, { safe, multiSend, now });
    expect(transactionBuilder.meta.name).toBe('spiral-gateway open_leverage');
    expect(proof?.assumptions.join(' ')).toContain('does not say when they end');
    const own = await openPlan();
    for (const wrong of [{ now: () => Number.NaN }, { minValidityMs: Number.NaN }, { minValidityMs: -1 }]) {
      expect(
        await failureOf(execute(own, injectedWallet(local()), options({ account: user, ...wrong }))),
      ).toMatchObject({
        code: 'invalid_input',
      });
    }
  });
});
