import { fetchMarket, fetchVaultMarketPublicAllocatorConfig } from '@morpho-org/blue-sdk-viem';
import { type Address, decodeErrorResult, type Hex, parseAbi, parseUnits } from 'viem';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compileContracts } from '../../devnet/chain/compile.ts';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { encode } from '../../devnet/chain/encode.ts';
import { accounts } from '../../devnet/chain/index.ts';
import { OWNER } from '../../devnet/seed/accounts.ts';
import { marketKey } from '../../devnet/seed/markets.ts';
import { vaultSeeds } from '../../devnet/seed/vaults.ts';
import type { Market } from '../../src/catalog/index.ts';
import { sdkId, useChains } from './world.ts';

const on = useChains([1]);
const artifacts = await compileContracts();
const [anyone] = accounts.map(({ address }) => address) as [Address];
const [vault] = vaultSeeds.filter(({ symbol }) => symbol === 'lcFrontierUSDC') as [(typeof vaultSeeds)[number]];
const usdc = (amount: string) => parseUnits(amount, 6);
const allocatorAbi = parseAbi([
  'function fee(address vault) view returns (uint256)',
  'function accruedFee(address vault) view returns (uint256)',
]);
const vaultAbi = parseAbi(['function totalAssets() view returns (uint256)']);

let snapshot: Hex = '0x';
beforeEach(async () => {
  snapshot = await on(1).snapshot();
});
afterEach(() => on(1).revert(snapshot));

interface Move {
  readonly from: Market;
  readonly amount: bigint;
}

const allocator = (): Address => {
  const { publicAllocator } = on(1).chain.contracts;
  if (publicAllocator === undefined) throw new Error('Chain 1 has a public allocator');
  return publicAllocator;
};
const named = (key: string): Market => {
  const market = on(1).chain.markets.find((candidate) => marketKey(candidate) === key);
  if (market === undefined) throw new Error(`No market ${key}`);
  return market;
};
const capsOf = async (market: Market) => {
  const caps = await fetchVaultMarketPublicAllocatorConfig(vault.address, sdkId(market), on(1).client, { chainId: 1 });
  if (caps === undefined) throw new Error('The SDK knows the public allocator of chain 1');
  return caps;
};
const liquidityOf = async (market: Market) => {
  const state = await fetchMarket(sdkId(market), on(1).client, { chainId: 1 });
  return state.totalSupplyAssets - state.totalBorrowAssets;
};
const data = (moves: readonly Move[], to: Market): Hex => {
  const withdrawals = moves.map(({ from, amount }) => ({ marketParams: marketParams(from), amount }));
  return encode(artifacts, 'PublicAllocator', 'reallocateTo', [vault.address, withdrawals, marketParams(to)]);
};
const sorted = (moves: readonly Move[]) => [...moves].sort((a, b) => (a.from.id < b.from.id ? -1 : 1));
const reallocate = (moves: readonly Move[], to: Market, value = vault.feeWei) =>
  on(1).send({ from: anyone, to: allocator(), data: data(moves, to), value });
/** Name the error that a reallocation reverts with. */
const refusal = async (moves: readonly Move[], to: Market, value = vault.feeWei): Promise<string> => {
  const [answer] = await on(1).client.simulateBlocks({
    blocks: [{ calls: [{ account: anyone, to: allocator(), data: data(moves, to), value }] }],
  });
  const result = answer?.calls[0];
  if (result === undefined || result.status === 'success') return 'none';
  const abi = [...(artifacts.PublicAllocator?.abi ?? []), ...(artifacts.Vault?.abi ?? [])];
  return decodeErrorResult({ abi, data: result.data }).errorName;
};

describe('PublicAllocator.reallocateTo', () => {
  it('default: anyone can move liquidity for the fee, and the caps change by the flow', async () => {
    const [target, a, b] = [named('siUSD/USDC 91.5'), named('WBTC/USDC 86'), named('reUSD/USDC 91.5')];
    const moves = sorted([
      { from: a, amount: usdc('2000000') },
      { from: b, amount: usdc('500000') },
    ]);
    const total = usdc('2500000');
    const [liquidity, capsBefore, capsOfA] = await Promise.all([liquidityOf(target), capsOf(target), capsOf(a)]);
    const { client } = on(1);
    const assetsBefore = await client.readContract({
      address: vault.address,
      abi: vaultAbi,
      functionName: 'totalAssets',
    });
    await reallocate(moves, target);

    const accrued = (await liquidityOf(target)) - liquidity - total;
    expect(accrued).toBeGreaterThanOrEqual(-1n); // interest does not change liquidity, rounding may by a unit
    expect(accrued).toBeLessThanOrEqual(1n);
    expect(await capsOf(target)).toMatchObject({ maxIn: capsBefore.maxIn - total, maxOut: capsBefore.maxOut + total });
    expect(await capsOf(a)).toMatchObject({
      maxIn: capsOfA.maxIn + usdc('2000000'),
      maxOut: capsOfA.maxOut - usdc('2000000'),
    });
    const assets = await client.readContract({ address: vault.address, abi: vaultAbi, functionName: 'totalAssets' });
    expect(assets).toBeGreaterThanOrEqual(assetsBefore);
    const args = [vault.address] as const;
    const read = { address: allocator(), abi: allocatorAbi, args } as const;
    expect(await client.readContract({ ...read, functionName: 'fee' })).toBe(vault.feeWei);
    expect(await client.readContract({ ...read, functionName: 'accruedFee' })).toBe(vault.feeWei);
  });

  it('error: IncorrectFee for too little and too much', async () => {
    const moves = [{ from: named('WBTC/USDC 86'), amount: 1n }];
    expect(await refusal(moves, named('siUSD/USDC 91.5'), vault.feeWei - 1n)).toBe('IncorrectFee');
    expect(await refusal(moves, named('siUSD/USDC 91.5'), vault.feeWei + 1n)).toBe('IncorrectFee');
  });

  it('error: InconsistentWithdrawals unless sorted by market id, each once', async () => {
    const target = named('siUSD/USDC 91.5');
    const moves = sorted([
      { from: named('WBTC/USDC 86'), amount: 1n },
      { from: named('reUSD/USDC 91.5'), amount: 1n },
    ]);
    expect(await refusal(moves, target)).toBe('none');
    expect(await refusal([...moves].reverse(), target)).toBe('InconsistentWithdrawals');
    expect(await refusal(moves.slice(0, 1).concat(moves.slice(0, 1)), target)).toBe('InconsistentWithdrawals');
  });

  it('error: MaxOutflowExceeded and MaxInflowExceeded one unit above the caps', async () => {
    const [from, to] = [named('WBTC/USDC 86'), named('siUSD/USDC 91.5')];
    const { maxOut } = await capsOf(from);
    expect(await refusal([{ from, amount: maxOut + 1n }], to)).toBe('MaxOutflowExceeded');
    const { maxIn } = await capsOf(to);
    expect(await refusal([{ from, amount: maxIn }], to)).toBe('none');
    expect(await refusal([{ from, amount: maxIn + 1n }], to)).toBe('MaxInflowExceeded');
  });

  it('error: an unknown market, an empty list, zero, and the target itself', async () => {
    const [from, to] = [named('WBTC/USDC 86'), named('siUSD/USDC 91.5')];
    expect(await refusal([{ from: named('cbBTC/USDC 86'), amount: 1n }], to)).toBe('MarketNotEnabled');
    expect(await refusal([{ from, amount: 1n }], named('cbBTC/USDC 86'))).toBe('MarketNotEnabled');
    expect(await refusal([], to)).toBe('EmptyWithdrawals');
    expect(await refusal([{ from, amount: 0n }], to)).toBe('WithdrawZero');
    expect(await refusal([{ from: to, amount: 1n }], to)).toBe('DepositMarketInWithdrawals');
  });
});

describe('Vault', () => {
  it('default: returns deposits', async () => {
    const { call, mint, token, client } = on(1);
    const asset = token('USDC');
    await mint(asset, OWNER, usdc('1000'));
    const before = await client.readContract({ address: vault.address, abi: vaultAbi, functionName: 'totalAssets' });
    await call(OWNER, vault.address, 'Vault', 'deposit', [usdc('1000'), OWNER]);
    const after = await client.readContract({ address: vault.address, abi: vaultAbi, functionName: 'totalAssets' });
    expect(after - before).toBeGreaterThanOrEqual(usdc('1000') - 1n);
    await call(OWNER, vault.address, 'Vault', 'withdraw', [usdc('999'), anyone, OWNER]);
  });

  it('error: only the owner and allocators move liquidity between markets', async () => {
    const allocations = [{ marketParams: marketParams(named('siUSD/USDC 91.5')), assets: 0n }];
    await expect(on(1).call(anyone, vault.address, 'Vault', 'reallocate', [allocations])).rejects.toThrow();
  });
});
