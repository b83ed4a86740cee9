import { encodeDeployData, type Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { compileContracts } from '../../../devnet/chain/compile.ts';
import { sendMined } from '../../../devnet/chain/receipt.ts';
import { labelAddress, OWNER, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { decodeFunctionData, encodeFunctionData } from '../../../src/abi/calldata.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import { formatUnitsPlain } from '../../../src/shared/decimal.ts';
import { payTokenOf } from '../../../src/transactions/read/tokens.ts';
import { createBalanceSlots } from '../../../src/transactions/simulate/balance-slot.ts';
import { createSimulator } from '../../../src/transactions/simulate/simulate.ts';
import type { BuiltCall } from '../../../src/transactions/types.ts';
import { fixedNode } from '../../chain/fixed-node.ts';
import { type AdversarialVenues, startAdversarialVenues } from '../../support/adversarial-venues.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { localCatalog, marketOf, type Partner, partnerOn, tokenOf, units } from './support.ts';

let service: TestService;
let partner: Partner;
let proxy: RpcProxy;
let venues: AdversarialVenues;
const [account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;
const market = marketOf(1, 'sUSDe/PYUSD 91.5');
const BUILD = '/v1/partner/leverage/build';
const MANAGE = '/v1/partner/manage/build';
const usdc = tokenOf(1, 'USDC');
const open = { strategyId: market.id, payToken: market.collateral.address, amount: '100', leverage: 3 };

beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    arrange: async (world) => {
      proxy = await startRpcProxy(world.chains.on(1).rpcUrl);
      venues = await startAdversarialVenues(world);
      return { ...venues.env, RPC_URL_1: proxy.url };
    },
  });
  partner = partnerOn(service, 1, account);
});
afterAll(async () => {
  await service?.stop();
  await proxy?.stop();
  await venues?.stop();
});
afterEach(() => venues.clear());

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
    const bundle = await partner.build(BUILD, { ...open, userAddress: user });
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
      lacking: 'token',
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
    const body = { ...open, payToken: usdc.address, amount: '40', userAddress: user };
    const first = await partner.build(BUILD, body);
    expect(first.approvals).toHaveLength(1);
    await partner.send({ approvals: [], tx: first.approvals[0] });
    expect((await partner.build(BUILD, body)).approvals).toEqual([]);
    const more = await partner.build(BUILD, { ...body, amount: '41' });
    expect(BigInt(`0x${more.approvals[0].data.slice(-64)}`)).toBe(units('41', usdc));
  });
});

/** Both venues keep basis points of their fills, always or a number of times. */
const skim = (bps: number, times?: number) => {
  for (const provider of ['kyberswap', 'openocean'] as const) {
    venues.lie(provider, { kind: 'skim', ppm: BigInt(bps) * 100n }, undefined, times);
  }
};
const tolerant = { strategyId: market.id, slippage: 0.01, userAddress: user };
const OPENS = {
  leverage: { ...tolerant, payToken: market.collateral.address, amount: '10000', leverage: 10.5 },
  swapAndLeverage: { ...tolerant, payToken: usdc.address, amount: '1000', leverage: 3 },
};

/** A new position, opened while the venues are honest. */
async function opened(): Promise<number> {
  await service.world.chains.on(1).mint(market.collateral, user, units('1000', market.collateral));
  const id = await partner.nextId();
  const body = { ...OPENS.leverage, amount: '1000', leverage: 5 };
  await partner.send(await partner.build(BUILD, body));
  return id;
}

describe('a build whose swap returns less in simulation than its quote', () => {
  it.each(Object.keys(OPENS) as (keyof typeof OPENS)[])(
    'error: simulation_mismatch for 72 bp missing from the fill of %s',
    async (path) => {
      skim(72);
      const { status, body } = await service.post(BUILD, { chainId: 1, ...OPENS[path] }, PARTNER);
      expect([status, body.error?.code]).toEqual([503, 'simulation_mismatch']);
      const { expected, simulated, ...rest } = body.error.details;
      expect(Number(simulated) / Number(expected)).toBeCloseTo(1 - 0.0072, 4);
      expect(rest).toEqual({
        of: 'swap_output',
        symbol: 'sUSDe',
        tolerancePct: expect.stringMatching(/^0\.(19|20)$/),
        source: expect.any(String),
      });
    },
  );

  it('error: simulation_mismatch for 72 bp missing from the fill of every swap of managing', async () => {
    const id = await opened();
    skim(72);
    const actions = [
      { action: 'close' },
      { action: 'increase_leverage', leverage: 8 },
      { action: 'add_collateral', payToken: usdc.address, amount: '100' },
      { action: 'repay', payToken: usdc.address, amount: '100' },
    ];
    for (const action of actions) {
      const body = { chainId: 1, userAddress: user, id, slippage: 0.01, ...action };
      const answer = await service.post(MANAGE, body, PARTNER);
      expect([action.action, answer.status, answer.body.error?.code]).toEqual([
        action.action,
        503,
        'simulation_mismatch',
      ]);
    }
  });

  it('behavior: requests quotes once more, and builds on good ones', async () => {
    skim(72, 1);
    const bundle = await partner.build(BUILD, OPENS.leverage);
    expect(bundle.path).toBe('leverage');
  });

  it('behavior: a loss within the tolerance is previewed as simulated and executes as previewed', async () => {
    skim(15);
    await service.world.chains.on(1).mint(market.collateral, user, units('10000', market.collateral));
    const id = await partner.nextId();
    const bundle = await partner.build(BUILD, OPENS.leverage);
    await partner.send(bundle);
    const held = await partner.position(market, id);
    const { amountLeveragedCollateral, effectiveLtv } = bundle.meta.positionPreview;
    expect(formatUnitsPlain(held.collateral, market.collateral.decimals)).toBe(amountLeveragedCollateral);
    expect(held.ltvPct.minus(effectiveLtv).abs().lte('0.006')).toBe(true);
  });
});

describe('the chain node', () => {
  const built = async (path: string, body: Json): Promise<number> => {
    await partner.build(path, body);
    proxy.taken();
    await partner.build(path, body);
    return proxy.taken();
  };

  it('behavior: a build sends it three requests: newest block, read, simulation', async () => {
    const body = { ...open, payToken: usdc.address, userAddress: user };
    expect(await built('/v1/partner/leverage/simulate', { ...open, payToken: usdc.address })).toBe(2);
    expect(await built(BUILD, body)).toBe(3);
    const id = await partner.nextId();
    await partner.send(await partner.build(BUILD, body));
    // Where it stands is taken from memory once its block is final.
    await service.world.chains.on(1).mine(128);
    const manage = { userAddress: user, id };
    expect(await built(MANAGE, { ...manage, action: 'close' })).toBe(3);
    expect(await built(MANAGE, { ...manage, action: 'repay', full: true, payToken: usdc.address })).toBe(3);
  });

  it.each(['down', 'garbage', 'hang'] as const)('error: UpstreamUnavailable when it is %s', async (kind) => {
    proxy.set({ kind });
    const [answer, managed] = await Promise.all([
      service.post(BUILD, { ...open, userAddress: user }, PARTNER),
      service.post(MANAGE, { userAddress: user, id: 0, action: 'close' }, PARTNER),
    ]);
    proxy.set({ kind: 'pass' });
    for (const { status, body } of [answer, managed]) {
      expect(status).toBe(503);
      expect(body.error).toMatchObject({ code: 'upstream_unavailable', details: { provider: 'chain' } });
    }
  });
});
