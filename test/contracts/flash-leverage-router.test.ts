import { type Hex, maxUint256, zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { vaultSeeds } from '../../devnet/seed/vaults.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { alice, mallory, OWNER, routerCall, useWorld } from './world.ts';

const STABLE = 'sUSDe/PYUSD 91.5';
const STAKED = 'wstETH/WETH 94.5';
const DEEP = 'sUSDS/USDT 96.5';
const NEIGHBOUR = 'syrupUSDT/USDT 91.5';
const WRONG_VALUE = { name: 'FlashLeverageRouter__InvalidMsgValue', args: [] };

const world = useWorld(1);

const call = (data: Hex, value = 0n, from = alice) => ({ from, to: world().router, data, value });

/** Arguments of a pre-swap into a market's collateral that opens at an LTV. */
async function planOpen(tokenIn: string, amountIn: bigint, key: string, ltvPct: string) {
  const { chain, market, router, swap, leverageParams, approve } = world();
  const { swapData, minOut } = await swap(tokenIn, market(key).collateral.symbol, amountIn, router);
  const params = await leverageParams(key, minOut, ltvPct);
  const { address, isNative } = chain.token(tokenIn);
  if (!isNative) await approve(tokenIn, alice, router, amountIn);
  return { args: [address, amountIn, swapData, minOut, params] as const, minOut, value: isNative ? amountIn : 0n };
}

/** A reallocation of USDT from another market, and the vault's fee for it. */
function reallocation(amount: string) {
  const { market, units } = world();
  const vault = vaultSeeds.find(({ symbol }) => symbol === 'lcUSDT');
  if (vault === undefined) throw new Error('The vault lcUSDT is not seeded');
  const withdrawals = [{ marketParams: marketParams(market(NEIGHBOUR)), amount: units('USDT', amount) }];
  const params = {
    vault: vault.address,
    fee: vault.feeWei,
    withdrawals,
    supplyMarketParams: marketParams(market(DEEP)),
  };
  return { params: [params], fee: vault.feeWei };
}

/** The router keeps nothing, of no token it has touched. */
async function expectEmptyRouter(...symbols: string[]): Promise<void> {
  for (const symbol of ['ETH', ...symbols]) expect(await world().balance(symbol, world().router), symbol).toBe(0n);
}

describe('swapAndLeverage', () => {
  test.each([
    ['USDC', '5000', STABLE],
    ['USDT', '5000', STABLE],
    ['ETH', '2', STAKED],
    ['DAI', '3000', STAKED],
  ])('default: %s', async (tokenIn, amount, key) => {
    const amountIn = world().units(tokenIn, amount);
    const { args, minOut, value } = await planOpen(tokenIn, amountIn, key, '80');
    await world().send(call(routerCall('swapAndLeverage', args), value));

    const position = await world().position(alice);
    expect(position.open).toBe(true);
    expect(position.collateral).toBeGreaterThanOrEqual(minOut + args[4].minTokenOut);
    const { collateral, loan } = world().market(key);
    await expectEmptyRouter(tokenIn, collateral.symbol, loan.symbol);
  });

  test('behavior: opens with the actual output of the swap', async () => {
    const amountIn = world().units('USDC', '5000');
    const { args } = await planOpen('USDC', amountIn, STABLE, '80');
    const { amountOut } = await world().swap('USDC', 'sUSDe', amountIn, world().router);
    await world().send(call(routerCall('swapAndLeverage', args)));
    const { amountDepositedInLoanToken, marketId } = await world().position(alice);
    const value = (amountOut * (await world().chain.oraclePrice(marketId))) / 10n ** 36n;
    expect(amountDepositedInLoanToken).toBe(value);
  });

  test('behavior: returns unused pay tokens to the caller', async () => {
    // The calldata sells half of the payment.
    const half = await planOpen('USDC', world().units('USDC', '2500'), STABLE, '50');
    await world().approve('USDC', alice, world().router, world().units('USDC', '5000'));
    const before = await world().balance('USDC', alice);
    const [token, , swapData, minOut, params] = half.args;
    const data = routerCall('swapAndLeverage', [token, world().units('USDC', '5000'), swapData, minOut, params]);
    await world().send(call(data));
    expect(before - (await world().balance('USDC', alice))).toBe(world().units('USDC', '2500'));
    await expectEmptyRouter('USDC', 'sUSDe');
  });

  test('error: MinTokenOutNotMet', async () => {
    const { args } = await planOpen('USDC', world().units('USDC', '5000'), STABLE, '80');
    const [token, amountIn, swapData, minOut, params] = args;
    const data = routerCall('swapAndLeverage', [token, amountIn, swapData, minOut * 2n, params]);
    expect((await world().refusal(call(data)))?.name).toBe('FlashLeverageRouter__MinTokenOutNotMet');
  });

  test('error: AmountInCannotBeZero', async () => {
    const { args } = await planOpen('USDC', world().units('USDC', '5000'), STABLE, '80');
    const [token, , swapData, minOut, params] = args;
    const data = routerCall('swapAndLeverage', [token, 0n, swapData, minOut, params]);
    expect((await world().refusal(call(data)))?.name).toBe('FlashLeverageRouter__AmountInCannotBeZero');
  });

  test('error: SwapRouterCallFailed', async () => {
    const { args } = await planOpen('USDC', world().units('USDC', '5000'), STABLE, '80');
    const [token, amountIn, { extRouter }, minOut, params] = args;
    const swapData = { extRouter, extCalldata: '0x12345678' } as const;
    const data = routerCall('swapAndLeverage', [token, amountIn, swapData, minOut, params]);
    expect((await world().refusal(call(data)))?.name).toBe('FlashLeverageRouter__SwapRouterCallFailed');
  });

  test('error: InvalidMsgValue', async () => {
    const { args, value } = await planOpen('ETH', world().units('ETH', '2'), STAKED, '80');
    const data = routerCall('swapAndLeverage', args);
    expect(await world().refusal(call(data, value + 1n))).toEqual(WRONG_VALUE);
    expect(await world().refusal(call(data, value - 1n))).toEqual(WRONG_VALUE);
    const paid = await planOpen('USDC', world().units('USDC', '5000'), STABLE, '80');
    const refused = await world().refusal(call(routerCall('swapAndLeverage', paid.args), 1n));
    expect(refused).toEqual(WRONG_VALUE);
  });

  test('error: InvalidSwapRouter', async () => {
    const { args } = await planOpen('USDC', world().units('USDC', '5000'), STABLE, '80');
    const [token, amountIn, { extCalldata }, minOut, params] = args;
    // The pay token itself as "router" would be a way to any allowance.
    const data = routerCall('swapAndLeverage', [token, amountIn, { extRouter: token, extCalldata }, minOut, params]);
    expect(await world().refusal(call(data))).toEqual({ name: 'FlashLeverageRouter__InvalidSwapRouter', args: [] });
  });

  test('error: ExceedsMaxLTV passes through from FlashLeverage', async () => {
    const { args } = await planOpen('USDC', world().units('USDC', '5000'), STABLE, '91.4');
    const [token, amountIn, swapData, minOut, params] = args;
    const more = await world().leverageParams(STABLE, minOut, '93');
    const data = routerCall('swapAndLeverage', [
      token,
      amountIn,
      swapData,
      minOut,
      { ...more, amountCollateral: params.amountCollateral },
    ]);
    expect((await world().refusal(call(data)))?.name).toBe('FlashLeverage__ExceedsMaxLTV');
  });

  test('error: NotApprovedOperator after removal of the router', async () => {
    const { args } = await planOpen('USDC', world().units('USDC', '5000'), STABLE, '80');
    const { chain, flashLeverage, router } = world();
    await chain.call(OWNER, flashLeverage, 'FlashLeverage', 'setApprovedOperator', [router, false]);
    expect((await world().refusal(call(routerCall('swapAndLeverage', args))))?.name).toBe(
      'FlashLeverage__NotApprovedOperator',
    );
  });
});

describe('reallocateAndLeverage', () => {
  async function prepare() {
    const amount = world().units('sUSDS', '1000000');
    await world().approve('sUSDS', alice, world().router, amount);
    return { params: await world().leverageParams(DEEP, amount, '83'), ...reallocationArgs() };
  }
  const reallocationArgs = () => {
    const { params, fee } = reallocation('2000000');
    return { reallocate: params, fee };
  };

  test('default', async () => {
    const { params, reallocate, fee } = await prepare();
    const liquid = await liquidity(DEEP);
    expect(params.amountFlashLoan).toBeGreaterThan(liquid);
    await world().send(call(routerCall('reallocateAndLeverage', [reallocate, params]), fee));
    expect((await world().position(alice)).debt).toBeGreaterThanOrEqual(params.amountFlashLoan);
    await expectEmptyRouter('sUSDS', 'USDT');
  });

  test('behavior: without the reallocation the market has too little', async () => {
    const { params } = await prepare();
    // Morpho reverts with "insufficient liquidity"; the proxy drops the reason.
    expect(await world().refusal(call(routerCall('reallocateAndLeverage', [[], params])))).toEqual({
      name: 'Error',
      args: ['UserProxy: Call Failed'],
    });
  });

  test('error: InvalidMsgValue', async () => {
    const { params, reallocate, fee } = await prepare();
    const data = routerCall('reallocateAndLeverage', [reallocate, params]);
    expect((await world().refusal(call(data, fee - 1n)))?.name).toBe(WRONG_VALUE.name);
    expect((await world().refusal(call(data, fee + 1n)))?.name).toBe(WRONG_VALUE.name);
  });
});

describe('reallocateSwapAndLeverage', () => {
  test.each([
    ['USDC', '1000000'],
    ['USDT', '1000000'],
    ['ETH', '350'],
  ])('default: %s', async (tokenIn, amount) => {
    const amountIn = world().units(tokenIn, amount);
    await world().chain.mint('ETH', alice, 10n ** 21n);
    const { args, value } = await planOpen(tokenIn, amountIn, DEEP, '83');
    const { params, fee } = reallocation('2000000');
    expect(args[4].amountFlashLoan).toBeGreaterThan(await liquidity(DEEP));
    await world().send(call(routerCall('reallocateSwapAndLeverage', [params, ...args]), value + fee));
    expect((await world().position(alice)).debt).toBeGreaterThanOrEqual(args[4].amountFlashLoan);
    await expectEmptyRouter(tokenIn, 'sUSDS', 'USDT');
  });

  test('error: InvalidMsgValue counts the pay amount and the fees', async () => {
    const { args, value } = await planOpen('ETH', world().units('ETH', '3'), DEEP, '50');
    const { params } = reallocation('1000');
    const data = routerCall('reallocateSwapAndLeverage', [params, ...args]);
    expect(await world().refusal(call(data, value))).toEqual(WRONG_VALUE);
  });
});

describe('swapAndSupplyCollateral', () => {
  async function prepare(tokenIn: string, amount: string, user = alice) {
    await world().open(alice, STABLE, world().units('sUSDe', '1000'), '70');
    const { chain, units, swap, router, approve, market } = world();
    const amountIn = units(tokenIn, amount);
    const { swapData, amountOut, minOut } = await swap(tokenIn, 'sUSDe', amountIn, router);
    const { address, isNative } = chain.token(tokenIn);
    if (!isNative) await approve(tokenIn, alice, router, amountIn);
    const args = [user, 0n, market(STABLE).id, address, amountIn, swapData, minOut] as const;
    return { args, amountOut, value: isNative ? amountIn : 0n };
  }

  test.each([
    ['USDC', '500'],
    ['USDT', '500'],
    ['ETH', '0.5'],
  ])('default: %s', async (tokenIn, amount) => {
    const { args, amountOut, value } = await prepare(tokenIn, amount);
    const before = (await world().position(alice)).collateral;
    await world().send(call(routerCall('swapAndSupplyCollateral', args), value));
    expect((await world().position(alice)).collateral - before).toBe(amountOut);
    await expectEmptyRouter(tokenIn, 'sUSDe');
  });

  test("behavior: any wallet may add to another wallet's position at its own cost", async () => {
    const { args, amountOut } = await prepare('USDC', '500');
    const [, , , , amountIn] = args;
    await world().approve('USDC', mallory, world().router, amountIn);
    const before = (await world().position(alice)).collateral;
    await world().send(call(routerCall('swapAndSupplyCollateral', args), 0n, mallory));
    expect((await world().position(alice)).collateral - before).toBe(amountOut);
    await expectEmptyRouter('USDC', 'sUSDe');
  });

  test('error: another market than the one of the position', async () => {
    const { args } = await prepare('USDC', '500');
    const other = world().market(STAKED).id;
    const [user, id, , ...rest] = args;
    const data = routerCall('swapAndSupplyCollateral', [user, id, other, ...rest]);
    expect((await world().refusal(call(data)))?.name).toBe('FlashLeverageRouter__MinTokenOutNotMet');
  });
});

describe('swapAndRepay', () => {
  async function prepare(tokenIn: string, amountIn: bigint, key: string, borrowShares = 0n) {
    const { chain, swap, router, approve, market } = world();
    const { swapData, amountOut, minOut } = await swap(tokenIn, market(key).loan.symbol, amountIn, router);
    const { address, isNative } = chain.token(tokenIn);
    if (!isNative) await approve(tokenIn, alice, router, amountIn);
    const args = [alice, 0n, market(key).id, address, amountIn, swapData, minOut, borrowShares] as const;
    return { data: routerCall('swapAndRepay', args), amountOut, value: isNative ? amountIn : 0n };
  }

  test.each([
    ['USDC', '500', STABLE],
    ['USDT', '500', STABLE],
    ['ETH', '0.2', DEEP],
  ])('default: a part with %s', async (tokenIn, amount, key) => {
    const { collateral, loan } = world().market(key);
    await world().open(alice, key, world().units(collateral.symbol, '1000'), '70');
    const before = (await world().position(alice)).debt;
    const { data, amountOut, value } = await prepare(tokenIn, world().units(tokenIn, amount), key);
    await world().send(call(data, value));
    const repaid = before - (await world().position(alice)).debt;
    expect(repaid).toBeLessThanOrEqual(amountOut);
    expect(repaid).toBeGreaterThan(amountOut - world().units(loan.symbol, '0.01'));
    await expectEmptyRouter(tokenIn, loan.symbol);
  });

  test.each([['USDC'], ['DAI']])(
    'behavior: %s repays the whole debt by shares and returns the rest',
    async (tokenIn) => {
      await world().open(alice, DEEP, world().units('sUSDS', '1000'), '70');
      const { debt } = await world().position(alice);
      const amountIn = world().units(tokenIn, '1') * (debt / world().units('USDT', '1') + 100n);
      const before = await world().balance('USDT', alice);
      const { data, amountOut } = await prepare(tokenIn, amountIn, DEEP, maxUint256);
      await world().send(call(data));
      expect(await world().position(alice)).toMatchObject({ debt: 0n, borrowShares: 0n, open: true });
      const refund = (await world().balance('USDT', alice)) - before;
      expect(refund).toBeLessThanOrEqual(amountOut - debt);
      expect(refund).toBeGreaterThan(amountOut - debt - world().units('USDT', '0.01'));
      await expectEmptyRouter(tokenIn, 'USDT');
    },
  );

  test('error: Morpho reverts when the swap returns less than the debt', async () => {
    await world().open(alice, DEEP, world().units('sUSDS', '1000'), '70');
    const { data } = await prepare('USDC', world().units('USDC', '10'), DEEP, maxUint256);
    expect(await world().refusal(call(data))).toEqual({ name: 'Error', args: ['transferFrom reverted'] });
  });

  test('error: an index out of bounds without the position', async () => {
    const { data } = await prepare('USDC', world().units('USDC', '10'), DEEP);
    expect(await world().refusal(call(data))).toEqual({ name: 'Panic', args: [0x32n] });
  });
});

test('the router was built for this chain', async () => {
  const { client, router, row } = world();
  const read = (functionName: 'i_morpho' | 'i_flashLeverage' | 'i_publicAllocator') =>
    client.call({ to: router, data: routerCall(functionName, []) }).then(({ data = '0x' }) => data.slice(-40));
  expect(await read('i_morpho')).toBe(row.contracts.morphoBlue.slice(2).toLowerCase());
  expect(await read('i_flashLeverage')).toBe(row.contracts.flashLeverage.slice(2).toLowerCase());
  expect(await read('i_publicAllocator')).toBe((row.contracts.publicAllocator ?? zeroAddress).slice(2).toLowerCase());
});

/** Loan tokens that the market can lend now. */
async function liquidity(key: string): Promise<bigint> {
  const { client, row, market } = world();
  const [supplied, , borrowed] = await client.readContract({
    address: row.contracts.morphoBlue,
    abi: morphoBlueAbi,
    functionName: 'market',
    args: [market(key).id],
  });
  return supplied - borrowed;
}
