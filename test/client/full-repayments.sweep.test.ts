import { describe, expect, test } from 'vitest';
import { ManageLeveragePlanDocument } from '../../packages/client/src/graphql/index.ts';
import { execute, type Plan, planOfGraphql, prove, type TransactionBundle } from '../../packages/client/src/index.ts';
import { account, failureOf, market, useExecution, user } from '../support/execution.ts';
import { type Json, PARTNER } from '../support/service.ts';
import { injectedWallet, viemWallet } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan } = world;
const { loan, collateral } = market;
const node = () => injectedWallet(local());
const open = async () => execute(await openPlan(), viemWallet(local(), account), options());

type Body = Parameters<typeof world.client.manageBuild>[0];
const bodyOf = (payToken: string, amount?: string) =>
  ({ action: 'repay', full: true, id: 0, userAddress: user, payToken, amount }) as Body;
const built = async (payToken: string, amount?: string) =>
  structuredClone(await world.client.manageBuild(bodyOf(payToken, amount)));
const proofOf = (plan: Plan, input: Body) =>
  prove(plan, node(), { account: user, request: { row: 'manageBuild', input } });

const wordOf = (units: bigint) => units.toString(16).padStart(64, '0');

const answerOf = async (input: object): Promise<Json> => {
  const { print } = await import('graphql');
  const query = print(ManageLeveragePlanDocument as never);
  const { body } = await world.service.post('/graphql', { query, variables: { wallet: user, input } }, PARTNER);
  return body.data.manageLeveragePlan;
};
const inputOf = (payToken: string, amount: string) => ({
  position: '1-0',
  action: { repayAll: { payToken, amount } },
});
const planOf = (answer: Json, input: object) =>
  planOfGraphql(answer as never, { field: 'manageLeveragePlan', wallet: user, input } as never);

describe('a full repayment with an amount', () => {
  test('default: is proven for this payment where it is swapped, by REST and by GraphQL', async () => {
    await open();
    for (const amount of ['4100', '5000', '9000']) {
      await local().mint(collateral, user, 9_000n * 10n ** 18n);
      const plan = await built(collateral.address, amount);
      const { spendsAtMost } = await proofOf(plan, bodyOf(collateral.address, amount));
      expect(spendsAtMost).toMatchObject([{ text: `${amount} ${collateral.symbol}` }]);
      const input = inputOf(collateral.address, amount);
      const proof = await prove(planOf(await answerOf(input), input), node(), { account: user });
      expect(proof.spendsAtMost).toEqual(spendsAtMost);
    }
  });

  test('error: a service that takes more than the amount, by REST and by GraphQL', async () => {
    await open();
    const whole = (await proofOf(await built(collateral.address), bodyOf(collateral.address))).spendsAtMost[0];
    const asked = String((whole?.amount ?? 0n) / 10n ** 18n);
    const more = { [collateral.address]: String(BigInt(asked) + 20n), [loan.address]: '6000' };
    const given = { [collateral.address]: asked, [loan.address]: '4000.2' };
    for (const token of [collateral.address, loan.address]) {
      const plan = await built(token, more[token]);
      const refused = await failureOf(proofOf(plan, bodyOf(token, given[token])));
      expect(refused).toMatchObject({ code: 'unproven', cause: { code: 'amount' } });
      const answer = await answerOf(inputOf(token, more[token] ?? ''));
      const lying = planOf(answer, inputOf(token, given[token] ?? ''));
      const other = await failureOf(prove(lying, node(), { account: user }));
      expect(other).toMatchObject({ code: 'unproven', cause: { code: 'amount' } });
    }
  });

  test('error: a service that swaps less than the amount, by REST and by GraphQL', async () => {
    await open();
    const plan = await built(collateral.address, '5000');
    const refused = await failureOf(proofOf(plan, bodyOf(collateral.address, '9000')));
    expect(refused).toMatchObject({ code: 'unproven', cause: { code: 'amount' } });
    const answer = await answerOf(inputOf(collateral.address, '5000'));
    const lying = planOf(answer, inputOf(collateral.address, '9000'));
    const other = await failureOf(prove(lying, node(), { account: user }));
    expect(other).toMatchObject({ code: 'unproven', cause: { code: 'amount' } });
  });

  test('error: a swapped payment whose least output is low for its own amount', async () => {
    await open();
    for (const amount of ['5000', undefined]) {
      const plan = await built(collateral.address, amount);
      const { swaps } = await proofOf(plan, bodyOf(collateral.address, amount));
      const least = swaps[0]?.givesAtLeast.amount ?? 0n;
      const low = JSON.stringify(plan).replaceAll(wordOf(least), wordOf((least * 95n) / 100n));
      expect(low).not.toBe(JSON.stringify(plan));
      const refused = await failureOf(proofOf(JSON.parse(low), bodyOf(collateral.address, amount)));
      expect(refused).toMatchObject({ code: 'unproven', cause: { code: 'minimum' } });
    }
  });

  test.each([
    ['the collateral', collateral.address, 7],
    ['the loan token', loan.address, 3],
  ])('error: a plan that brings less than the debt, in %s', async (_what, payToken, sharesAt) => {
    await open();
    const part = { ...bodyOf(payToken, '10'), full: false } as Body;
    const plan = structuredClone((await world.client.manageBuild(part)) as TransactionBundle);
    // The call of a repayment of 10, with the shares of the whole debt.
    const { data } = plan.tx;
    const at = 10 + 64 * sharesAt;
    const whole = `${data.slice(0, at)}${'f'.repeat(64)}${data.slice(at + 64)}`;
    const lying = JSON.parse(JSON.stringify(plan).replaceAll(data, whole));
    const refused = await failureOf(proofOf(lying, bodyOf(payToken)));
    expect(refused).toMatchObject({ code: 'unproven', cause: { code: 'minimum' } });
  });

  test.each(['-3', '3'])(
    'behavior: in the collateral is sized by the oracle, %s percent from the USD prices',
    async (percent) => {
      await open();
      await local().mint(collateral, user, 9_000n * 10n ** 18n);
      await local().moveOracle(market, percent);
      const plan = await world.client.manageBuild(bodyOf(collateral.address));
      const { proof } = await execute(plan, viemWallet(local(), account), options());
      expect(proof).toMatchObject({ action: 'repay' });
    },
  );

  test('behavior: in the loan token takes no more than the debt and no more than the amount', async () => {
    await open();
    const { tx, ...plan } = (await built(loan.address, '1000000')) as TransactionBundle;
    const { spendsAtMost } = await proofOf({ ...plan, tx } as Plan, bodyOf(loan.address, '1000000'));
    expect(Number(spendsAtMost[0]?.amount)).toBeLessThan(5_000e6);
    // More than the debt of now, and less than that with the interest of half an hour: it could revert when it is mined.
    const later = spendsAtMost[0]?.amount ?? 0n;
    const amount = String(Number(later - 1_000n) / 1e6);
    expect(await built(loan.address, amount).catch((error: unknown) => error)).toMatchObject({
      details: { limit: { sufficientAmount: expect.any(String) } },
    });
  });
});

describe('a request of GraphQL', () => {
  test('error: the position is on another market than the request names', async () => {
    await open();
    const input = { position: '1-0', action: { borrow: { amount: '5' } } };
    const answer = await answerOf(input);
    const named = (marketId: string) => ({ ...input, position: `1-${marketId}-0` });
    await prove(planOf(answer, named(market.id)), node(), { account: user });
    const refused = prove(planOf(answer, named(`0x${'1'.repeat(64)}`)), node(), { account: user });
    expect(await failureOf(refused)).toMatchObject({ code: 'unproven', cause: { code: 'position' } });
  });

  test('error: the plan is for another chain than the request names', async () => {
    const input = { strategyId: market.id, payToken: collateral.address, amount: '5', target: { leverage: '3' } };
    const { approvals, tx, chainId, meta } = await openPlan({ amount: '5', leverage: 3 });
    const answer = { __typename: 'LeveragePlan', chainId, calls: [...approvals, tx], atomic: true, ...meta };
    const planFor = (more: object) =>
      planOfGraphql(answer as never, { field: 'openLeveragePlan', wallet: user, input, ...more } as never);
    await prove(planFor({ chainId: 1 }), node(), { account: user });
    const refused = prove(planFor({ chainId: 4663 }), node(), { account: user });
    expect(await failureOf(refused)).toMatchObject({ code: 'unproven', cause: { code: 'chain' } });
  });
});
