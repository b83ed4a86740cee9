import { getContractAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { labelAddress } from '../../../devnet/seed/accounts.ts';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { flashLeverageAbi } from '../../../src/abi/flash-leverage.ts';
import type { Address } from '../../../src/shared/ids.ts';
import { equityChain } from '../../support/equity.ts';
import { openVariables } from '../../support/partner-inputs.ts';
import { type RpcProxy, startRpcProxy } from '../../support/process/rpc-proxy.ts';
import { bodyViolation } from '../../support/row-body.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { expectEnvelope } from '../known.ts';
import { marketOf } from '../leverage/support.ts';

const CHAIN_IDS = [1, 4663] as const;
const OPEN = '/v1/partner/leverage/build';
const MANAGE = '/v1/partner/manage/build';
const DEPOSIT = '/v1/partner/equity/deposit/build';
const EXIT = '/v1/partner/equity/exit/build';

let service: TestService;
const nodes = new Map<number, RpcProxy>();
beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    arrange: async (world) => {
      for (const chainId of CHAIN_IDS) nodes.set(chainId, await startRpcProxy(world.chains.on(chainId).rpcUrl));
      return Object.fromEntries([...nodes].map(([chainId, { url }]) => [`RPC_URL_${chainId}`, url]));
    },
  });
});
afterAll(async () => {
  await service?.stop();
  for (const node of nodes.values()) await node.stop();
});

const chain = (chainId: number) => service.world.chains.on(chainId);
const market = marketOf(1, 'sUSDe/PYUSD 91.5');
const [vault] = equityChain().equityVaults;
if (!vault) throw new Error('the local world has vaults');
const open = { strategyId: market.id, payToken: market.collateral.address, amount: '100', leverage: 3 };
const loop = marketOf(4663, 'syrupUSDG/USDG 91.5');

/** Everything that is built for a wallet, by chain. */
const BUILDS: readonly (readonly [string, number, string, object])[] = [
  ['open', 1, OPEN, open],
  [
    'open',
    4663,
    OPEN,
    { strategyId: loop.id, payToken: loop.collateral.address, amount: '100', leverage: 3, chainId: 4663 },
  ],
  ['close', 1, MANAGE, { id: 0, action: 'close' }],
  ['close', 4663, MANAGE, { id: 0, action: 'close', chainId: 4663 }],
  ['deposit', 4663, DEPOSIT, { strategyId: vault.id, amount: '100' }],
  ['exit', 4663, EXIT, { strategyId: vault.id }],
];
const OWNERS: Readonly<Record<number, string>> = { 1: 'looper', 4663: 'shareholder' };
const ownerOn = (chainId: number): Address => seededWallet(OWNERS[chainId] ?? '').account.address;

/** The contracts that hold a wallet's positions, by position. */
async function proxiesOf(chainId: number, owner: Address): Promise<readonly Address[]> {
  const positions = await chain(chainId).client.readContract({
    address: chain(chainId).chain.contracts.flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'getUserLeveragePositions',
    args: [owner],
  });
  return positions.map(({ userProxy }) => userProxy);
}

/** Run something while an address has other code. */
async function withCode<T>(chainId: number, address: Address, bytecode: `0x${string}`, work: () => Promise<T>) {
  await chain(chainId).client.setCode({ address, bytecode });
  try {
    return await work();
  } finally {
    await chain(chainId).client.setCode({ address, bytecode: '0x' });
  }
}

/** Answers every call with one word that names an address: PUSH32, MSTORE at 0, RETURN 32 bytes. */
const saying = (address: Address): `0x${string}` =>
  `0x7f${address.slice(2).toLowerCase().padStart(64, '0')}60005260206000f3`;

describe('a position proxy as userAddress', () => {
  test.each(BUILDS)('error: PositionProxy for %s on chain %i names its owner', async (_what, chainId, path, body) => {
    const owner = ownerOn(chainId);
    const proxies = await proxiesOf(chainId, owner);
    expect(proxies.length).toBeGreaterThan(0);
    for (const [positionId, userAddress] of proxies.entries()) {
      const error = expectEnvelope(
        await service.post(path, { ...body, userAddress: userAddress.toLowerCase() }, PARTNER),
        400,
        'bad_request',
      );
      expect(error.details).toEqual({ field: 'body.userAddress', value: userAddress, owner, positionId });
      expect(error.message).toContain(owner);
    }
  });

  test('error: PositionProxy over GraphQL has its own refusal type', async () => {
    const owner = ownerOn(1);
    const [proxy] = await proxiesOf(1, owner);
    const { body } = await service.graphql(
      `mutation($wallet: Address!, $input: OpenLeverageInput!) { openLeveragePlan(wallet: $wallet, input: $input) {
        __typename ... on Refusal { code retryable retryAfterSec } ... on PositionProxyRefusal { message field proxy owner positionIndex } } }`,
      { ...openVariables({ ...open, leverage: 3, userAddress: proxy }) },
      PARTNER,
    );
    expect(body.data.openLeveragePlan).toEqual({
      __typename: 'PositionProxyRefusal',
      code: 'POSITION_PROXY',
      retryable: false,
      retryAfterSec: null,
      message: expect.stringMatching(/^wallet 0x/),
      field: 'wallet',
      proxy,
      owner,
      positionIndex: 0,
    });
  });

  test('behavior: builds for the named owner', async () => {
    const [proxy] = await proxiesOf(1, ownerOn(1));
    const refused = await service.post(MANAGE, { id: 0, action: 'close', userAddress: proxy }, PARTNER);
    const { owner, positionId } = refused.body.error.details;
    const built = await service.post(MANAGE, { id: positionId, action: 'close', userAddress: owner }, PARTNER);
    expect(built.status, built.text).toBe(200);
  });

  test('error: BadRequest for the implementation behind the proxies, which has no owner', async () => {
    for (const [_what, chainId, path, body] of BUILDS) {
      const { flashLeverage } = chain(chainId).chain.contracts;
      const userAddress = getContractAddress({ from: flashLeverage, nonce: 1n });
      const answer = await service.post(path, { ...body, userAddress }, PARTNER);
      const { details } = expectEnvelope(answer, 400, 'bad_request');
      expect(details).toEqual({ field: 'body.userAddress', value: userAddress });
    }
  });

  test('behavior: builds for a contract wallet, also one with a false owner or one that burns all gas', async () => {
    const userAddress = labelAddress('a wallet with code');
    // STOP: accepts every call with an empty answer. INVALID: burns all gas.
    for (const bytecode of ['0x00', '0xfe', saying(ownerOn(1)), saying(userAddress)] as const) {
      const answer = await withCode(1, userAddress, bytecode, () =>
        service.post(OPEN, { ...open, userAddress }, PARTNER),
      );
      expect([bytecode, answer.status, answer.body.error]).toEqual([bytecode, 200, undefined]);
    }
  });

  test('behavior: a wallet takes no additional request: newest block, market and wallet together, simulation', async () => {
    const node = nodes.get(1);
    const build = () => service.post(OPEN, { ...open, userAddress: labelAddress('somebody') }, PARTNER);
    // The first one looks for the token's balance slot.
    await build();
    node?.taken();
    expect((await build()).status).toBe(200);
    expect(node?.taken()).toBe(3);
  });
});

describe.each(CHAIN_IDS)('the positions of a position proxy on chain %i', (chainId) => {
  const read = async (address: string): Promise<Json> => {
    const { status, body } = await service.get(`/v1/partner/positions/${address}?chainId=${chainId}`, PARTNER);
    expect(status).toBe(200);
    expect(bodyViolation('walletPositions', body)).toBeNull();
    return body;
  };

  test('behavior: are empty', async () => {
    const owner = ownerOn(chainId);
    for (const proxy of await proxiesOf(chainId, owner)) {
      expect(await read(proxy.toLowerCase())).toEqual({
        chainId,
        userAddress: proxy,
        positions: [],
        equityPositions: [],
        leftAuthorizations: [],
      });
    }
  });

  test('behavior: GraphQL names the owner of a proxy; a wallet has none, with or without positions', async () => {
    const owner = ownerOn(chainId);
    const proxies = await proxiesOf(chainId, owner);
    const { body } = await service.graphql(
      'query($a: [Address!]!, $c: ChainId!) { wallets(addresses: $a, chainIds: [$c]) { onChains { proxyOf { owner positionId: positionIndex } } } }',
      { a: [...proxies, owner, labelAddress('somebody')], c: chainId },
      PARTNER,
    );
    const found = body.data.wallets.map((wallet: Json) => wallet.onChains[0].proxyOf);
    expect(found).toEqual([...proxies.map((_, positionId) => ({ owner, positionId })), null, null]);
  });

  test('behavior: asks many empty wallets for their owners in one call', async () => {
    const node = nodes.get(chainId);
    const [proxy] = await proxiesOf(chainId, ownerOn(chainId));
    const a = [...Array.from({ length: 50 }, (_, i) => labelAddress(`nobody ${i}`)), proxy];
    node?.taken();
    node?.calls();
    const { body } = await service.graphql(
      'query($a: [Address!]!, $c: ChainId!) { wallets(addresses: $a, chainIds: [$c]) { positions { nodes { id } } onChains { proxyOf { owner positionId: positionIndex } } } }',
      { a, c: chainId },
      PARTNER,
    );
    expect(body.errors).toBeUndefined();
    expect(body.data.wallets.filter((wallet: Json) => wallet.onChains[0].proxyOf !== null)).toEqual([
      { positions: { nodes: [] }, onChains: [{ proxyOf: { owner: ownerOn(chainId), positionId: 0 } }] },
    ]);
    // Block, arrays (stock legs and markets in two more where there are vaults); block, owners, and the positions of the one
    // owner that was named.
    expect(node?.taken()).toBeLessThanOrEqual(7);
    expect(node?.calls()).toBeLessThanOrEqual(10);
  });

  test('behavior: an address that burns all gas does not hide later proxies', async () => {
    const owner = ownerOn(chainId);
    const proxies = await proxiesOf(chainId, owner);
    const [hostile, other] = [labelAddress('burns gas'), labelAddress('burns gas too')];
    // JUMPDEST, PUSH1 0, JUMP: without an end.
    await withCode(chainId, hostile, '0x5b600056', () =>
      withCode(chainId, other, '0x5b600056', async () => {
        const { body } = await service.graphql(
          'query($a: [Address!]!, $c: ChainId!) { wallets(addresses: $a, chainIds: [$c]) { onChains { proxyOf { owner positionId: positionIndex } } } }',
          { a: [hostile, other, ...proxies], c: chainId },
          PARTNER,
        );
        const found = body.data.wallets.map((wallet: Json) => wallet.onChains[0].proxyOf);
        expect(found).toEqual([null, null, ...proxies.map((_, positionId) => ({ owner, positionId }))]);
      }),
    );
  });
});

describe('POST /v1/partner/manage/build by positionId', () => {
  const userAddress = seededWallet('looper').account.address;
  const read = async (chainId: number): Promise<Json> =>
    (await service.get(`/v1/partner/positions/${userAddress}?chainId=${chainId}`, PARTNER)).body;
  const manage = async (body: Json) => {
    const answer = await service.post(MANAGE, { userAddress, action: 'close', ...body }, PARTNER);
    return { status: answer.status, ...answer.body };
  };

  test('behavior: every open position is managed on its own chain', async () => {
    for (const chainId of CHAIN_IDS) {
      const { positions } = await read(chainId);
      const { positionId } = positions.find(({ open }: Json) => open);
      expect(await manage({ positionId })).toMatchObject({ status: 200, chainId, action: 'close' });
      expect(await manage({ positionId, chainId })).toMatchObject({ status: 200, chainId });
    }
  });

  test('error: BadRequest for a contradicting value', async () => {
    const [{ positionId }] = (await read(4663)).positions;
    const [, marketId, index] = positionId.split('-');
    const elsewhere = (await read(1)).positions[0].strategyId;
    const sibling = (await service.get('/v1/strategies?chainId=4663')).body.strategies.find(
      ({ id }: Json) => id.startsWith('0x') && id !== marketId,
    ).id;
    for (const [body, details] of [
      [
        { positionId, chainId: 1 },
        { field: 'body.chainId', value: '1', limit: { oneOf: [4663] } },
      ],
      [
        { positionId, id: 0 },
        { field: 'body.positionId', limit: { exactlyOneOf: ['positionId', 'id'] } },
      ],
      [{}, { field: 'body.positionId', limit: { exactlyOneOf: ['positionId', 'id'] } }],
      [{ positionId: `4663-${sibling}-${index}` }, { field: 'body.positionId', value: `4663-${sibling}-${index}` }],
      [{ positionId: `4663-${elsewhere}-${index}` }, { field: 'body.positionId', value: `4663-${elsewhere}-${index}` }],
      [{ positionId: `10-${marketId}-${index}` }, { field: 'body.positionId', value: `10-${marketId}-${index}` }],
      [{ positionId: `4663-${marketId}-777` }, { field: 'body.positionId', value: `4663-${marketId}-777` }],
      [{ positionId: `4663-${marketId}-01` }, { field: 'body.positionId', value: `4663-${marketId}-01` }],
    ]) {
      const refused = await manage(body);
      expect(refused).toMatchObject({ status: 400, error: { code: 'bad_request', details } });
      expect(refused.error.message).not.toContain('input.');
    }
  });
});
