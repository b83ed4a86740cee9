import { type Address, getContractAddress, type Hex, parseAbi } from 'viem';
import { expect, test } from 'vitest';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { seededWallets } from '../../devnet/seed/wallets.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageAbi, userProxyAbi } from '../../src/abi/flash-leverage.ts';
import { alice, callBuilder, leverageCall, mallory, OWNER, useWorld } from './world.ts';

const localProxyAbi = parseAbi([
  'function initialize(address user)',
  'function execute(bytes data) returns (bytes)',
  'function enableManualMode()',
  'function recover(address token)',
]);
const morphoAbi = parseAbi([
  'struct MarketParams { address loanToken; address collateralToken; address oracle; address irm; uint256 lltv; }',
  'function withdrawCollateral(MarketParams marketParams, uint256 assets, address onBehalf, address receiver)',
]);
const proxyCall = callBuilder(localProxyAbi);

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

test('nonce 1 is the implementation, owned by FlashLeverage itself', async () => {
  const { client, flashLeverage } = world();
  const [implementation] = await createdContracts();
  const named = await client.readContract({
    address: flashLeverage,
    abi: flashLeverageAbi,
    functionName: 'i_userProxyImplementation',
  });
  expect(named).toBe(implementation);
  expect(await ownerOf(named)).toBe(flashLeverage);
});

test('nonces find every wallet with a position, without logs', async () => {
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

test('error: a proxy accepts only FlashLeverage and one initialization', async () => {
  await world().open(alice, 'sUSDe/PYUSD 91.5', world().units('sUSDe', '1000'), '80');
  const { userProxy } = await world().position(alice);
  const { flashLeverage } = world();
  const call = (from: Address, data: Hex, to = userProxy) => world().refusal({ from, to, data });
  const says = (reason: string) => ({ name: 'Error', args: [`UserProxy: ${reason}`] });
  const [implementation = userProxy] = await createdContracts();
  for (const to of [userProxy, implementation]) {
    expect(await call(mallory, proxyCall('initialize', [mallory]), to)).toEqual(says('Already Initialized'));
  }
  expect(await call(mallory, proxyCall('execute', ['0x']))).toEqual(says('Unauthorised'));
  expect(await call(alice, proxyCall('execute', ['0x']))).toEqual(says('Not in manual Mode'));
  expect(await call(flashLeverage, proxyCall('execute', ['0x']))).toEqual(says('Call Failed'));
  expect(await call(alice, proxyCall('enableManualMode', []))).toEqual(says('Unauthorised'));
  const token = world().chain.token('PYUSD').address;
  expect(await call(mallory, proxyCall('recover', [token]))).toEqual(says('Unauthorised'));
});

test('behavior: in manual mode only its user can act through the proxy', async () => {
  await world().open(alice, 'sUSDe/PYUSD 91.5', world().units('sUSDe', '1000'), '80');
  const { userProxy, marketId, collateral } = await world().position(alice);
  const { chain, flashLeverage, send, refusal, position } = world();
  await chain.call(OWNER, flashLeverage, 'FlashLeverage', 'enableManualMode', [userProxy]);
  const borrow = leverageCall('borrow', [0n, 1n]);
  expect(await refusal({ from: alice, to: flashLeverage, data: borrow })).toEqual({
    name: 'Error',
    args: ['UserProxy: Manual Mode Enabled'],
  });
  const params = marketParams(chain.market(marketId));
  const args = [params, 1n, userProxy, alice] as const;
  const withdraw = encodeFunctionData({ abi: morphoAbi, functionName: 'withdrawCollateral', args });
  await send({ from: alice, to: userProxy, data: proxyCall('execute', [withdraw]) });
  expect((await position(alice)).collateral).toBe(collateral - 1n);
});

test('behavior: tokens sent to the proxy go to its user', async () => {
  await world().open(alice, 'sUSDe/PYUSD 91.5', world().units('sUSDe', '1000'), '80');
  const { userProxy } = await world().position(alice);
  const { chain, balance, send } = world();
  await chain.mint('PYUSD', userProxy, 5n);
  const before = await balance('PYUSD', alice);
  await send({ from: alice, to: userProxy, data: proxyCall('recover', [chain.token('PYUSD').address]) });
  expect((await balance('PYUSD', alice)) - before).toBe(5n);
});
