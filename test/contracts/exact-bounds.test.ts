import { type Address, type Hex, maxUint256, zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { artifactOf, compileContracts } from '../../devnet/chain/compile.ts';
import { TREASURY } from '../../devnet/seed/accounts.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { allowHostileRouter, creationOf, deploy, hostileRouterAbi } from './hostile-router.ts';
import { alice, eventsOf, leverageCall, mallory, OWNER, refusal, routerCall, useWorld } from './world.ts';

const MARKET = 'sUSDe/PYUSD 91.5';
const MAX_LTV = 912_500_000_000_000_000n;
const WAD = 10n ** 18n;
const SYMBOLS = ['PYUSD', 'sUSDe', 'USDC'] as const;

const world = useWorld(1);
const call = (data: Hex, from = alice) => ({ from, to: world().flashLeverage, data });

/** An open of Alice whose swap has to return at least `minTokenOut`, and the output of the swap. */
async function planOpen() {
  const { approve, units, flashLeverage, leverageParams, swap } = world();
  const amount = units('sUSDe', '1000');
  await approve('sUSDe', alice, flashLeverage, amount);
  const params = await leverageParams(MARKET, amount, '80');
  const { amountOut } = await swap('PYUSD', 'sUSDe', params.amountFlashLoan, flashLeverage);
  return {
    amountOut,
    open: (minTokenOut: bigint) => call(leverageCall('leverage', [alice, { ...params, minTokenOut }])),
  };
}

describe('the least output of a swap', () => {
  test('behavior: FlashLeverage accepts exactly it, opening and closing', async () => {
    const { amountOut, open } = await planOpen();
    expect((await world().refusal(open(amountOut + 1n)))?.name).toBe('FlashLeverage__MinTokenOutNotMet');
    await world().send(open(amountOut));
    const { collateral } = await world().position(alice);
    const sold = await world().swap('sUSDe', 'PYUSD', collateral, world().flashLeverage);
    const close = (minOut: bigint) => call(leverageCall('deleverage', [0n, 0n, sold.swapData, minOut]));
    expect((await world().refusal(close(sold.amountOut + 1n)))?.name).toBe('FlashLeverage__MinTokenOutNotMet');
    expect(await world().refusal(close(sold.amountOut))).toBeUndefined();
    // All of the collateral by its amount closes the position as well; one unit more is refused.
    const whole = call(leverageCall('deleverage', [0n, collateral, sold.swapData, 0n]));
    expect(
      (await world().refusal(call(leverageCall('deleverage', [0n, collateral + 1n, sold.swapData, 0n]))))?.name,
    ).toBe('FlashLeverage__ExceedsCollateral');
    expect(eventsOf(await world().send(whole)).map(({ eventName }) => eventName)).toEqual(['LeveragePositionClosed']);
  });

  test('behavior: the router accepts exactly it', async () => {
    const { chain, units, swap, router, leverageParams, approve } = world();
    const amountIn = units('USDC', '1000');
    const { swapData, amountOut, minOut } = await swap('USDC', 'sUSDe', amountIn, router);
    const params = await leverageParams(MARKET, minOut, '50');
    await approve('USDC', alice, router, amountIn);
    const open = (least: bigint) => ({
      from: alice,
      to: router,
      data: routerCall('swapAndLeverage', [chain.token('USDC').address, amountIn, swapData, least, params]),
    });
    expect((await world().refusal(open(amountOut + 1n)))?.name).toBe('FlashLeverageRouter__MinTokenOutNotMet');
    expect(await world().refusal(open(amountOut))).toBeUndefined();
  });
});

test('behavior: tokens that were sent to the contracts by mistake belong to no caller', async () => {
  const { chain, client, units, swap, router, flashLeverage, leverageParams, approve, market, send, balance } = world();
  for (const holder of [router, flashLeverage]) {
    for (const symbol of SYMBOLS) await chain.mint(symbol, holder, units(symbol, '5'));
  }
  await client.setBalance({ address: router, value: 5n });
  const usdc = chain.token('USDC').address;
  const amountIn = units('USDC', '1000');
  const bought = await swap('USDC', 'sUSDe', amountIn, router);
  const params = await leverageParams(MARKET, bought.minOut, '50');
  await approve('USDC', alice, router, amountIn * 10n);
  await send({
    from: alice,
    to: router,
    data: routerCall('swapAndLeverage', [usdc, amountIn, bought.swapData, bought.minOut, params]),
  });
  const more = await swap('USDC', 'sUSDe', amountIn, router);
  const supplied = [alice, 0n, market(MARKET).id, usdc, amountIn, more.swapData, more.minOut] as const;
  await send({ from: alice, to: router, data: routerCall('swapAndSupplyCollateral', supplied) });
  const paid = await swap('USDC', 'PYUSD', amountIn * 2n, router);
  const repaid = [alice, 0n, market(MARKET).id, usdc, amountIn * 2n, paid.swapData, paid.minOut, maxUint256] as const;
  await send({ from: alice, to: router, data: routerCall('swapAndRepay', repaid) });
  const { collateral } = await world().position(alice);
  const sold = await swap('sUSDe', 'PYUSD', collateral, flashLeverage);
  const before = await balance('PYUSD', alice);
  await send(call(leverageCall('deleverage', [0n, 0n, sold.swapData, sold.minOut])));
  expect((await balance('PYUSD', alice)) - before).toBe(sold.amountOut);
  for (const holder of [router, flashLeverage]) {
    for (const symbol of SYMBOLS) expect([symbol, await balance(symbol, holder)]).toEqual([symbol, units(symbol, '5')]);
  }
  expect(await balance('ETH', router)).toBe(5n);
});

test('error: ExceedsMaxLTV has the LTV, which is the largest number only without any value', async () => {
  const { chain, units, market, open } = world();
  await open(alice, MARKET, units('sUSDe', '1000'), '50');
  const { collateral, debt } = await world().position(alice);
  for (const [price, ltv] of [
    [10n ** 36n / collateral + 1n, (debt + 1n) * WAD],
    [10n ** 36n / collateral, maxUint256],
  ] as const) {
    await chain.setOraclePrice(market(MARKET), price);
    const refused = await world().refusal(call(leverageCall('borrow', [0n, 1n])));
    expect(refused).toEqual({ name: 'FlashLeverage__ExceedsMaxLTV', args: [ltv, MAX_LTV] });
  }
});

test('error: the refund of native ETH to a caller that does not take it', async () => {
  const { router, units, chain, client, leverageParams } = world();
  const hostile = await allowHostileRouter(world());
  const [amountIn, bought] = [units('ETH', '2'), units('sUSDe', '1000')];
  await chain.mint('sUSDe', hostile, bought);
  const args = [zeroAddress, units('ETH', '0.5'), chain.token('sUSDe').address, bought] as const;
  const extCalldata = encodeFunctionData({ abi: hostileRouterAbi, functionName: 'fill', args });
  const params = await leverageParams(MARKET, bought, '50');
  const data = routerCall('swapAndLeverage', [
    zeroAddress,
    amountIn,
    { extRouter: hostile, extCalldata },
    bought,
    params,
  ]);
  const open = { from: alice, to: router, data, value: amountIn };
  expect(await world().refusal(open)).toBeUndefined();
  await client.setCode({ address: alice, bytecode: '0x5f5ffd' });
  expect(await world().refusal(open)).toEqual({
    name: 'Error',
    args: ['FlashLeverageRouter: the refund of native ETH failed'],
  });
});

describe('owner functions', () => {
  test('default: each emits the old and the new value', async () => {
    const { client, flashLeverage, market, send } = world();
    const read = (functionName: 's_yieldFee' | 's_depositFee' | 's_treasury') =>
      client.readContract({ address: flashLeverage, abi: flashLeverageAbi, functionName });
    const [yieldFee, depositFee] = [await read('s_yieldFee'), await read('s_depositFee')];
    const changes = [
      [
        leverageCall('setMarketEnabled', [market(MARKET).id, false]),
        'MarketEnabled',
        { marketId: market(MARKET).id, enabled: false },
      ],
      [leverageCall('setSwapRouter', [mallory, true]), 'SwapRouterUpdated', { router: mallory, enabled: true }],
      [
        leverageCall('setApprovedOperator', [mallory, true]),
        'ApprovedOperatorUpdated',
        { operator: mallory, approved: true },
      ],
      [leverageCall('updateYieldFee', [7n]), 'YieldFeeUpdated', { oldFee: yieldFee, newFee: 7n }],
      [leverageCall('updateDepositFee', [8n]), 'DepositFeeUpdated', { oldFee: depositFee, newFee: 8n }],
      [leverageCall('updateTreasury', [mallory]), 'TreasuryUpdated', { oldTreasury: TREASURY, newTreasury: mallory }],
    ] as const;
    for (const [data, eventName, args] of changes) {
      expect(eventsOf(await send(call(data, OWNER)))).toEqual([{ eventName, args }]);
    }
    expect([await read('s_yieldFee'), await read('s_depositFee'), await read('s_treasury')]).toEqual([7n, 8n, mallory]);
  });

  test('error: CannotBeZeroAddress for an operator and for the treasury', async () => {
    for (const data of [
      leverageCall('setApprovedOperator', [zeroAddress, true]),
      leverageCall('updateTreasury', [zeroAddress]),
    ]) {
      expect((await world().refusal(call(data, OWNER)))?.name).toBe('FlashLeverage__CannotBeZeroAddress');
    }
  });
});

describe('a deployment', () => {
  test('default: has a yield fee of 5 %, no deposit fee, and its constructor arguments', async () => {
    const { client, row } = world();
    const address = await deploy(world(), 'FlashLeverage', [OWNER, row.contracts.morphoBlue, TREASURY, 5n]);
    const { abi } = artifactOf(await compileContracts(), 'FlashLeverage');
    const read = (functionName: string) => client.readContract({ address, abi, functionName });
    const names = ['s_yieldFee', 's_depositFee', 's_treasury', 'LIQUIDATION_BUFFER', 'i_morpho', 'owner', 'paused'];
    expect(await Promise.all(names.map(read))).toEqual([
      WAD / 20n,
      0n,
      TREASURY,
      5n,
      row.contracts.morphoBlue,
      OWNER,
      false,
    ]);
  });

  test.each([
    [
      'FlashLeverage',
      (morpho: Address, _other: Address) => [OWNER, zeroAddress, morpho, 0n],
      'FlashLeverage__CannotBeZeroAddress',
    ],
    ['FlashLeverage', (morpho: Address) => [OWNER, morpho, zeroAddress, 0n], 'FlashLeverage__CannotBeZeroAddress'],
    ['FlashLeverageRouter', (morpho: Address) => [zeroAddress, morpho, morpho], 'FlashLeverageRouter__ZeroAddress'],
    ['FlashLeverageRouter', (morpho: Address) => [morpho, zeroAddress, morpho], 'FlashLeverageRouter__ZeroAddress'],
  ] as const)('error: %s refuses a zero address', async (contract, argsOf, name) => {
    const { client, row } = world();
    const data = await creationOf(contract, argsOf(row.contracts.morphoBlue, zeroAddress));
    expect(await refusal(client.call({ account: alice, data }))).toEqual({ name, args: [] });
  });
});
