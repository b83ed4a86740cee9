import { type Address, type Hex, parseAbi } from 'viem';
import { beforeEach, describe, expect, test } from 'vitest';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { computeMarketId } from '../../src/catalog/index.ts';
import { allowHostileRouter, deploy, hostileRouterAbi, innerReason, reenter } from './hostile-router.ts';
import { alice, leverageCall, mallory, OWNER, routerCall, useWorld } from './world.ts';

const MARKET = 'sUSDe/PYUSD 91.5';

const world = useWorld(1);
let hostile: Address;

beforeEach(async () => {
  hostile = await allowHostileRouter(world());
});

/** Alice opens through the hostile router with the given calldata. */
async function openThrough(extCalldata: Hex, minTokenOut = 0n) {
  const { approve, units, flashLeverage, leverageParams } = world();
  const amount = units('sUSDe', '1000');
  await approve('sUSDe', alice, flashLeverage, amount);
  const params = await leverageParams(MARKET, amount, '80');
  const swapData = { extRouter: hostile, extCalldata };
  const data = leverageCall('leverage', [alice, { ...params, swapData, minTokenOut }]);
  return { call: { from: alice, to: flashLeverage, data }, params };
}

describe('a swap router that calls back', () => {
  test('error: the lock stops every state-changing function of FlashLeverage', async () => {
    const { flashLeverage, leverageParams, units } = world();
    const params = await leverageParams(MARKET, units('sUSDe', '1'), '50');
    const attempts = [
      leverageCall('leverage', [hostile, params]),
      leverageCall('increaseLeverage', [0n, 1n, params.swapData, 0n]),
      leverageCall('deleverage', [0n, 0n, params.swapData, 0n]),
      leverageCall('supplyCollateral', [hostile, 0n, 1n]),
      leverageCall('withdrawCollateral', [0n, 1n]),
      leverageCall('repay', [hostile, 0n, 1n, 0n]),
      leverageCall('borrow', [0n, 1n]),
    ];
    for (const attempt of attempts) {
      const { call } = await openThrough(reenter(flashLeverage, attempt));
      expect((await world().refusal(call))?.name).toBe('FlashLeverage__SwapRouterCallFailed');
      expect(await innerReason(world(), call)).toBe('ReentrancyGuardReentrantCall');
    }
  });

  test('error: UntrustedLender for a forged flash-loan callback in the middle of a swap', async () => {
    const { flashLeverage } = world();
    const { call } = await openThrough(reenter(flashLeverage, leverageCall('onMorphoFlashLoan', [1n, '0x'])));
    expect((await world().refusal(call))?.name).toBe('FlashLeverage__SwapRouterCallFailed');
    expect(await innerReason(world(), call)).toBe('FlashLeverage__UntrustedLender');
  });

  test('error: inside the router it can act only for itself', async () => {
    const { router, units, chain, approve, leverageParams } = world();
    const amountIn = units('USDC', '1000');
    const params = await leverageParams(MARKET, units('sUSDe', '500'), '50');
    const inner = routerCall('reallocateAndLeverage', [[], params]);
    const swapData = { extRouter: hostile, extCalldata: reenter(router, inner) };
    await approve('USDC', alice, router, amountIn);
    const data = routerCall('swapAndLeverage', [chain.token('USDC').address, amountIn, swapData, 0n, params]);
    const call = { from: alice, to: router, data };
    expect((await world().refusal(call))?.name).toBe('FlashLeverageRouter__SwapRouterCallFailed');
    expect(await innerReason(world(), call)).toBe('InsufficientAllowance');
  });
});

describe('a swap router that cheats', () => {
  test('error: MinTokenOutNotMet when it returns nothing', async () => {
    const { params } = await openThrough('0x');
    const tokenIn = world().chain.token('PYUSD').address;
    const take = encodeFunctionData({
      abi: hostileRouterAbi,
      functionName: 'take',
      args: [tokenIn, params.amountFlashLoan],
    });
    const { call } = await openThrough(take, 1n);
    expect((await world().refusal(call))?.name).toBe('FlashLeverage__MinTokenOutNotMet');
  });

  test('error: ExceedsMaxLTV when it returns too little and the minimum is zero', async () => {
    const { params } = await openThrough('0x');
    const { chain } = world();
    await chain.mint('sUSDe', hostile, params.minTokenOut);
    const fill = encodeFunctionData({
      abi: hostileRouterAbi,
      functionName: 'fill',
      args: [
        chain.token('PYUSD').address,
        params.amountFlashLoan,
        chain.token('sUSDe').address,
        (params.minTokenOut * 80n) / 100n,
      ],
    });
    const { call } = await openThrough(fill);
    expect((await world().refusal(call))?.name).toBe('FlashLeverage__ExceedsMaxLTV');
  });

  test('error: SwapRouterCallFailed when it takes more than its input', async () => {
    const { params } = await openThrough('0x');
    const tokenIn = world().chain.token('PYUSD').address;
    const args = [tokenIn, params.amountFlashLoan + 1n] as const;
    const { call } = await openThrough(encodeFunctionData({ abi: hostileRouterAbi, functionName: 'take', args }));
    expect(await world().refusal(call)).toEqual({ name: 'FlashLeverage__SwapRouterCallFailed', args: [] });
  });

  test('behavior: passes returned native ETH on to the caller', async () => {
    const { router, units, chain, leverageParams, balance, send } = world();
    const [amountIn, used] = [units('ETH', '2'), units('ETH', '0.5')];
    const bought = units('sUSDe', '1000');
    await chain.mint('sUSDe', hostile, bought);
    const args = [chain.token('ETH').address, used, chain.token('sUSDe').address, bought] as const;
    const extCalldata = encodeFunctionData({ abi: hostileRouterAbi, functionName: 'fill', args });
    const params = await leverageParams(MARKET, bought, '50');
    const swapData = { extRouter: hostile, extCalldata };
    const data = routerCall('swapAndLeverage', [chain.token('ETH').address, amountIn, swapData, bought, params]);
    const before = await balance('ETH', alice);
    const { gasUsed, effectiveGasPrice } = await send({ from: alice, to: router, data, value: amountIn });
    expect(before - (await balance('ETH', alice))).toBe(used + gasUsed * effectiveGasPrice);
    expect(await balance('ETH', router)).toBe(0n);
  });

  test('behavior: its allowance for unused tokens is revoked', async () => {
    const { router, units, chain, client, leverageParams, approve, send } = world();
    const [amountIn, used] = [units('USDC', '1000'), units('USDC', '600')];
    const bought = units('sUSDe', '500');
    await chain.mint('sUSDe', hostile, bought);
    const usdc = chain.token('USDC').address;
    const args = [usdc, used, chain.token('sUSDe').address, bought] as const;
    const extCalldata = encodeFunctionData({ abi: hostileRouterAbi, functionName: 'fill', args });
    const params = await leverageParams(MARKET, bought, '50');
    await approve('USDC', alice, router, amountIn);
    const swapData = { extRouter: hostile, extCalldata };
    await send({
      from: alice,
      to: router,
      data: routerCall('swapAndLeverage', [usdc, amountIn, swapData, bought, params]),
    });
    const allowance = await client.readContract({
      address: usdc,
      abi: parseAbi(['function allowance(address owner, address spender) view returns (uint256)']),
      functionName: 'allowance',
      args: [router, hostile],
    });
    expect(allowance).toBe(0n);
  });
});

test('error: a collateral token that calls back is stopped by the lock', async () => {
  const { chain, market, row, flashLeverage, leverageParams, units, send } = world();
  const token = await deploy(world(), 'HostileToken');
  const { loan, oracle, irm, lltv } = market(MARKET);
  const params = { loanToken: loan.address, collateralToken: token, oracle, irm, lltv };
  const marketId = computeMarketId(params);
  await chain.call(OWNER, row.contracts.morphoBlue, 'Morpho', 'createMarket', [params]);
  await chain.call(OWNER, flashLeverage, 'FlashLeverage', 'addSupportedMarkets', [[{ marketId, isCorrelated: true }]]);
  await chain.call(OWNER, flashLeverage, 'FlashLeverage', 'setApprovedOperator', [token, true]);

  const template = await leverageParams(MARKET, units('sUSDe', '1'), '50');
  const hostileMarket = {
    ...market(MARKET),
    id: marketId,
    collateral: { ...market(MARKET).collateral, address: token },
  };
  await chain.supply(hostileMarket, units('PYUSD', '1000'));
  const amountFlashLoan = template.amountFlashLoan / 10n;
  const take = [loan.address, amountFlashLoan] as const;
  const extCalldata = encodeFunctionData({ abi: hostileRouterAbi, functionName: 'take', args: take });
  const inner = {
    ...template,
    marketId,
    amountFlashLoan,
    swapData: { extRouter: hostile, extCalldata },
    minTokenOut: 0n,
  };
  const open = { from: alice, to: flashLeverage, data: leverageCall('leverage', [alice, inner]) };
  await send(open); // harmless while it is not armed

  // Even as an approved operator it cannot open a second position from within the transfer of the first.
  await chain.call(mallory, token, 'HostileToken', 'arm', [flashLeverage, leverageCall('leverage', [alice, inner])]);
  expect((await world().refusal(open))?.name).toBe('SafeERC20FailedOperation');
  await chain.call(mallory, token, 'HostileToken', 'arm', [
    flashLeverage,
    leverageCall('isSupportedMarket', [marketId]),
  ]);
  expect(await world().refusal(open)).toBeUndefined();
});
