import { parseAbi, parseUnits } from 'viem';
import { describe, expect, test } from 'vitest';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { allowHostileRouter, innerReason, reenter } from './hostile-router.ts';
import { alice, equityCall, eventsOf, leverageCall, mallory, OWNER, useWorld } from './world.ts';

const STOCK = 'TSLA/USDG 62.5 Longbow';
const YIELD = 'syrupUSDG/USDG 91.5';
const WAD = 10n ** 18n;

const morphoAbi = parseAbi([
  'function setAuthorization(address authorized, bool newIsAuthorized)',
  'function isAuthorized(address authorizer, address authorized) view returns (bool)',
  'function position(bytes32 id, address user) view returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral)',
]);

const world = useWorld(4663);

const call = (data: `0x${string}`, from = alice) => ({ from, to: world().equityRouter, data });

function authorize(granted: boolean, user = alice) {
  const { send, row, equityRouter } = world();
  const data = encodeFunctionData({
    abi: morphoAbi,
    functionName: 'setAuthorization',
    args: [equityRouter, granted],
  });
  return send({ from: user, to: row.contracts.morphoBlue, data });
}

async function stockLeg(user = alice) {
  const { client, row, market } = world();
  const [, borrowShares, collateral] = await client.readContract({
    address: row.contracts.morphoBlue,
    abi: morphoAbi,
    functionName: 'position',
    args: [market(STOCK).id, user],
  });
  return { borrowShares, collateral };
}

/** Approve the deposit and plan an entry whose borrow is sized on the minimum stock. */
async function planEntry(amountUsdg = '10000', stockLtvPct = '50', yieldLtvPct = '88') {
  const { units, market, swap, leverageParams, approve, equityRouter, chain } = world();
  const amountIn = units('USDG', amountUsdg);
  await approve('USDG', alice, equityRouter, amountIn);
  const stock = await swap('USDG', 'TSLA', amountIn, equityRouter);
  const stockValue = (stock.minOut * (await chain.oraclePrice(market(STOCK)))) / 10n ** 36n;
  const stockBorrowAmount = (stockValue * parseUnits(stockLtvPct, 16)) / WAD;
  const zap = await swap('USDG', 'syrupUSDG', stockBorrowAmount, equityRouter);
  const params = {
    depositToken: chain.token('USDG').address,
    amountIn,
    stockSwapData: stock.swapData,
    stockMinOut: stock.minOut,
    stockMarketId: market(STOCK).id,
    stockBorrowAmount,
    yieldSwapData: zap.swapData,
    yieldMinOut: zap.minOut,
    leverageParams: await leverageParams(YIELD, zap.minOut, yieldLtvPct, 0n),
  };
  return { params, stockOut: stock.amountOut, zapOut: zap.amountOut };
}

async function enter(amountUsdg?: string, stockLtvPct?: string) {
  const plan = await planEntry(amountUsdg, stockLtvPct);
  await authorize(true);
  const receipt = await world().send(call(equityCall('equityEntry', [plan.params])));
  await authorize(false);
  return { ...plan, receipt };
}

async function planExit(floor?: bigint) {
  const { collateral } = await stockLeg();
  const { swapData, amountOut, minOut } = await world().swap('TSLA', 'USDG', collateral, world().equityRouter);
  const params = { stockMarketId: world().market(STOCK).id, stockSwapData: swapData, minLoanOut: floor ?? minOut };
  return { call: call(equityCall('equityExit', [params])), amountOut, collateral };
}

const TOKENS = ['USDG', 'TSLA', 'syrupUSDG'] as const;
async function expectEmptyRouter(held = 0n): Promise<void> {
  for (const symbol of TOKENS) expect(await world().balance(symbol, world().equityRouter), symbol).toBe(held);
}

/** Tokens that were sent to the router by mistake. */
async function leaveInRouter(amount: bigint): Promise<void> {
  for (const symbol of TOKENS) await world().chain.mint(symbol, world().equityRouter, amount);
}

describe('equityEntry', () => {
  test('default', async () => {
    await leaveInRouter(7n);
    const before = await world().balance('USDG', alice);
    const { params, stockOut, zapOut, receipt } = await enter();
    expect(before - (await world().balance('USDG', alice))).toBe(params.amountIn);
    expect((await stockLeg()).collateral).toBe(stockOut);

    const loop = await world().position(alice);
    expect(loop).toMatchObject({ open: true, marketId: world().market(YIELD).id });
    expect(loop.amountDepositedInLoanToken).toBe(
      (zapOut * (await world().chain.oraclePrice(world().market(YIELD)))) / 10n ** 36n,
    );
    // The basis rule that attributes loops to vaults stands on this.
    const share = Number((loop.amountDepositedInLoanToken * 10_000n) / params.stockBorrowAmount);
    expect(share).toBeGreaterThan(8_500);
    expect(share).toBeLessThanOrEqual(10_200);
    expect(eventsOf(receipt).map(({ eventName }) => eventName)).toEqual(['LeveragePositionOpened']);
    await expectEmptyRouter(7n);
  });

  test('behavior: a second entry adds to the same stock leg and opens a second loop', async () => {
    const first = await enter('10000');
    const second = await enter('5000');
    expect((await stockLeg()).collateral).toBe(first.stockOut + second.stockOut);
    expect(await world().positions(alice)).toHaveLength(2);
  });

  test('behavior: returns USDG that either swap did not use', async () => {
    const { params } = await planEntry('10000');
    const { units, approve, equityRouter, balance, send } = world();
    const [extra, more] = [units('USDG', '40'), units('USDG', '25')];
    await approve('USDG', alice, equityRouter, params.amountIn + extra);
    await authorize(true);
    const before = await balance('USDG', alice);
    // The calldata of both swaps sells less than there is.
    const entry = {
      ...params,
      amountIn: params.amountIn + extra,
      stockBorrowAmount: params.stockBorrowAmount + more,
    };
    await send(call(equityCall('equityEntry', [entry])));
    expect(before - (await balance('USDG', alice))).toBe(params.amountIn - more);
    await expectEmptyRouter();
  });

  test('error: Morpho refuses before the grant, after the revoke and above the liquidation LTV', async () => {
    const { params } = await planEntry();
    const entry = call(equityCall('equityEntry', [params]));
    const unauthorized = { name: 'Error', args: ['unauthorized'] };
    expect(await world().refusal(entry)).toEqual(unauthorized);
    await authorize(true);
    expect(await world().refusal(entry)).toBeUndefined();
    const stockBorrowAmount = (params.stockBorrowAmount * 63n) / 50n;
    expect(await world().refusal(call(equityCall('equityEntry', [{ ...params, stockBorrowAmount }])))).toEqual({
      name: 'Error',
      args: ['insufficient collateral'],
    });
    await authorize(false);
    expect(await world().refusal(entry)).toEqual(unauthorized);
  });

  test("error: a third party gains nothing during the user's authorization", async () => {
    const { params } = await planEntry();
    await world().approve('USDG', mallory, world().equityRouter, params.amountIn);
    await authorize(true);
    const refused = await world().refusal(call(equityCall('equityEntry', [params]), mallory));
    expect(refused).toEqual({ name: 'Error', args: ['unauthorized'] });
  });

  test('error: MinTokenOutNotMet of either swap', async () => {
    const { params, stockOut: stockMinOut, zapOut: yieldMinOut } = await planEntry();
    await authorize(true);
    const exact = { ...params, stockMinOut, yieldMinOut };
    expect(await world().refusal(call(equityCall('equityEntry', [exact])))).toBeUndefined();
    for (const stricter of [
      { ...exact, stockMinOut: stockMinOut + 1n },
      { ...exact, yieldMinOut: yieldMinOut + 1n },
    ]) {
      expect((await world().refusal(call(equityCall('equityEntry', [stricter]))))?.name).toBe(
        'EquityRouter__MinTokenOutNotMet',
      );
    }
  });

  test('error: DepositTokenMismatch', async () => {
    const { params } = await planEntry();
    await authorize(true);
    const depositToken = world().chain.token('USDe').address;
    const refused = await world().refusal(call(equityCall('equityEntry', [{ ...params, depositToken }])));
    expect(refused).toEqual({ name: 'EquityRouter__DepositTokenMismatch', args: [] });
  });

  test('error: CollateralAmountNotZero', async () => {
    const { params } = await planEntry();
    await authorize(true);
    const leverageParams = { ...params.leverageParams, amountCollateral: 1n };
    const refused = await world().refusal(call(equityCall('equityEntry', [{ ...params, leverageParams }])));
    expect(refused).toEqual({ name: 'EquityRouter__CollateralAmountNotZero', args: [] });
  });

  test('error: UnsupportedSwapRouter', async () => {
    const { params } = await planEntry();
    await authorize(true);
    // Morpho itself as "router" would be a way to everything that the user has there.
    const stockSwapData = { ...params.stockSwapData, extRouter: world().row.contracts.morphoBlue };
    const refused = await world().refusal(call(equityCall('equityEntry', [{ ...params, stockSwapData }])));
    expect(refused).toEqual({ name: 'EquityRouter__UnsupportedSwapRouter', args: [] });
  });
});

describe('equityExit', () => {
  test('default', async () => {
    await enter();
    await world().chain.increaseTime(86_400 * 5);
    const { call: exit, amountOut } = await planExit();
    await leaveInRouter(7n);
    const before = await world().balance('USDG', alice);
    await authorize(true);
    await world().send(exit);
    await authorize(false);
    expect(await stockLeg()).toEqual({ borrowShares: 0n, collateral: 0n });
    const returned = (await world().balance('USDG', alice)) - before;
    expect(returned).toBeGreaterThan(0n);
    expect(returned).toBeLessThan(amountOut);
    await expectEmptyRouter(7n);
  });

  test('behavior: a full exit leaves no funds and no authorization', async () => {
    await enter();
    const { collateral } = await world().position(alice);
    const { swapData, minOut } = await world().swap('syrupUSDG', 'USDG', collateral, world().flashLeverage);
    const deleverage = leverageCall('deleverage', [0n, 0n, swapData, minOut]);
    await world().send({ from: alice, to: world().flashLeverage, data: deleverage });
    await authorize(true);
    await world().send((await planExit()).call);
    await authorize(false);
    expect((await world().position(alice)).open).toBe(false);
    expect(await stockLeg()).toEqual({ borrowShares: 0n, collateral: 0n });
    const authorized = await world().client.readContract({
      address: world().row.contracts.morphoBlue,
      abi: morphoAbi,
      functionName: 'isAuthorized',
      args: [alice, world().equityRouter],
    });
    expect(authorized).toBe(false);
  });

  test('behavior: without debt the stock is sold without a flash loan', async () => {
    const { chain, units, market } = world();
    await chain.supplyCollateral(market(STOCK), units('TSLA', '3'), alice);
    await authorize(true);
    const { call: exit, amountOut } = await planExit();
    const before = await world().balance('USDG', alice);
    await world().send(exit);
    expect((await world().balance('USDG', alice)) - before).toBe(amountOut);
    expect((await stockLeg()).collateral).toBe(0n);
  });

  test('behavior: returns stock that the swap did not use', async () => {
    await enter();
    const { collateral } = await stockLeg();
    const { swap, equityRouter, market, balance, send } = world();
    const sold = (collateral * 3n) / 4n;
    const { swapData, minOut } = await swap('TSLA', 'USDG', sold, equityRouter);
    const before = await balance('TSLA', alice);
    const params = { stockMarketId: market(STOCK).id, stockSwapData: swapData, minLoanOut: minOut };
    await authorize(true);
    await send(call(equityCall('equityExit', [params])));
    expect((await balance('TSLA', alice)) - before).toBe(collateral - sold);
    expect(await stockLeg()).toEqual({ borrowShares: 0n, collateral: 0n });
    await expectEmptyRouter();
  });

  test('error: Morpho refuses without the authorization', async () => {
    await enter();
    expect(await world().refusal((await planExit()).call)).toEqual({ name: 'Error', args: ['unauthorized'] });
  });

  test('error: MinTokenOutNotMet below minLoanOut', async () => {
    await enter();
    await authorize(true);
    const { amountOut } = await planExit();
    expect(await world().refusal((await planExit(amountOut)).call)).toBeUndefined();
    expect((await world().refusal((await planExit(amountOut + 1n)).call))?.name).toBe(
      'EquityRouter__MinTokenOutNotMet',
    );
  });

  test('error: NothingToExit', async () => {
    await authorize(true);
    const { swapData } = await world().swap('TSLA', 'USDG', 10n ** 18n, world().equityRouter);
    const stockMarketId = world().market(STOCK).id;
    const data = equityCall('equityExit', [{ stockMarketId, stockSwapData: swapData, minLoanOut: 0n }]);
    expect(await world().refusal(call(data))).toEqual({ name: 'EquityRouter__NothingToExit', args: [] });
  });

  test('error: the flash loan cannot be paid back when the stock is worth less than its debt', async () => {
    await enter();
    await authorize(true);
    await world().chain.moveOracle(world().market(STOCK), '-55');
    expect(await world().refusal((await planExit()).call)).toEqual({
      name: 'Error',
      args: ['transferFrom reverted'],
    });
  });

  test('error: UntrustedLender for a forged flash-loan callback', async () => {
    await enter();
    await authorize(true);
    const callbackAbi = parseAbi(['function onMorphoFlashLoan(uint256 assets, bytes data)']);
    const data = encodeFunctionData({ abi: callbackAbi, args: [1n, '0x'] });
    expect((await world().refusal(call(data, mallory)))?.name).toBe('EquityRouter__UntrustedLender');
  });
});

test('the rights of the router end with the authorization, even inside Morpho', async () => {
  await enter();
  const { chain, row, market, equityRouter } = world();
  const withdraw = [marketParams(market(STOCK)), 1n, alice, equityRouter];
  await expect(
    chain.call(equityRouter, row.contracts.morphoBlue, 'Morpho', 'withdrawCollateral', withdraw),
  ).rejects.toThrow(/unauthorized/);
});

test('the equity router opens loops as an approved operator only', async () => {
  const { params } = await planEntry();
  await authorize(true);
  const { chain, flashLeverage, equityRouter } = world();
  await chain.call(OWNER, flashLeverage, 'FlashLeverage', 'setApprovedOperator', [equityRouter, false]);
  const refused = await world().refusal(call(equityCall('equityEntry', [params])));
  expect(refused).toEqual({ name: 'FlashLeverage__NotApprovedOperator', args: [] });
});

test.each(['equityEntry', 'equityExit'] as const)(
  'error: the lock stops calls back out of a swap of %s',
  async (outer) => {
    const hostile = await allowHostileRouter(world());
    if (outer === 'equityExit') await enter();
    const { params } = await planEntry('5000');
    await authorize(true);
    const swapBack = (inner: `0x${string}`) => ({
      extRouter: hostile,
      extCalldata: reenter(world().equityRouter, inner),
    });
    const exit = { stockMarketId: params.stockMarketId, stockSwapData: params.stockSwapData, minLoanOut: 0n };
    for (const inner of [equityCall('equityEntry', [params]), equityCall('equityExit', [exit])]) {
      const stockSwapData = swapBack(inner);
      const attempt = call(
        outer === 'equityEntry'
          ? equityCall('equityEntry', [{ ...params, stockSwapData }])
          : equityCall('equityExit', [{ ...exit, stockSwapData }]),
      );
      expect((await world().refusal(attempt))?.name).toBe('EquityRouter__SwapRouterCallFailed');
      expect(await innerReason(world(), attempt)).toBe('ReentrancyGuardReentrantCall');
    }
  },
);
