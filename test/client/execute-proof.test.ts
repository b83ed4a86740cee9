import { type Hex, parseUnits } from 'viem';
import { describe, expect, test } from 'vitest';
import { ManageLeveragePlanDocument, OpenLeveragePlanDocument } from '../../packages/client/src/graphql/index.ts';
import {
  createClient,
  type ExecuteOptions,
  execute,
  type Plan,
  planOfGraphql,
  prove,
  type Records,
  type TransactionBundle,
} from '../../packages/client/src/index.ts';
import { decodeFunctionData, encodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../src/abi/flash-leverage-router.ts';
import { tokenOf } from '../e2e/leverage/support.ts';
import { account, failureOf, market, otherAccount, useExecution, user } from '../support/execution.ts';
import { type Json, PARTNER } from '../support/service.ts';
import { injectedWallet, viemWallet } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan, positionOf, hasPosition } = world;
const wallet = () => viemWallet(local(), account);
const run = (plan: Plan, more: ExecuteOptions = {}) => execute(plan, wallet(), options(more));
const ETH = tokenOf(1, 'ETH');
const OPENING = { strategyId: market.id, payToken: market.collateral.address, amount: '500' };

type ManageBody = Parameters<typeof world.client.manageBuild>[0];
type Action<Body> = Body extends unknown ? Omit<Body, 'userAddress' | 'id'> : never;

const mutation = async (document: object, variables: object) => {
  const { print } = await import('graphql');
  const answer = await world.service.post('/graphql', { query: print(document as never), variables }, PARTNER);
  return answer.body.data;
};

describe('the proof of a plan before it is executed', () => {
  test('default: every action is proven from its request and from the chain, and executed', async () => {
    await run(await openPlan());
    const actions: readonly Action<ManageBody>[] = [
      { action: 'increase_leverage', leverage: 6 },
      { action: 'increase_leverage', desiredLtv: '84' },
      { action: 'add_collateral', payToken: market.collateral.address, amount: '100.5' },
      { action: 'add_collateral', payToken: market.loan.address, amount: '120' },
      { action: 'remove_collateral', amount: '50' },
      { action: 'borrow', amount: '25.25' },
      { action: 'repay', payToken: market.loan.address, amount: '300' },
      { action: 'close', amount: '200' },
      { action: 'close', amount: '150', maxSwapLossPct: 3 },
      { action: 'repay', payToken: market.loan.address, full: true },
      { action: 'close' },
    ];
    for (const action of actions) {
      const plan = await world.client.manageBuild({ ...action, id: 0, userAddress: user } as ManageBody);
      const { proof } = await run(plan);
      expect(proof).toMatchObject({ action: action.action, chainId: 1, owner: user });
      expect(proof?.sentences.join(' ')).toMatch(/position 0\b/);
      // Without a node of the caller's own the proof relies on the wallet, and the index on the default chain.
      expect(proof?.readings).toBe('wallet');
      expect(proof?.assumptions.join(' ')).toMatch(
        /wallet's own node.*position 0 without a chain: it is the one of chain 1/,
      );
    }
    expect((await positionOf(0n)).open).toBe(false);
  });

  test('default: a payment in the loan token is judged by the oracle; of another one your price is asked', async () => {
    const paid = await run(await openPlan({ payToken: market.loan.address, desiredLtv: '70', leverage: null }));
    expect(paid.proof?.spendsAtMost).toMatchObject([{ text: '1000 PYUSD' }]);
    const plan = await openPlan({ payToken: ETH.address, amount: '0.3' });
    const refused = await failureOf(run(plan));
    expect(refused).toMatchObject({ code: 'unproven', sent: [], message: expect.stringContaining('pass `worth`') });
    const { body } = await world.service.get('/v1/prices?chainId=1');
    const price = (token: { readonly address: string }) => Number(body.prices[token.address]);
    const asked: unknown[] = [];
    const worth: NonNullable<Exclude<ExecuteOptions['proof'], 'none' | undefined>['worth']> = (payment) => {
      asked.push(payment);
      return BigInt(Math.round((0.3 * price(ETH) * 1e18) / price(market.collateral)));
    };
    await run(plan, { proof: { worth } });
    const into = market.collateral.address;
    expect(asked).toEqual([{ chainId: 1, token: ETH.address, amount: 3n * 10n ** 17n, into }]);
    const high = await openPlan({ payToken: ETH.address, amount: '0.3' });
    const doubled = await failureOf(run(high, { proof: { worth: (payment) => 2n * (worth(payment) as bigint) } }));
    expect(doubled).toMatchObject({ code: 'unproven', cause: { code: 'minimum' } });
  });

  test('default: plans of GraphQL, with the request of their mutation', async () => {
    const open = { ...OPENING, target: { leverage: '3' }, maxSlippageBps: '40' };
    const { openLeveragePlan } = await mutation(OpenLeveragePlanDocument, { wallet: user, input: open });
    const opened = planOfGraphql(openLeveragePlan, { field: 'openLeveragePlan', wallet: user, input: open });
    const { proof, outcome } = await run(opened);
    expect(proof).toMatchObject({ action: 'open_leverage', spendsAtMost: [{ text: '500 sUSDe' }] });
    expect(outcome.positions).toMatchObject([{ event: 'LeveragePositionOpened' }]);
    const input = { position: '1-0', action: { close: {} } } as const;
    const { manageLeveragePlan } = await mutation(ManageLeveragePlanDocument, { wallet: user, input });
    const close = planOfGraphql(manageLeveragePlan, { field: 'manageLeveragePlan', wallet: user, input });
    // Against another request the same calls are not proven.
    const lent = { ...input, action: { borrow: { amount: '1' } } };
    const other = planOfGraphql(manageLeveragePlan, { field: 'manageLeveragePlan', wallet: user, input: lent });
    expect(await failureOf(run(other))).toMatchObject({ code: 'unproven', cause: { code: 'method' } });
    expect((await run(close)).proof).toMatchObject({ action: 'close' });
    const high = { ...open, target: { leverage: '90' } };
    const answer = await mutation(OpenLeveragePlanDocument, { wallet: user, input: high });
    const refused = () =>
      planOfGraphql(answer.openLeveragePlan, { field: 'openLeveragePlan', wallet: user, input: high });
    expect(refused).toThrow(/openLeveragePlan was refused \(\w+\): /);
  });

  test('default: a position of GraphQL by its global id, for every action', async () => {
    await run(await openPlan());
    const query = '{ wallet(address: "ADDRESS") { positions { nodes { id } } } }'.replace('ADDRESS', user);
    const { body } = await world.service.post('/graphql', { query }, PARTNER);
    const [{ id }] = body.data.wallet.positions.nodes;
    const [loan, collateral] = [market.loan.address, market.collateral.address];
    const node = injectedWallet(local());
    const planFor = async (action: object) => {
      const input = { position: id, action } as never;
      const { manageLeveragePlan } = await mutation(ManageLeveragePlanDocument, { wallet: user, input });
      return planOfGraphql(manageLeveragePlan, { field: 'manageLeveragePlan', wallet: user, input });
    };
    for (const action of [
      { increaseLeverage: { leverage: '6' } },
      { increaseLeverage: { ltvPct: '84' } },
      { addCollateral: { payToken: collateral, amount: '5' } },
      { addCollateral: { payToken: loan, amount: '5' } },
      { removeCollateral: { amount: '5.0000000000000000000' } },
      { borrow: { amount: '5' } },
      { repay: { payToken: loan, amount: '5' } },
      { repayAll: {} },
      { repayAll: { payToken: collateral } },
      { close: {} },
      { close: { amount: '100' } },
    ]) {
      const proof = await prove(await planFor(action), node, { account: user });
      expect([JSON.stringify(action), proof.chainId]).toEqual([JSON.stringify(action), 1]);
    }
  });

  test('error: a plan of another process needs its request; nothing is sent without a proof unless it is asked for', async () => {
    const plan = structuredClone(await openPlan());
    const unknown = await failureOf(run(plan));
    expect(unknown).toMatchObject({ code: 'unproven', sent: [], cause: { code: 'intent' } });
    expect(unknown.message).toContain('proof: { request }');
    const input = { strategyId: market.id, payToken: market.collateral.address, amount: '1000', userAddress: user };
    const less = { row: 'leverageBuild', input: { ...input, leverage: 2 } } as const;
    const other = await failureOf(run(plan, { proof: { request: less } }));
    expect(other).toMatchObject({ code: 'unproven', sent: [], cause: { code: 'loan' } });
    const request = { row: 'leverageBuild', input: { ...input, leverage: 5 } } as const;
    const reader = injectedWallet(local());
    const { proof: proven } = await run(plan, { proof: { request }, reader });
    expect(proven).toMatchObject({ action: 'open_leverage', readings: 'node' });
    expect(proven?.assumptions.join(' ')).not.toMatch(/wallet's own node|without a chain/);
    const again = structuredClone(await openPlan({ amount: '100' }));
    expect((await run(again, { proof: 'none' })).proof).toBeUndefined();
  });

  test('error: a plan with any field changed by the service is refused', async () => {
    // Without `sendCalls` nothing but the proof notices a change of the calls.
    const lying = (change: (plan: TransactionBundle) => TransactionBundle) =>
      createClient({
        baseUrl: world.service.url,
        apiKey: 'local-partner',
        fetch: async (url, init) => {
          const response = await fetch(url, init);
          const { meta, ...plan } = change((await response.json()) as TransactionBundle);
          const body = JSON.stringify({ ...plan, meta: { ...meta, sendCalls: undefined } });
          return new Response(body, { status: response.status, headers: { 'content-type': 'application/json' } });
        },
      });
    const stranger = otherAccount.address.slice(2).toLowerCase();
    const inData = (from: string, to: string) => (plan: TransactionBundle) => ({
      ...plan,
      tx: { ...plan.tx, data: plan.tx.data.replace(from.toLowerCase(), to) },
    });
    const inApprovals = (change: (call: TransactionBundle['tx']) => object) => (plan: TransactionBundle) =>
      ({ ...plan, approvals: plan.approvals.map((call) => ({ ...call, ...change(call) })) }) as TransactionBundle;
    const body = { strategyId: market.id, payToken: market.collateral.address, amount: '1000', leverage: 5 };
    for (const [change, code] of [
      [inData(user.slice(2), stranger), 'owner'],
      [inData(market.id.slice(2), tokenOf(1, 'USDC').address.slice(2).padStart(64, '0')), 'market'],
      [(plan) => ({ ...plan, tx: { ...plan.tx, data: `${plan.tx.data}00` } }), 'encoding'],
      [(plan) => ({ ...plan, tx: { ...plan.tx, value: '1' } }), 'value'],
      [(plan) => ({ ...plan, approvals: [...plan.approvals, ...plan.approvals] }), 'approval'],
      [inApprovals(() => ({ value: '1' })), 'value'],
      [inApprovals(() => ({ to: tokenOf(1, 'USDC').address })), 'approval'],
      [inApprovals(({ data }) => ({ data: `${data.slice(0, 74)}${'f'.repeat(64)}` })), 'approval'],
    ] satisfies [(plan: TransactionBundle) => TransactionBundle, string][]) {
      const plan = await lying(change).leverageBuild({ ...body, userAddress: user });
      expect(await failureOf(run(plan))).toMatchObject({ code: 'unproven', sent: [], cause: { code } });
    }
    expect(await hasPosition()).toBe(false);
  });

  test('error: a plan of a position with any argument of its call changed is refused', async () => {
    await run(await openPlan());
    const [stranger, { loan, collateral }] = [otherAccount.address, market];
    type Change = [place: number, of: (before: Json) => unknown, code: string];
    const owner: Change = [0, () => stranger, 'owner'];
    const position = (place: number): Change => [place, () => 1n, 'position'];
    const amount = (place: number): Change => [place, (units) => units + 1n, 'amount'];
    const swap: Change[] = [
      [2, (swapData) => ({ ...swapData, extRouter: stranger }), 'router'],
      [3, () => 0n, 'minimum'],
    ];
    const cases: [Action<ManageBody>, Change[]][] = [
      [{ action: 'increase_leverage', leverage: 6 }, [position(0), [1, (units) => units * 2n, 'loan'], ...swap]],
      [{ action: 'add_collateral', payToken: collateral.address, amount: '100' }, [owner, position(1), amount(2)]],
      [{ action: 'remove_collateral', amount: '50' }, [position(0), amount(1)]],
      [{ action: 'borrow', amount: '25' }, [position(0), amount(1)]],
      [{ action: 'repay', payToken: loan.address, amount: '300' }, [owner, position(1), amount(2), amount(3)]],
      [{ action: 'close', amount: '200' }, [position(0), amount(1), ...swap]],
      [{ action: 'close' }, [position(0), amount(1), ...swap]],
    ];
    for (const [action, changes] of cases) {
      const plan = await world.client.manageBuild({ ...action, id: 0, userAddress: user } as ManageBody);
      const { tx } = plan;
      const { functionName, args } = decodeFunctionData({ abi: flashLeverageAbi, data: tx.data as Hex }) as Json;
      for (const [place, of, code] of changes) {
        const changed = args.with(place, of(args[place]));
        const data = encodeFunctionData({ abi: flashLeverageAbi, functionName, args: changed } as never);
        Object.assign(plan, { tx: { ...tx, data }, meta: { ...plan.meta, sendCalls: undefined } });
        const refused = await failureOf(run(plan));
        expect(refused, `${functionName} ${place}`).toMatchObject({ code: 'unproven', sent: [], cause: { code } });
      }
    }
  });
});

test('error: a deposit whose last call does not take the rights of the router back', async () => {
  const vault = world.vaults.vault('SPY');
  await world.vaults.fund(user, vault, 5_000_000_000n);
  const input = { strategyId: vault.id, amount: '5000', userAddress: user };
  const plan = await world.client.equityDepositBuild(input);
  const { calls, meta } = plan;
  const [approval, grant, entry, revoke] = calls as Json;
  const refusalOf = async (changed: readonly Json[]) => {
    Object.assign(plan, { calls: changed, meta: { ...meta, sendCalls: undefined } });
    return prove(plan, injectedWallet(world.vaults.local), { account: user }).then(
      () => 'proven',
      (error: unknown) => error,
    );
  };
  const unproven = (code: string) => ({ code: 'unproven', cause: { code } });
  expect(await refusalOf(calls)).toBe('proven');
  expect(await refusalOf([approval, grant, entry, { ...revoke, data: grant.data }])).toMatchObject(
    unproven('authorization'),
  );
  expect(await refusalOf([approval, grant, entry])).toMatchObject(unproven('shape'));
  expect(await refusalOf([approval, revoke, revoke, grant, entry, revoke])).toMatchObject(unproven('authorization'));
});

test('error: a wallet without the token, after the proof', async () => {
  const eth_call = ([call]: readonly Json[]) =>
    call.data.startsWith('0x70a08231')
      ? `0x${'0'.repeat(64)}`
      : local().client.request({ method: 'eth_call', params: [call, 'latest'] } as never);
  const poor = execute(await openPlan(), injectedWallet(local(), { eth_call }), options({ account: user }));
  expect(await failureOf(poor)).toMatchObject({ code: 'insufficient_balance', available: 0n, sent: [] });
});

describe('plans that are built again', () => {
  test('error: small losses of several rebuilds add up to one that is not accepted', async () => {
    const plan = await openPlan();
    const clock = () => new Date(world.service.clock.now() - 1_000).toISOString();
    const { positionPreview } = plan.meta as Records.components['schemas']['TransactionBundle']['meta'];
    const worst = positionPreview.worstCase;
    let builds = 0;
    const rebuild = async (): Promise<Plan> => {
      builds += 1;
      const worstCase = { ...worst, equity: String(Number(worst?.equity) * (1 - 0.0008 * builds)) };
      const preview = { ...positionPreview, worstCase };
      return { ...plan, meta: { ...plan.meta, expiresAt: clock(), positionPreview: preview } } as Plan;
    };
    const lapsed = { ...plan, meta: { ...plan.meta, expiresAt: clock() } };
    const refused = await failureOf(run(lapsed, { rebuild }));
    expect(refused).toMatchObject({ code: 'worse_plan', sent: [] });
    expect(refused.comparison.worsePct).toBeCloseTo(0.16, 2);
    expect(builds).toBe(2);
    // Each rebuilt plan is compared with the last one that the caller accepted.
    builds = 0;
    const accepted: number[] = [];
    const acceptWorse = ({ worsePct }: { readonly worsePct: number }) => accepted.push(worsePct) > 0;
    expect(await failureOf(run(lapsed, { rebuild, acceptWorse }))).toMatchObject({ code: 'expired' });
    expect(accepted).toEqual([expect.closeTo(0.16, 2)]);
  });
});

describe('plans that are built again are measured by their calls', () => {
  const lapsed = <P extends { readonly meta: object }>(plan: P): P => {
    const expiresAt = new Date(world.service.clock.now() - 1_000).toISOString();
    Object.assign(plan.meta, { expiresAt });
    return plan;
  };

  test('behavior: a plan of GraphQL that has lapsed is built again and executed', async () => {
    const input = { ...OPENING, target: { ltvPct: '75' } };
    const { openLeveragePlan } = await mutation(OpenLeveragePlanDocument, { wallet: user, input });
    const open = planOfGraphql(openLeveragePlan, { field: 'openLeveragePlan', wallet: user, input });
    const opened = await run(lapsed(open), { rebuild: world.client.rebuild, maxWorsePct: 1 });
    expect(opened.proof).toMatchObject({ action: 'open_leverage', spendsAtMost: [{ text: '500 sUSDe' }] });
    const closing = { position: '1-0', action: { close: {} } } as const;
    const { manageLeveragePlan } = await mutation(ManageLeveragePlanDocument, { wallet: user, input: closing });
    const close = planOfGraphql(manageLeveragePlan, { field: 'manageLeveragePlan', wallet: user, input: closing });
    await run(lapsed(close), { rebuild: world.client.rebuild, maxWorsePct: 1 });
    expect((await positionOf(0n)).open).toBe(false);
  });

  test('error: a service that repeats the figures of a plan, and lowers the minimum in its calls', async () => {
    const plan = await openPlan();
    const { minTokenOut } = plan.meta as unknown as Readonly<Record<string, string>>;
    const least = parseUnits(minTokenOut ?? '', 18);
    const wordOf = (units: bigint) => units.toString(16).padStart(64, '0');
    expect(plan.tx.data).toContain(wordOf(least));
    // Still within the limits of the request: the proof alone does not refuse it.
    const text = JSON.stringify(plan).replaceAll(wordOf(least), wordOf((least * 9_995n) / 10_000n));
    const worse = async (): Promise<Plan> => JSON.parse(text);
    const refused = await failureOf(run(lapsed(plan), { rebuild: worse }));
    expect(refused).toMatchObject({ code: 'worse_plan', sent: [] });
    const what = expect.stringMatching(/^proven output of the loan in 0x/);
    expect(refused.comparison.worse).toMatchObject([{ what }, { what: 'proven equity' }, { what: 'proven LTV' }]);
    expect(refused.comparison.worsePct).toBeGreaterThan(0.15);
  });

  /** A copy whose swapped payment gives less, or more where it is negative. */
  const lowered = <P extends Plan>(plan: P, bps: bigint): P => {
    const { data } = (plan as TransactionBundle).tx;
    const { functionName, args } = decodeFunctionData({ abi: flashLeverageRouterAbi, data: data as Hex }) as Json;
    const changed = args.with(6, (args[6] * (10_000n - bps)) / 10_000n);
    const other = encodeFunctionData({ abi: flashLeverageRouterAbi, functionName, args: changed });
    return JSON.parse(JSON.stringify(plan).replaceAll(data, other));
  };

  test('error: a swapped payment that gives less, in plans of REST and of GraphQL', async () => {
    await run(await openPlan());
    const paid = { add_collateral: market.loan.address, repay: market.collateral.address };
    const plans: Plan[] = [];
    for (const action of ['add_collateral', 'repay'] as const) {
      const body = { action, payToken: paid[action], amount: '100', id: 0, userAddress: user };
      plans.push(await world.client.manageBuild(body as ManageBody));
      const payment = { payToken: paid[action], amount: '100' };
      const input = {
        position: '1-0',
        action: action === 'repay' ? { repay: payment } : { addCollateral: payment },
      };
      const { manageLeveragePlan } = await mutation(ManageLeveragePlanDocument, { wallet: user, input });
      plans.push(planOfGraphql(manageLeveragePlan, { field: 'manageLeveragePlan', wallet: user, input } as never));
    }
    for (const plan of plans) {
      const worse = lowered(plan, 40n);
      const refused = await failureOf(run(lapsed(plan as TransactionBundle), { rebuild: async () => worse }));
      expect(refused).toMatchObject({ code: 'worse_plan', sent: [] });
      const what = expect.stringMatching(/^proven output of the payment in 0x/);
      expect(refused.comparison.worse).toMatchObject([{ what, worsePct: expect.closeTo(0.4, 3) }]);
    }
    // The earlier plan can no longer be proven, so no rebuilt plan can be compared with it.
    for (const plan of plans) {
      const fresh = lowered(plan, 0n);
      Object.assign(plan, lowered(plan, -500n));
      const refused = await failureOf(run(lapsed(plan as TransactionBundle), { rebuild: async () => fresh }));
      expect(refused).toMatchObject({ code: 'worse_plan', sent: [], comparison: { worsePct: Infinity } });
    }
  });
});

test('error: the least output of a request is part of its proof', async () => {
  const input = {
    strategyId: market.id,
    payToken: market.loan.address,
    amount: '1000',
    leverage: 5,
    userAddress: user,
  };
  const plan = await openPlan({ payToken: market.loan.address });
  const demanding = { row: 'leverageBuild', input: { ...input, minAmountOut: '10000' } } as const;
  const refused = await failureOf(run(structuredClone(plan), { proof: { request: demanding } }));
  expect(refused).toMatchObject({ code: 'unproven', sent: [], cause: { code: 'minimum' } });
  expect(refused.message).toContain('minAmountOut of the intent is 10000 sUSDe');
  // One that the service was asked for is in the calls.
  const bounded = await openPlan({ payToken: market.loan.address, minAmountOut: '1' });
  expect((await run(bounded)).proof).toMatchObject({ action: 'open_leverage' });
  for (const action of [
    { action: 'close', amount: '150', minAmountOut: '100' },
    { action: 'close', minAmountOut: '4000' },
  ]) {
    await run(await world.client.manageBuild({ ...action, id: 0, userAddress: user } as ManageBody));
  }
  expect((await positionOf(0n)).open).toBe(false);
});

test('error: a signal that aborts while a call is prepared; the wallet is not asked', async () => {
  for (const method of ['eth_estimateGas', 'eth_getTransactionCount']) {
    const abort = new AbortController();
    const asked: string[] = [];
    const wallet = injectedWallet(local(), {
      [method]: () => {
        abort.abort(new Error('cancelled'));
        return '0x100000';
      },
      eth_sendTransaction: () => {
        asked.push(method);
        return `0x${'1'.repeat(64)}`;
      },
    });
    const signal = abort.signal;
    const stopped = execute(await openPlan(), wallet, options({ account: user, signal, receiptTimeoutMs: 1 }));
    expect((await failureOf(stopped)).message).toBe('cancelled');
    expect(asked).toEqual([]);
  }
});
