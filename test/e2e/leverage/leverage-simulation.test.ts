import { encodeDeployData, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileContracts } from '../../../devnet/chain/compile.ts';
import { sendMined } from '../../../devnet/chain/receipt.ts';
import { labelAddress, OWNER, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { decodeFunctionData, encodeFunctionData } from '../../../src/abi/calldata.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import { payTokenOf } from '../../../src/transactions/read/tokens.ts';
import { createBalanceSlots } from '../../../src/transactions/simulate/balance-slot.ts';
import { createSimulator } from '../../../src/transactions/simulate/simulate.ts';
import type { BuiltCall } from '../../../src/transactions/types.ts';
import { fixedNode } from '../../chain/fixed-node.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { localCatalog, marketOf, type Partner, partnerOn, tokenOf, units } from './support.ts';

let service: TestService;
let partner: Partner;
let proxy: RpcProxy;
const [account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;
const market = marketOf(1, 'sUSDe/PYUSD 91.5');
const open = { strategyId: market.id, payToken: market.collateral.address, amount: '100', leverage: 3 };

beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    arrange: async (world) => {
      proxy = await startRpcProxy(world.chains.on(1).rpcUrl);
      return { RPC_URL_1: proxy.url };
    },
  });
  partner = partnerOn(service, 1, account);
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await proxy?.stop();
});

const callsOf = (bundle: Json): BuiltCall[] =>
  [...bundle.approvals, bundle.tx].map(({ to, data, value }: Json) => ({
    to,
    data,
    value: BigInt(value ?? 0),
    action: { type: 'any', args: {} },
  }));

describe('createSimulator', () => {
  const simulator = () =>
    createSimulator(
      fixedNode({ rpcUrl: service.world.chains.on(1).rpcUrl, clock: service.clock }).session(),
      createBalanceSlots(),
    );

  it('error: SimulationReverted with 503 when the fill is below the minimum', async () => {
    const bundle = await partner.build('/v1/partner/leverage/build', { ...open, userAddress: user });
    const { args } = decodeFunctionData({ abi: flashLeverageAbi, data: bundle.tx.data as Hex });
    const [owner, params] = args as readonly [Hex, Json];
    const greedy = { ...params, minTokenOut: params.minTokenOut * 2n };
    const data = encodeFunctionData({ abi: flashLeverageAbi, functionName: 'leverage', args: [owner, greedy] });
    const calls = callsOf({ ...bundle, tx: { ...bundle.tx, data } });
    await expect(simulator().simulate({ user, calls, nativeBalance: 0n })).rejects.toMatchObject({
      code: 'simulation_reverted',
      status: 503,
      retryable: true,
      details: { reason: 'FlashLeverage__MinTokenOutNotMet', callIndex: 1 },
    });
  });

  it('behavior: every curated token can be lent to an empty wallet', async () => {
    const chain = localCatalog.chain(1);
    const { prepare } = simulator();
    for (const token of chain?.tokens ?? []) {
      if (!token.isNative) expect(await prepare(payTokenOf(token)), token.symbol).toBeDefined();
    }
  });

  it('behavior: reports in the plan that a token without a known balance slot is not simulated', async () => {
    const nothing = { ...payTokenOf(market.collateral), address: labelAddress('no token at all') };
    const pays = { token: nothing, amount: 5n, balance: 0n };
    expect(await simulator().simulate({ user, calls: [], pays, nativeBalance: 0n })).toEqual({
      simulated: false,
      because: 'token',
    });
  });
});

describe('an unlisted token', () => {
  it('behavior: reads its decimals on chain', async () => {
    const { TestToken } = await compileContracts();
    if (!TestToken) throw new Error('contracts/lending/TestToken.sol was not compiled');
    const { client } = service.world.chains.on(1);
    await client.impersonateAccount({ address: OWNER });
    await client.setBalance({ address: OWNER, value: 10n ** 20n });
    const data = encodeDeployData({ abi: TestToken.abi, bytecode: TestToken.bytecode, args: ['Odd', 'ODD', 4, OWNER] });
    const { contractAddress } = await sendMined(client, { from: OWNER, data });
    const body = { ...open, payToken: contractAddress };
    const fine = await service.post('/v1/partner/leverage/simulate', { ...body, amount: '1.00001' }, PARTNER);
    expect(fine.body.error).toMatchObject({ code: 'bad_request', details: { limit: { maxDecimals: 4 } } });
    const routeless = await service.post('/v1/partner/leverage/simulate', { ...body, amount: '1.5' }, PARTNER);
    expect(routeless.body.error).toMatchObject({
      code: 'no_route',
      details: { tokenIn: expect.stringMatching(new RegExp(`^${contractAddress}$`, 'i')), amountIn: '15000' },
    });
  });
});

describe('approvals', () => {
  it('behavior: uses a sufficient allowance', async () => {
    const usdc = tokenOf(1, 'USDC');
    const body = { ...open, payToken: usdc.address, amount: '40', userAddress: user };
    const first = await partner.build('/v1/partner/leverage/build', body);
    expect(first.approvals).toHaveLength(1);
    await partner.send({ approvals: [], tx: first.approvals[0] });
    expect((await partner.build('/v1/partner/leverage/build', body)).approvals).toEqual([]);
    const more = await partner.build('/v1/partner/leverage/build', { ...body, amount: '41' });
    expect(BigInt(`0x${more.approvals[0].data.slice(-64)}`)).toBe(units('41', usdc));
  });
});

describe('the chain node', () => {
  const usdc = tokenOf(1, 'USDC').address;
  const built = async (path: string, body: Json): Promise<number> => {
    await partner.build(path, body);
    proxy.taken();
    await partner.build(path, body);
    return proxy.taken();
  };

  it('behavior: a build sends it three requests: newest block, read, simulation', async () => {
    const body = { ...open, payToken: usdc, userAddress: user };
    expect(await built('/v1/partner/leverage/simulate', { ...open, payToken: usdc })).toBe(2);
    expect(await built('/v1/partner/leverage/build', body)).toBe(3);
    const id = await partner.nextId();
    await partner.send(await partner.build('/v1/partner/leverage/build', body));
    // Where it stands is taken from memory once its block is final.
    await service.world.chains.on(1).mine(128);
    const manage = { userAddress: user, id };
    expect(await built('/v1/partner/manage/build', { ...manage, action: 'close' })).toBe(3);
    expect(await built('/v1/partner/manage/build', { ...manage, action: 'repay', full: true, payToken: usdc })).toBe(3);
  });

  it.each(['down', 'garbage', 'hang'] as const)('error: UpstreamUnavailable when it is %s', async (kind) => {
    proxy.set({ kind });
    const [answer, managed] = await Promise.all([
      service.post('/v1/partner/leverage/build', { ...open, userAddress: user }, PARTNER),
      service.post('/v1/partner/manage/build', { userAddress: user, id: 0, action: 'close' }, PARTNER),
    ]);
    proxy.set({ kind: 'pass' });
    for (const { status, body } of [answer, managed]) {
      expect(status).toBe(503);
      expect(body.error).toMatchObject({ code: 'upstream_unavailable', details: { provider: 'chain' } });
    }
  });
});
