import { type Hex, toFunctionSelector } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OWNER } from '../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { flashLeverageAbi, userProxyAbi } from '../../../src/abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../../src/abi/morpho-blue.ts';
import type { Address } from '../../../src/shared/ids.ts';
import { DEPOSIT_QUERY, type EquityVerbs, equityVerbs } from '../../support/equity.ts';
import { type Json, noSleep, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';
import { type Partner, partnerOn } from '../leverage/support.ts';

let service: TestService;
let vaults: EquityVerbs;
let partner: Partner;
const looper = seededWallet('looper').account;
const shareholder = seededWallet('shareholder').account;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
  vaults = equityVerbs(service);
  partner = partnerOn(service, 1, looper);
});
afterAll(() => service?.stop());
const states: { chainId: number; id: Hex }[] = [];
beforeEach(async () => {
  for (const chainId of [1, 4663]) states.push({ chainId, id: await service.world.chains.on(chainId).snapshot() });
});
afterEach(async () => {
  for (const { chainId, id } of states.splice(0)) await service.world.chains.on(chainId).revert(id);
});

const read = async (wallet: Address, chainId: number): Promise<Json> => {
  const { status, body } = await service.get(`/v1/partner/positions/${wallet}?chainId=${chainId}`, PARTNER);
  expect(status).toBe(200);
  return body;
};
const graphql = async (wallet: Address, chainId: number): Promise<Json> => {
  const query = `query($a: Address!, $c: ChainId!) { wallet(address: $a, chainIds: [$c]) {
    onChains { leftAuthorizations { authorized call { to data value intent { functionName arguments { name value } } } } gaps { field reason } }
    positions { nodes { id: positionIndex status manualMode manualModeCalls { to value intent { functionName recipient } } gaps { field reason } } }
  } }`;
  const { body } = await service.graphql(query, { a: wallet, c: chainId }, PARTNER);
  expect(body.errors).toBeUndefined();
  const { onChains, positions } = body.data.wallet;
  return { ...onChains[0], positions: positions.nodes };
};
const positionOf = (body: Json, id: number): Json => body.positions.find((each: Json) => each.id === id);
const gapsOf = ({ gaps }: Json, field: string) => gaps.filter((gap: Json) => gap.field === field);

describe('a leftover authorization of an incomplete batch', () => {
  test('is listed with the call that revokes it, and not after that call', async () => {
    const vault = vaults.vault('SPY');
    expect((await read(shareholder.address, 4663)).leftAuthorizations).toEqual([]);
    const input = { strategyId: vault.id, amount: '100', userAddress: shareholder.address };
    await vaults.fund(shareholder.address, vault, 100n * 10n ** BigInt(vault.depositToken.decimals));
    const { calls } = await vaults.ask(DEPOSIT_QUERY, input);
    // The wallet sends the first two, and nothing after them.
    expect(await vaults.sendInOrder(shareholder, calls.slice(0, 2))).toEqual([true, true]);
    expect(await vaults.isAuthorized(shareholder.address)).toBe(true);

    const { leftAuthorizations } = await read(shareholder.address, 4663);
    expect(leftAuthorizations).toEqual([
      { authorized: vaults.router, call: { to: expect.any(String), data: expect.any(String) } },
    ]);
    const typed = await graphql(shareholder.address, 4663);
    expect(typed.gaps).toEqual([]);
    expect(typed.leftAuthorizations[0].call).toMatchObject({
      ...leftAuthorizations[0].call,
      value: '0',
      intent: {
        functionName: 'setAuthorization',
        arguments: [
          { name: 'authorized', value: vaults.router },
          { name: 'newIsAuthorized', value: 'false' },
        ],
      },
    });
    expect(await vaults.sendInOrder(shareholder, [leftAuthorizations[0].call])).toEqual([true]);
    expect(await vaults.isAuthorized(shareholder.address)).toBe(false);
    expect((await read(shareholder.address, 4663)).leftAuthorizations).toEqual([]);
  });

  test('behavior: an empty wallet shows it too, and no other wallet does', async () => {
    const nobody: Address = '0x000000000000000000000000000000000000dEaD';
    await service.world.chains.on(4663).client.setBalance({ address: nobody, value: 10n ** 18n });
    await vaults.authorize(nobody, true);
    expect((await read(nobody, 4663)).leftAuthorizations).toMatchObject([{ authorized: vaults.router }]);
    expect((await read(shareholder.address, 4663)).leftAuthorizations).toEqual([]);
    expect((await read(looper.address, 1)).leftAuthorizations).toEqual([]);
  });

  test('behavior: an unanswered view is a gap and affects no other field', async () => {
    await without(4663, vaults.local.chain.contracts.morphoBlue, selectorOf(morphoBlueAbi, 'isAuthorized'));
    const body = await read(shareholder.address, 4663);
    expect(body).not.toHaveProperty('leftAuthorizations');
    expect(body.equityPositions).toHaveLength(1);
    const typed = await graphql(shareholder.address, 4663);
    expect(typed.leftAuthorizations).toBeNull();
    expect(typed.gaps).toEqual([{ field: 'leftAuthorizations', reason: 'NOT_MEASURED' }]);
  });
});

describe('a position in manual mode', () => {
  const flashLeverage = () => service.world.chains.on(1).chain.contracts.flashLeverage;
  const proxyOf = async (id: number) =>
    (
      await partner.client.readContract({
        address: flashLeverage(),
        abi: flashLeverageAbi,
        functionName: 'getUserLeveragePosition',
        args: [looper.address, BigInt(id)],
      })
    ).userProxy;
  const enable = async (id: number) =>
    service.world.chains.on(1).call(OWNER, flashLeverage(), 'FlashLeverage', 'enableManualMode', [await proxyOf(id)]);

  // Loan tokens: one as any other, one whose allowance has to go through zero.
  test.each([
    [0, ['approve', 'repay', 'execute']],
    [3, ['approve', 'approve', 'repay', 'execute']],
  ])('position %i is shown with the calls that end it, which work', async (id, methods) => {
    const local = service.world.chains.on(1);
    expect(positionOf(await read(looper.address, 1), id).manualMode).toBe(false);
    await enable(id);
    const reported = positionOf(await read(looper.address, 1), id);
    expect(reported).toMatchObject({ status: 'open', manualMode: true });
    const typed = positionOf(await graphql(looper.address, 1), id);
    expect(typed.manualModeCalls.map(({ intent }: Json) => intent.functionName)).toEqual(methods);

    const close = { chainId: 1, userAddress: looper.address, id, action: 'close' };
    const refused = await service.post('/v1/partner/manage/build', close, PARTNER);
    expect([refused.status, refused.body.error.details]).toEqual([
      400,
      { reason: 'manual_mode', pointer: `/v1/partner/positions/${looper.address}?chainId=1` },
    ]);
    expect(refused.body.error.message).toContain('manualModeCalls');

    const market = local.market(reported.strategyId);
    const before = await partner.position(market, id);
    await local.mint(market.loan, looper.address, (before.debt * 101n) / 100n);
    const collateral = await partner.balance(market.collateral);
    const [last, ...first] = [...reported.manualModeCalls].reverse();
    await partner.send({ approvals: first.reverse(), tx: last });
    expect(await partner.position(market, id)).toMatchObject({ collateral: 0n, debt: 0n });
    expect((await partner.balance(market.collateral)) - collateral).toBe(before.collateral);
    const after = positionOf(await read(looper.address, 1), id);
    expect(after).toMatchObject({ open: false, manualMode: null });
    expect(after).not.toHaveProperty('manualModeCalls');
  });

  test('behavior: builds through the contract are refused before quotes; payments are still possible', async () => {
    await enable(0);
    const local = service.world.chains.on(1);
    const { strategyId } = positionOf(await read(looper.address, 1), 0);
    const { collateral, loan } = local.market(strategyId);
    const reasonOf = async (action: string, more: Json = {}) => {
      const body = { chainId: 1, userAddress: looper.address, id: 0, action, ...more };
      const answer = await service.post('/v1/partner/manage/build', body, PARTNER);
      return answer.body.error?.details.reason ?? answer.status;
    };
    expect(await reasonOf('close', { amount: '1' })).toBe('manual_mode');
    expect(await reasonOf('remove_collateral', { amount: '1' })).toBe('manual_mode');
    expect(await reasonOf('borrow', { amount: '1' })).toBe('manual_mode');
    expect(await reasonOf('increase_leverage', { desiredLtv: '88' })).toBe('manual_mode');
    expect(await reasonOf('repay', { amount: '100', payToken: loan.address })).toBe(200);
    expect(await reasonOf('add_collateral', { amount: '1', payToken: collateral.address })).toBe(200);
  });

  test('behavior: shows no yield fee when its wallet ends it', async () => {
    const local = service.world.chains.on(1);
    await local.moveOracle(local.market(positionOf(await read(looper.address, 1), 0).strategyId), '4');
    const before = positionOf(await read(looper.address, 1), 0).closeNow;
    expect(Number(before.yieldFee)).toBeGreaterThan(0);
    await enable(0);
    const { closeNow } = positionOf(await read(looper.address, 1), 0);
    expect(closeNow).toMatchObject({ yieldFee: '0', pnlAfterFee: closeNow.pnlBeforeFee });
    expect(closeNow.pnlBeforeFee).toBe(before.pnlBeforeFee);
    const ops = await service.get(`/v1/ops/portfolio/${looper.address}?chainId=1`, OPS);
    expect(positionOf(ops.body, 0).pnl.yieldFeeUsd).toBe('0');
  });

  test('behavior: a vault with such a loop can be exited after the calls', async () => {
    const { local, post } = vaults;
    const [vault] = (await read(shareholder.address, 4663)).equityPositions;
    const [loop] = vault.yieldLoops;
    const contract = local.chain.contracts.flashLeverage;
    const { userProxy } = await local.client.readContract({
      address: contract,
      abi: flashLeverageAbi,
      functionName: 'getUserLeveragePosition',
      args: [shareholder.address, BigInt(loop.id)],
    });
    await local.call(OWNER, contract, 'FlashLeverage', 'enableManualMode', [userProxy]);
    const exit = { chainId: 4663, strategyId: vault.strategyId, userAddress: shareholder.address };
    const refused = await post('/v1/partner/equity/exit/build', exit);
    expect([refused.status, refused.body.error.details.reason]).toEqual([400, 'manual_mode']);
    const [actual] = (await read(shareholder.address, 4663)).equityPositions;
    const { loan } = local.market(loop.strategyId);
    await local.mint(
      loan,
      shareholder.address,
      2n * BigInt(Math.ceil(Number(loop.amountLoan))) * 10n ** BigInt(loan.decimals),
    );
    const calls = actual.yieldLoops[0].manualModeCalls;
    expect(await vaults.sendInOrder(shareholder, calls)).toEqual(calls.map(() => true));
    const built = await post('/v1/partner/equity/exit/build', exit);
    expect(built.status, built.text).toBe(200);
  });

  test('behavior: one call ends it without debt', async () => {
    const body = { chainId: 1, userAddress: looper.address, id: 0, action: 'repay', full: true };
    const local = service.world.chains.on(1);
    const market = local.market(positionOf(await read(looper.address, 1), 0).strategyId);
    await local.mint(market.loan, looper.address, (await partner.position(market, 0)).debt * 2n);
    await partner.send(await partner.build('/v1/partner/manage/build', { ...body, payToken: market.loan.address }));
    await enable(0);
    const { manualModeCalls, ltvPct } = positionOf(await read(looper.address, 1), 0);
    expect([manualModeCalls.length, ltvPct]).toEqual([1, '0.00']);
    await partner.send({ approvals: [], tx: manualModeCalls[0] });
    expect(await partner.position(market, 0)).toMatchObject({ collateral: 0n, debt: 0n });
  });

  test('behavior: ops shows it; it is a gap when the contract does not answer, without other effects', async () => {
    await enable(0);
    const ops = await service.get(`/v1/ops/portfolio/${looper.address}?chainId=1`, OPS);
    expect(positionOf(ops.body, 0)).toMatchObject({ manualMode: true });
    expect(ops.body.leftAuthorizations).toEqual([]);
    const implementation = await partner.client.readContract({
      address: flashLeverage(),
      abi: flashLeverageAbi,
      functionName: 'i_userProxyImplementation',
    });
    await without(1, implementation, selectorOf(userProxyAbi, 's_manualMode'));
    const body = await read(looper.address, 1);
    expect(positionOf(body, 0)).toHaveProperty('netValueUsd');
    expect(positionOf(body, 0)).not.toHaveProperty('manualMode');
    const typed = positionOf(await graphql(looper.address, 1), 0);
    expect([typed.manualMode, typed.manualModeCalls]).toEqual([null, null]);
    expect(gapsOf(typed, 'manualMode')).toEqual([{ field: 'manualMode', reason: 'NOT_MEASURED' }]);
    const closed = positionOf(await graphql(looper.address, 1), 1);
    expect(gapsOf(closed, 'manualMode')).toEqual([{ field: 'manualMode', reason: 'NOT_APPLICABLE' }]);
  });
});

function selectorOf(abi: typeof userProxyAbi | typeof morphoBlueAbi, name: string): Hex {
  const item = abi.find((entry) => entry.type === 'function' && entry.name === name);
  if (item?.type !== 'function') throw new Error(`no function ${name}`);
  return toFunctionSelector(item);
}

/** Remove a view from deployed code, so that its calls revert. */
async function without(chainId: number, address: Address, selector: Hex): Promise<void> {
  const { client } = service.world.chains.on(chainId);
  const code = (await client.getCode({ address })) ?? '0x';
  // PUSH4 of the selector, where the dispatcher compares it.
  const push = `63${selector.slice(2)}`;
  expect(code.split(push).length).toBeGreaterThan(1);
  await client.setCode({ address, bytecode: code.replaceAll(push, '63deadbeef') as Hex });
}
