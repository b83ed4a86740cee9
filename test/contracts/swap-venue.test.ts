import { type Address, zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';
import { venueSeeds } from '../../devnet/seed/venues.ts';
import type { SwapSource } from '../../src/catalog/index.ts';
import { alice, mallory, OWNER, useWorld, venueCall } from './world.ts';

const world = useWorld(1);

function venue(source: SwapSource = 'AggregatorOne'): Address {
  const [address] = world().row.swapRouters[source] ?? [];
  if (address === undefined) throw new Error(`No venue for ${source}`);
  return address;
}

async function quote(tokenIn: string, tokenOut: string, amountIn: bigint, at = venue()) {
  const { client, chain } = world();
  const args = [chain.token(tokenIn).address, chain.token(tokenOut).address, amountIn] as const;
  const [amountOut, impactBps] = await client.readContract({
    address: at,
    abi: swapVenueAbi,
    functionName: 'quote',
    args,
  });
  return { amountOut, impactBps };
}

describe('quote', () => {
  test('default: the oracle price less the fee for the pair of a market', async () => {
    const { units, chain, market } = world();
    const amountIn = units('sUSDe', '100');
    const atOracle = (amountIn * (await chain.oraclePrice(market('sUSDe/PYUSD 91.5')))) / 10n ** 36n;
    const { amountOut, impactBps } = await quote('sUSDe', 'PYUSD', amountIn);
    const lossBps = Number(((atOracle - amountOut) * 1_000_000n) / atOracle) / 100;
    expect(lossBps).toBeCloseTo(Number(venueSeeds.AggregatorOne.feeBps), 1);
    expect(impactBps).toBe(0n);
  });

  test('behavior: a round trip loses exactly two fees', async () => {
    const amountIn = world().units('weETH', '1');
    const { amountOut } = await quote('weETH', 'WETH', amountIn);
    const { amountOut: back } = await quote('WETH', 'weETH', amountOut);
    expect(Number(((amountIn - back) * 100_000n) / amountIn) / 10).toBeCloseTo(6.2, 0);
  });

  test.each([
    ['cbBTC', 'USDC', '1'],
    ['wstETH', 'USDT', '10'],
    ['ETH', 'sUSDe', '1'],
    ['USDT', 'PT-sUSDe', '1000'],
    ['DAI', 'WBTC', '50000'],
  ])('behavior: %s to %s keeps the USD value for any decimals', async (tokenIn, tokenOut, amount) => {
    const { chain, client, units } = world();
    const name = chain.chain.tokens.find(({ symbol }) => symbol.startsWith(tokenOut))?.symbol ?? tokenOut;
    const amountIn = units(tokenIn, amount);
    const { amountOut } = await quote(tokenIn, name, amountIn);
    const usd = async (symbol: string, value: bigint) => {
      const { address, decimals } = chain.token(symbol);
      const price = await client.readContract({
        address: venue(),
        abi: swapVenueAbi,
        functionName: 'priceOf',
        args: [address],
      });
      return (Number(value) / 10 ** decimals) * (Number(price) / 1e18);
    };
    const [before, after] = [await usd(tokenIn, amountIn), await usd(name, amountOut)];
    expect(after).toBeLessThan(before);
    expect(after).toBeGreaterThan(before * 0.985);
  });

  test('behavior: follows a moving oracle', async () => {
    const { chain, market, units } = world();
    const before = await quote('sUSDe', 'PYUSD', units('sUSDe', '100'));
    await chain.moveOracle(market('sUSDe/PYUSD 91.5'), '-10');
    const after = await quote('sUSDe', 'PYUSD', units('sUSDe', '100'));
    expect(Number((after.amountOut * 10_000n) / before.amountOut)).toBeCloseTo(9_000, -1);
  });

  test('behavior: a larger size loses more, and the first aggregator is deeper than the second', async () => {
    const { units } = world();
    const [small, large] = [units('sUSDe', '1000'), units('sUSDe', '4000000')];
    const [one, two] = [venue('AggregatorOne'), venue('AggregatorTwo')];
    expect((await quote('sUSDe', 'PYUSD', large, one)).impactBps).toBeGreaterThan(15n);
    expect((await quote('sUSDe', 'PYUSD', small, two)).amountOut).toBeGreaterThan(
      (await quote('sUSDe', 'PYUSD', small, one)).amountOut,
    );
    expect((await quote('sUSDe', 'PYUSD', large, two)).amountOut).toBeLessThan(
      (await quote('sUSDe', 'PYUSD', large, one)).amountOut,
    );
  });

  test('error: NoRoute for a token without a price', async () => {
    const { chain, refusal, units } = world();
    const [tokenIn, tokenOut] = [chain.token('sNUSD').address, chain.token('USDC').address];
    const data = venueCall('quote', [tokenIn, tokenOut, units('sNUSD', '1')]);
    expect(await refusal({ from: alice, to: venue(), data })).toEqual({ name: 'NoRoute', args: [tokenIn, tokenOut] });
  });

  test('error: SizeBeyondDepth', async () => {
    const { chain, refusal, units } = world();
    const args = [chain.token('sDOLA').address, chain.token('frxUSD').address, units('sDOLA', '6000000')] as const;
    const refused = await refusal({ from: alice, to: venue(), data: venueCall('quote', args) });
    expect(refused?.name).toBe('SizeBeyondDepth');
  });
});

describe('swap', () => {
  async function prepare(tokenIn: string, tokenOut: string, amount: string) {
    const { chain, units, approve } = world();
    const amountIn = units(tokenIn, amount);
    const [paid, bought] = [chain.token(tokenIn), chain.token(tokenOut)];
    if (!paid.isNative) await approve(tokenIn, alice, venue(), amountIn);
    const { amountOut } = await quote(tokenIn, tokenOut, amountIn);
    const call = (minOut: bigint) => ({
      from: alice,
      to: venue(),
      data: venueCall('swap', [paid.address, bought.address, amountIn, minOut, mallory]),
      value: paid.isNative ? amountIn : 0n,
    });
    return { amountIn, amountOut, call };
  }

  test.each([
    ['USDC', 'sUSDe', '1000'],
    ['USDT', 'sUSDS', '1000'],
    ['sUSDS', 'USDT', '1000'],
    ['ETH', 'wstETH', '3'],
    ['WETH', 'ETH', '3'],
  ])('default: %s to %s pays exactly the quote to the recipient', async (tokenIn, tokenOut, amount) => {
    const { amountOut, call } = await prepare(tokenIn, tokenOut, amount);
    const before = await world().balance(tokenOut, mallory);
    await world().send(call(amountOut));
    expect((await world().balance(tokenOut, mallory)) - before).toBe(amountOut);
  });

  test('error: OutputBelowMinimum', async () => {
    const { amountOut, call } = await prepare('USDC', 'sUSDe', '1000');
    expect(await world().refusal(call(amountOut + 1n))).toEqual({
      name: 'OutputBelowMinimum',
      args: [amountOut, amountOut + 1n],
    });
  });

  test('error: WrongValue', async () => {
    const { amountIn, call } = await prepare('ETH', 'wstETH', '3');
    const refused = await world().refusal({ ...call(0n), value: amountIn - 1n });
    expect(refused).toEqual({ name: 'WrongValue', args: [amountIn - 1n, amountIn] });
    const paid = await prepare('USDC', 'sUSDe', '1000');
    expect((await world().refusal({ ...paid.call(0n), value: 1n }))?.name).toBe('WrongValue');
  });
});

describe('swapWithFee', () => {
  test.each([
    ['USDC', 'sUSDe', '1000'],
    ['ETH', 'wstETH', '3'],
  ])('default: %s pays the fee first', async (tokenIn, tokenOut, amount) => {
    const { chain, units, approve, balance, send } = world();
    const amountIn = units(tokenIn, amount);
    const fee = (amountIn * 25n) / 10_000n;
    const { amountOut } = await quote(tokenIn, tokenOut, amountIn - fee);
    const [paid, bought] = [chain.token(tokenIn), chain.token(tokenOut)];
    if (!paid.isNative) await approve(tokenIn, alice, venue(), amountIn);
    const before = await balance(tokenIn, mallory);
    const args = [paid.address, bought.address, amountIn, amountOut, alice, 25n, mallory] as const;
    await send({
      from: alice,
      to: venue(),
      data: venueCall('swapWithFee', args),
      value: paid.isNative ? amountIn : 0n,
    });
    expect((await balance(tokenIn, mallory)) - before).toBe(fee);
  });

  test('error: FeeTooHigh', async () => {
    const args = [zeroAddress, zeroAddress, 1n, 0n, alice, 501n, mallory] as const;
    const refused = await world().refusal({ from: alice, to: venue(), data: venueCall('swapWithFee', args) });
    expect(refused).toEqual({ name: 'FeeTooHigh', args: [501n] });
  });
});

describe('owner functions', () => {
  test('error: NotOwner', async () => {
    for (const data of [
      venueCall('setFee', [1n]),
      venueCall('setPrices', [[]]),
      venueCall('followOracles', [[]]),
      venueCall('withdraw', [zeroAddress, 1n, mallory]),
    ]) {
      expect(await world().refusal({ from: mallory, to: venue(), data })).toEqual({
        name: 'NotOwner',
        args: [mallory],
      });
    }
  });

  test('error: FeeTooHigh', async () => {
    const refused = await world().refusal({ from: OWNER, to: venue(), data: venueCall('setFee', [501n]) });
    expect(refused?.name).toBe('FeeTooHigh');
  });
});
