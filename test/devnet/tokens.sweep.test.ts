import { type Abi, type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi, parseEther } from 'viem';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accounts } from '../../devnet/chain/index.ts';
import { useChains } from './world.ts';

const on = useChains([1]);
const [alice, bob] = accounts.map(({ address }) => address) as [Address, Address];
const usdtAbi = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function transfer(address to, uint256 amount)',
]);
const wethAbi = parseAbi(['function deposit() payable', 'function withdraw(uint256 amount)']);
const testTokenAbi = parseAbi(['function mint(address to, uint256 amount)', 'error NotOwner()']);

let snapshot: Hex = '0x';
beforeEach(async () => {
  snapshot = await on(1).snapshot();
});
afterEach(() => on(1).revert(snapshot));

const address = (symbol: string): Address => on(1).token(symbol).address;
const balance = (symbol: string, of: Address) =>
  on(1).client.readContract({ address: address(symbol), abi: erc20Abi, functionName: 'balanceOf', args: [of] });
const call = (symbol: string, abi: Abi, functionName: string, args: readonly unknown[], value = 0n) =>
  on(1).send({
    from: alice,
    to: address(symbol),
    data: encodeFunctionData({ abi, functionName, args: [...args] }),
    value,
  });

describe('UsdtLikeToken', () => {
  it('default: moves without returning a bool', async () => {
    const data = encodeFunctionData({ abi: usdtAbi, functionName: 'transfer', args: [bob, 5n] });
    const before = await balance('USDT', bob);
    expect((await on(1).client.call({ account: alice, to: address('USDT'), data })).data).toBeUndefined();
    await call('USDT', usdtAbi, 'transfer', [bob, 5n]);
    expect(await balance('USDT', bob)).toBe(before + 5n);
  });

  it('error: refuses to change a non-zero allowance to another non-zero one', async () => {
    await call('USDT', usdtAbi, 'approve', [bob, 1n]);
    await expect(call('USDT', usdtAbi, 'approve', [bob, 2n])).rejects.toThrow();
    await call('USDT', usdtAbi, 'approve', [bob, 0n]);
    await call('USDT', usdtAbi, 'approve', [bob, 2n]);
  });
});

describe('TestToken', () => {
  it('default: an ordinary token may change its allowance at once', async () => {
    await call('USDC', erc20Abi, 'approve', [bob, 1n]);
    await call('USDC', erc20Abi, 'approve', [bob, 2n]);
    const args = [alice, bob] as const;
    const allowance = { address: address('USDC'), abi: erc20Abi, functionName: 'allowance', args } as const;
    expect(await on(1).client.readContract(allowance)).toBe(2n);
  });

  it('error: only the owner mints', async () => {
    await expect(call('USDC', testTokenAbi, 'mint', [alice, 1n])).rejects.toThrow();
  });

  it('error: refuses to spend more than the allowance or the balance', async () => {
    await expect(call('USDC', erc20Abi, 'transferFrom', [bob, alice, 1n])).rejects.toThrow();
    await expect(call('USDC', erc20Abi, 'transfer', [bob, 2n ** 128n])).rejects.toThrow();
  });
});

describe('WrappedEther', () => {
  it('default: wraps and unwraps one to one', async () => {
    const before = await balance('WETH', alice);
    await call('WETH', wethAbi, 'deposit', [], parseEther('3'));
    expect(await balance('WETH', alice)).toBe(before + parseEther('3'));
    const ether = await on(1).client.getBalance({ address: alice });
    await call('WETH', wethAbi, 'withdraw', [before + parseEther('3')]);
    expect(await balance('WETH', alice)).toBe(0n);
    // All of it, the seeded balance too, less a little gas.
    expect(await on(1).client.getBalance({ address: alice })).toBeGreaterThan(ether + before);
  });
});
