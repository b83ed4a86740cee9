import { type Address, type Hex, parseEther, parseEventLogs, zeroAddress } from 'viem';
import { beforeEach, describe, expect, test } from 'vitest';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';
import { deploy } from './hostile-router.ts';
import { alice, mallory, useWorld, venueCall } from './world.ts';

/** A venue of its own with odd prices, so that each rounding shows. */
const WAD = 10n ** 18n;
const FEE_BPS = 30n;
const DEPTH = 1_000_000n * WAD;
const USD = { USDC: 1_000_000_000_000_000_007n, DAI: 999_999_999_999_999_989n, ETH: 2_500n * WAD + 1n } as const;

const world = useWorld(1);
let venue: Address;

const tokenOf = (symbol: string): Address => world().chain.token(symbol).address;
const owner = (data: Hex) => world().send({ from: mallory, to: venue, data });
const priced = (symbol: keyof typeof USD, depthUsd = 0n) => ({
  token: tokenOf(symbol),
  usdPerToken: USD[symbol],
  depthUsd,
});
const quote = (tokenIn: string, tokenOut: string, amountIn: bigint) =>
  world().client.readContract({
    address: venue,
    abi: swapVenueAbi,
    functionName: 'quote',
    args: [tokenOf(tokenIn), tokenOf(tokenOut), amountIn],
  });
const refusalOf = (data: Hex, value = 0n, from: Address = alice) => world().refusal({ from, to: venue, data, value });
const afterFee = (amount: bigint) => (amount * (10_000n - FEE_BPS)) / 10_000n;

beforeEach(async () => {
  venue = await deploy(world(), 'SwapVenue', [mallory, FEE_BPS]);
  await owner(venueCall('setPrices', [[priced('USDC'), priced('DAI'), priced('ETH')]]));
});

describe('quote', () => {
  test.each([
    ['USDC', 'DAI', 1_234_567n],
    ['DAI', 'USDC', 1_234_567_890_123_456_789n],
    ['ETH', 'USDC', 777_777_777_777_777_777n],
    ['USDC', 'ETH', 999_999n],
  ] as const)('default: %s to %s by USD prices, each step rounded down', async (tokenIn, tokenOut, amountIn) => {
    const unit = (symbol: string) => 10n ** BigInt(world().chain.token(symbol).decimals);
    const usd = (amountIn * USD[tokenIn]) / unit(tokenIn);
    expect(await quote(tokenIn, tokenOut, amountIn)).toEqual([afterFee((usd * unit(tokenOut)) / USD[tokenOut]), 0n]);
  });

  test('behavior: the pair of a followed oracle has its price in both directions, each step rounded down', async () => {
    const { chain, market } = world();
    const { oracle, id } = market('sUSDe/PYUSD 91.5');
    await owner(venueCall('followOracles', [[{ base: tokenOf('sUSDe'), quote: tokenOf('USDC'), oracle }]]));
    // It values a whole token in units of the quote token, at the price of that.
    const price = 1_200_000_000_000_000_000_000_007n;
    await chain.setOraclePrice(id, price);
    const valued = ((price * WAD) / WAD) * USD.USDC;
    const own = await world().client.readContract({
      address: venue,
      abi: swapVenueAbi,
      functionName: 'priceOf',
      args: [tokenOf('sUSDe')],
    });
    expect(own).toBe(valued / 10n ** 6n / WAD);
    const sold = 1_234_567_890_123_456_789n;
    expect(await quote('sUSDe', 'USDC', sold)).toEqual([afterFee((sold * price) / 10n ** 36n), 0n]);
    const bought = 7_654_321n;
    expect(await quote('USDC', 'sUSDe', bought)).toEqual([afterFee((bought * 10n ** 36n) / price), 0n]);
    // The first followed oracle values a token; a later one is for its own pair.
    const other = market('sUSDe/DAI 86');
    await owner(
      venueCall('followOracles', [[{ base: tokenOf('sUSDe'), quote: tokenOf('DAI'), oracle: other.oracle }]]),
    );
    await chain.setOraclePrice(other.id, 10n ** 36n);
    expect(
      await world().client.readContract({
        address: venue,
        abi: swapVenueAbi,
        functionName: 'priceOf',
        args: [tokenOf('sUSDe')],
      }),
    ).toBe(own);
    expect((await quote('sUSDe', 'DAI', sold))[0]).toBe(afterFee(sold));
  });

  test('behavior: a percent of impact per depth on each side, up to a half', async () => {
    await owner(venueCall('setPrices', [[priced('USDC', DEPTH), priced('DAI', DEPTH * 3n)]]));
    const amountIn = 1_500_000_123_456n;
    const usd = (amountIn * USD.USDC) / 10n ** 6n;
    const impact = (usd * (WAD / 100n)) / DEPTH + (usd * (WAD / 100n)) / (DEPTH * 3n);
    const plain = afterFee((usd * WAD) / USD.DAI);
    expect(await quote('USDC', 'DAI', amountIn)).toEqual([(plain * (WAD - impact)) / WAD, impact / 10n ** 14n]);
    await owner(venueCall('setPrices', [[{ ...priced('USDC', DEPTH), usdPerToken: WAD }, priced('DAI')]]));
    const half = 50_000_000n * 10n ** 6n;
    expect((await quote('USDC', 'DAI', half))[1]).toBe(5_000n);
    const data = venueCall('quote', [tokenOf('USDC'), tokenOf('DAI'), half + 1n]);
    expect(await refusalOf(data)).toEqual({ name: 'SizeBeyondDepth', args: [WAD / 2n + 10_000n] });
  });

  test('error: NoRoute between a token and itself, and for either token without a price', async () => {
    for (const [tokenIn, tokenOut] of [
      ['USDC', 'USDC'],
      ['USDT', 'USDC'],
      ['USDC', 'USDT'],
    ] as const) {
      const refused = await refusalOf(venueCall('quote', [tokenOf(tokenIn), tokenOf(tokenOut), 1n]));
      expect(refused).toEqual({ name: 'NoRoute', args: [tokenOf(tokenIn), tokenOf(tokenOut)] });
    }
  });
});

describe('swap', () => {
  test('default: emits an event of the swap', async () => {
    const { chain, approve, units, send } = world();
    await chain.mint('DAI', venue, units('DAI', '100'));
    await approve('USDC', alice, venue, 5_000_000n);
    const [amountOut] = await quote('USDC', 'DAI', 5_000_000n);
    const data = venueCall('swap', [tokenOf('USDC'), tokenOf('DAI'), 5_000_000n, amountOut, alice]);
    const { logs } = await send({ from: alice, to: venue, data });
    const [event] = parseEventLogs({ abi: swapVenueAbi, logs, eventName: 'Swapped' });
    expect(event?.args).toEqual({
      sender: alice,
      tokenIn: tokenOf('USDC'),
      tokenOut: tokenOf('DAI'),
      amountIn: 5_000_000n,
      amountOut,
    });
  });

  test('error: NativeTransferFailed to a recipient that takes none', async () => {
    const { client, approve } = world();
    await client.setBalance({ address: venue, value: parseEther('1') });
    await approve('USDC', alice, venue, 5_000_000n);
    const to = tokenOf('DAI');
    const data = venueCall('swap', [tokenOf('USDC'), zeroAddress, 5_000_000n, 0n, to]);
    expect((await refusalOf(data))?.name).toBe('NativeTransferFailed');
  });

  test('behavior: a referral fee of 5 % is the largest; without one no fee is paid', async () => {
    const { chain, approve, units } = world();
    await chain.mint('DAI', venue, units('DAI', '100'));
    await approve('USDC', alice, venue, 5_000_000n);
    const swap = (feeBps: bigint, receiver: Address) =>
      refusalOf(venueCall('swapWithFee', [tokenOf('USDC'), tokenOf('DAI'), 5_000_000n, 0n, alice, feeBps, receiver]));
    expect(await swap(500n, mallory)).toBeUndefined();
    expect(await swap(501n, mallory)).toEqual({ name: 'FeeTooHigh', args: [501n] });
    // USDC has no transfer to the zero address.
    expect(await swap(0n, zeroAddress)).toBeUndefined();
  });
});

describe('owner functions', () => {
  test('behavior: a fee of 5 % is the largest, also at the deployment', async () => {
    await owner(venueCall('setFee', [500n]));
    expect(await refusalOf(venueCall('setFee', [501n]), 0n, mallory)).toEqual({ name: 'FeeTooHigh', args: [501n] });
    expect((await quote('USDC', 'DAI', 10n ** 6n))[0]).toBe(
      (((((10n ** 6n * USD.USDC) / 10n ** 6n) * WAD) / USD.DAI) * 9_500n) / 10_000n,
    );
  });

  test.each([
    ['returns nothing', '0x00', undefined],
    ['returns true', '0x60015f5260205ff3', undefined],
    ['returns false', '0x5f5f5260205ff3', 'TokenTransferFailed'],
    ['reverts', '0x5f5ffd', 'TokenTransferFailed'],
    ['does not exist', '0x', 'TokenTransferFailed'],
  ] as const)('behavior: a token that %s: %s', async (_name, bytecode, name) => {
    const token = '0x00000000000000000000000000000000000f00d1';
    await world().client.setCode({ address: token, bytecode });
    const data = venueCall('withdraw', [token, 5n, alice]);
    const refused = await refusalOf(data, 0n, mallory);
    expect(refused?.name).toBe(name);
    // Payments to the venue follow the same rule.
    await owner(
      venueCall('setPrices', [
        [{ token: '0x00000000000000000000000000000000000f00d2', usdPerToken: WAD, depthUsd: 0n }],
      ]),
    );
    const paid = await refusalOf(venueCall('swap', [token, tokenOf('DAI'), 5n, 0n, alice]));
    expect(paid?.name).toBe(name ?? 'NoRoute');
  });
});
