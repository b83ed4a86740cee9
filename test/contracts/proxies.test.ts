import { type Address, getContractAddress } from 'viem';
import { expect, test } from 'vitest';
import { seededWallets } from '../../devnet/seed/wallets.ts';
import { flashLeverageAbi, userProxyAbi } from '../../src/abi/flash-leverage.ts';
import { alice, mallory, useWorld } from './world.ts';

const world = useWorld(1);

async function createdContracts(): Promise<Address[]> {
  const { client, flashLeverage } = world();
  const next = await client.getTransactionCount({ address: flashLeverage });
  return Array.from({ length: next - 1 }, (_, index) =>
    getContractAddress({ from: flashLeverage, nonce: BigInt(index + 1) }),
  );
}

const ownerOf = (proxy: Address) =>
  world().client.readContract({ address: proxy, abi: userProxyAbi, functionName: 's_user' });

test('nonce 1 is the implementation, which has no owner', async () => {
  const { client, flashLeverage } = world();
  const [implementation] = await createdContracts();
  const named = await client.readContract({
    address: flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'i_proxyImplementation',
  });
  expect(named).toBe(implementation);
  expect(await ownerOf(named)).toBe('0x0000000000000000000000000000000000000000');
});

test('every wallet with a position is found by the nonces, without a log', async () => {
  const [, ...proxies] = await createdContracts();
  const owners = new Set(await Promise.all(proxies.map(ownerOf)));
  const seeded = seededWallets.filter(({ entries }) => entries.some(({ chainId }) => chainId === 1));
  expect([...owners].sort()).toEqual(seeded.map(({ account }) => account.address).sort());
});

test('a new position takes the next nonce and its proxy belongs to the user', async () => {
  const before = await createdContracts();
  await world().open(alice, 'sUSDe/PYUSD 91.5', world().units('sUSDe', '1000'), '80');
  await world().open(alice, 'weETH/WETH 94.5', world().units('weETH', '1'), '80');
  const created = (await createdContracts()).slice(before.length);
  expect((await world().positions(alice)).map(({ userProxy }) => userProxy)).toEqual(created);
  expect(await Promise.all(created.map(ownerOf))).toEqual([alice, alice]);
});

test('a refused position takes no nonce', async () => {
  const before = await createdContracts();
  await expect(world().open(alice, 'sUSDe/PYUSD 91.5', world().units('sUSDe', '1000'), '91.4')).rejects.toThrow();
  expect(await createdContracts()).toEqual(before);
});

test('error: a proxy listens to FlashLeverage only, and only once', async () => {
  await world().open(alice, 'sUSDe/PYUSD 91.5', world().units('sUSDe', '1000'), '80');
  const { userProxy } = await world().position(alice);
  const { client, flashLeverage } = world();
  const initialize = (account: Address, address: Address) =>
    client.simulateContract({ account, address, abi: userProxyAbi, functionName: 'initialize', args: [mallory] });
  await expect(initialize(mallory, userProxy)).rejects.toThrow(/NotFlashLeverage/);
  await expect(initialize(flashLeverage, userProxy)).rejects.toThrow(/AlreadyInitialized/);
  const [implementation] = await createdContracts();
  await expect(initialize(mallory, implementation ?? userProxy)).rejects.toThrow(/NotFlashLeverage/);
});
