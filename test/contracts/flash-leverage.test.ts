import { maxUint256, zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { alice, eventsOf, leverageCall, ltvOf, mallory, OWNER, useWorld } from './world.ts';

const MARKET = 'sUSDe/PYUSD 91.5';
const MAX_LTV = 912_500_000_000_000_000n;

const world = useWorld(1);

/** Allowance for FlashLeverage and calldata that opens Alice's position. */
async function prepareOpen(amount: string, ltvPct: string) {
  const { leverageParams, approve, units, flashLeverage } = world();
  const amountCollateral = units('sUSDe', amount);
  await approve('sUSDe', alice, flashLeverage, amountCollateral);
  const params = await leverageParams(MARKET, amountCollateral, ltvPct);
  return { params, call: { from: alice, to: flashLeverage, data: leverageCall('leverage', [alice, params]) } };
}

const NO_POSITION = { name: 'Panic', args: [0x32n] };

const owner = (functionName: string, args: readonly unknown[]) =>
  world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', functionName, args);

/** Shares round debt up by one unit at most. */
function expectDebt(debt: bigint, borrowed: bigint): void {
  expect([borrowed, borrowed + 1n]).toContain(debt);
}

describe('leverage', () => {
  test('default', async () => {
    const { call, params } = await prepareOpen('1000', '80');
    const before = await world().balance('sUSDe', alice);
    const receipt = await world().send(call);

    const position = await world().position(alice);
    const basis = (params.amountCollateral * (await world().chain.oraclePrice(position.marketId))) / 10n ** 36n;
    expect(position).toMatchObject({ open: true, amountDepositedInLoanToken: basis, amountReturnedInLoanToken: 0n });
    expectDebt(position.debt, params.amountFlashLoan);
    expect(position.collateral).toBeGreaterThanOrEqual(params.amountCollateral + params.minTokenOut);
    expect(before - (await world().balance('sUSDe', alice))).toBe(params.amountCollateral);
    expect(eventsOf(receipt)).toEqual([
      {
        eventName: 'LeveragePositionOpened',
        args: {
          user: alice,
          positionId: 0n,
          amountDepositedInLoanToken: basis,
          amountCollateral: params.amountCollateral,
        },
      },
    ]);
  });

  test('behavior: leaves no tokens in the contract', async () => {
    await world().send((await prepareOpen('1000', '80')).call);
    expect(await world().balance('sUSDe', world().flashLeverage)).toBe(0n);
    expect(await world().balance('PYUSD', world().flashLeverage)).toBe(0n);
  });

  test('error: PartialSwapNotAllowed for an unused part of the flash loan', async () => {
    const { flashLeverage, swap } = world();
    const { params } = await prepareOpen('1000', '80');
    const { swapData } = await swap('PYUSD', 'sUSDe', params.amountFlashLoan - 1n, flashLeverage);
    const data = leverageCall('leverage', [alice, { ...params, swapData, minTokenOut: 0n }]);
    expect(await world().refusal({ from: alice, to: flashLeverage, data })).toEqual({
      name: 'FlashLeverage__PartialSwapNotAllowed',
      args: [],
    });
  });

  test('behavior: accepts an LTV just below the maximum', async () => {
    await world().send((await prepareOpen('1000', '91.2')).call);
    expect(await ltvOf(world(), alice)).toBeLessThanOrEqual(MAX_LTV);
  });

  test('error: ExceedsMaxLTV', async () => {
    const { call } = await prepareOpen('1000', '91.3');
    expect(await world().refusal(call)).toMatchObject({
      name: 'FlashLeverage__ExceedsMaxLTV',
      args: [expect.anything(), MAX_LTV],
    });
  });

  test('error: MinTokenOutNotMet', async () => {
    const { params } = await prepareOpen('1000', '80');
    const minTokenOut = params.minTokenOut * 2n;
    const data = leverageCall('leverage', [alice, { ...params, minTokenOut }]);
    const refused = await world().refusal({ from: alice, to: world().flashLeverage, data });
    expect(refused).toEqual({ name: 'FlashLeverage__MinTokenOutNotMet', args: [] });
  });

  test('behavior: only the minimum and the LTV limit the loss of a swap', async () => {
    const { params } = await prepareOpen('1000', '80');
    const [venue = zeroAddress] = world().row.swapRouters.AggregatorOne ?? [];
    await world().chain.call(OWNER, venue, 'SwapVenue', 'setFee', [300n]);
    const { swapData } = await world().swap('PYUSD', 'sUSDe', params.amountFlashLoan, world().flashLeverage);
    const data = leverageCall('leverage', [alice, { ...params, swapData, minTokenOut: 0n }]);
    expect(await world().refusal({ from: alice, to: world().flashLeverage, data })).toBeUndefined();
  });

  test('error: UnsupportedSwapRouter', async () => {
    const { params, call } = await prepareOpen('1000', '80');
    const { extRouter } = params.swapData;
    await world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', 'setSwapRouter', [extRouter, false]);
    expect((await world().refusal(call))?.name).toBe('FlashLeverage__UnsupportedSwapRouter');
  });

  test('error: SwapRouterCallFailed, without the reason of the venue', async () => {
    const { call } = await prepareOpen('1000', '80');
    await world().chain.moveOracle(world().market(MARKET), '2');
    expect(await world().refusal(call)).toEqual({ name: 'FlashLeverage__SwapRouterCallFailed', args: [] });
  });

  test('error: UnsupportedMarket for an unknown market and for one that is not enabled', async () => {
    const { params, call } = await prepareOpen('1000', '80');
    const marketId = `0x${'11'.repeat(32)}` as const;
    const data = leverageCall('leverage', [alice, { ...params, marketId }]);
    const refused = await world().refusal({ from: alice, to: world().flashLeverage, data });
    expect(refused?.name).toBe('FlashLeverage__UnsupportedMarket');
    await owner('setMarketEnabled', [params.marketId, false]);
    expect((await world().refusal(call))?.name).toBe('FlashLeverage__UnsupportedMarket');
    await owner('setMarketEnabled', [params.marketId, true]);
    expect(await world().refusal(call)).toBeUndefined();
  });

  test('error: AmountCannotBeZero for the collateral and for the flash loan', async () => {
    const { params } = await prepareOpen('1000', '80');
    for (const zero of [{ amountCollateral: 0n }, { amountFlashLoan: 0n }]) {
      const data = leverageCall('leverage', [alice, { ...params, ...zero }]);
      const refused = await world().refusal({ from: alice, to: world().flashLeverage, data });
      expect(refused?.name).toBe('FlashLeverage__AmountCannotBeZero');
    }
  });

  test('error: CannotBeZeroAddress', async () => {
    const { params } = await prepareOpen('1000', '80');
    const data = leverageCall('leverage', [zeroAddress, params]);
    const refused = await world().refusal({ from: alice, to: world().flashLeverage, data });
    expect(refused?.name).toBe('FlashLeverage__CannotBeZeroAddress');
  });

  test("error: the token's own error without an allowance", async () => {
    const { call } = await prepareOpen('1000', '80');
    await world().approve('sUSDe', alice, world().flashLeverage, 0n);
    expect((await world().refusal(call))?.name).toBe('InsufficientAllowance');
  });

  test('error: NotApprovedOperator', async () => {
    const { call } = await prepareOpen('1000', '80');
    expect((await world().refusal({ ...call, from: mallory }))?.name).toBe('FlashLeverage__NotApprovedOperator');
  });

  test('error: EnforcedPause', async () => {
    const { call } = await prepareOpen('1000', '80');
    await owner('pause', []);
    expect(await world().refusal(call)).toEqual({ name: 'EnforcedPause', args: [] });
    await owner('unpause', []);
    expect(await world().refusal(call)).toBeUndefined();
  });
});

describe('increaseLeverage', () => {
  async function prepareIncrease(amountFlashLoan: bigint) {
    const { swap, flashLeverage } = world();
    const { swapData, minOut } = await swap('PYUSD', 'sUSDe', amountFlashLoan, flashLeverage);
    return {
      from: alice,
      to: flashLeverage,
      data: leverageCall('increaseLeverage', [0n, amountFlashLoan, swapData, minOut]),
    };
  }

  test('default', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '60');
    const before = await world().position(alice);
    await world().send(await prepareIncrease(world().units('PYUSD', '1000')));
    const after = await world().position(alice);
    expect(after.debt - before.debt).toBeGreaterThanOrEqual(world().units('PYUSD', '1000'));
    expect(after.collateral).toBeGreaterThan(before.collateral);
    expect(after.amountDepositedInLoanToken).toBe(before.amountDepositedInLoanToken);
  });

  test('error: ExceedsMaxLTV', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '90');
    const call = await prepareIncrease(world().units('PYUSD', '9000'));
    expect((await world().refusal(call))?.name).toBe('FlashLeverage__ExceedsMaxLTV');
  });

  test('error: an index out of bounds without the position', async () => {
    const call = await prepareIncrease(world().units('PYUSD', '100'));
    expect(await world().refusal(call)).toEqual(NO_POSITION);
  });
});

describe('deleverage', () => {
  async function prepareClose(amount?: bigint, floor?: bigint) {
    const { swap, flashLeverage } = world();
    const { collateral } = await world().position(alice);
    const { swapData, amountOut, minOut } = await swap('sUSDe', 'PYUSD', amount ?? collateral, flashLeverage);
    const data = leverageCall('deleverage', [0n, amount ?? 0n, swapData, floor ?? minOut]);
    return { amountOut, call: { from: alice, to: flashLeverage, data } };
  }

  test('default', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '85');
    await world().chain.increaseTime(86_400 * 30);
    const { call, amountOut } = await prepareClose();
    const before = await world().balance('PYUSD', alice);
    const receipt = await world().send(call);
    const returned = (await world().balance('PYUSD', alice)) - before;

    const position = await world().position(alice);
    expect(position).toMatchObject({ open: false, debt: 0n, collateral: 0n, amountReturnedInLoanToken: returned });
    expect(returned).toBeGreaterThan(0n);
    expect(returned).toBeLessThan(amountOut);
    expect(eventsOf(receipt)).toEqual([
      {
        eventName: 'LeveragePositionClosed',
        args: { user: alice, positionId: 0n, amountReturnedInLoanToken: returned },
      },
    ]);
  });

  test('behavior: a part keeps the LTV and the position open', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    const before = await ltvOf(world(), alice);
    const half = (await world().position(alice)).collateral / 2n;
    const receipt = await world().send((await prepareClose(half)).call);
    const position = await world().position(alice);
    expect(position.open).toBe(true);
    expect(position.amountReturnedInLoanToken).toBeGreaterThan(0n);
    expect(Number(((await ltvOf(world(), alice)) * 1_000_000n) / before)).toBeCloseTo(1_000_000, -1);
    expect(eventsOf(receipt).map(({ eventName }) => eventName)).toEqual(['CollateralWithdrawn', 'LoanRepaid']);
  });

  test('behavior: a part repays its share of the debt rounded up, and takes its share of the basis rounded down', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    const { borrowShares: held, collateral, amountDepositedInLoanToken: basis } = await world().position(alice);
    const sold = collateral / 3n + 1n;
    expect([(held * sold) % collateral, (basis * sold) % collateral]).not.toContain(0n);
    await world().send((await prepareClose(sold)).call);
    const left = await world().position(alice);
    expect(held - left.borrowShares).toBe((held * sold) / collateral + 1n);
    expect(left.amountDepositedInLoanToken).toBe(basis - (basis * sold) / collateral);
  });

  test('behavior: a position without debt is sold without a flash loan', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '20');
    const { debt } = await world().position(alice);
    await world().approve('PYUSD', alice, world().flashLeverage, debt * 2n);
    const repay = leverageCall('repay', [alice, 0n, debt * 2n, maxUint256]);
    await world().send({ from: alice, to: world().flashLeverage, data: repay });
    const { call, amountOut } = await prepareClose();
    await world().send(call);
    expect(await world().position(alice)).toMatchObject({ open: false, amountReturnedInLoanToken: amountOut });
  });

  test('error: PartialSwapNotAllowed for unused collateral', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '50');
    const { collateral } = await world().position(alice);
    const { swapData } = await world().swap('sUSDe', 'PYUSD', collateral - 1n, world().flashLeverage);
    const data = leverageCall('deleverage', [0n, 0n, swapData, 0n]);
    const refused = await world().refusal({ from: alice, to: world().flashLeverage, data });
    expect(refused?.name).toBe('FlashLeverage__PartialSwapNotAllowed');
  });

  test('error: EnforcedPause', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    const { call } = await prepareClose();
    await owner('pause', []);
    expect((await world().refusal(call))?.name).toBe('EnforcedPause');
  });

  test('error: MinTokenOutNotMet', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    const { call } = await prepareClose(undefined, 10n ** 30n);
    expect((await world().refusal(call))?.name).toBe('FlashLeverage__MinTokenOutNotMet');
  });

  test('error: the flash loan cannot be repaid from proceeds below the debt', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '90');
    await world().chain.moveOracle(world().market(MARKET), '-12');
    const { call } = await prepareClose(undefined, 0n);
    expect(await world().refusal(call)).toEqual({ name: 'Error', args: ['transferFrom reverted'] });
  });

  test('error: ExceedsCollateral', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '50');
    const { collateral } = await world().position(alice);
    const { call } = await prepareClose(collateral + 1n);
    expect((await world().refusal(call))?.name).toBe('FlashLeverage__ExceedsCollateral');
  });

  test('error: PositionAlreadyClosed', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    const { call } = await prepareClose();
    await world().send(call);
    expect((await world().refusal(call))?.name).toBe('FlashLeverage__PositionAlreadyClosed');
  });

  test('error: an index out of bounds for anybody but the owner', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    const { call } = await prepareClose();
    expect(await world().refusal({ ...call, from: mallory })).toEqual(NO_POSITION);
  });
});

test('error: EnforcedPause for every action on a position', async () => {
  await world().open(alice, MARKET, world().units('sUSDe', '1000'), '50');
  const params = await world().leverageParams(MARKET, world().units('sUSDe', '1'), '50');
  await owner('pause', []);
  for (const data of [
    leverageCall('leverage', [alice, params]),
    leverageCall('increaseLeverage', [0n, 1n, params.swapData, 0n]),
    leverageCall('deleverage', [0n, 0n, params.swapData, 0n]),
    leverageCall('supplyCollateral', [alice, 0n, 1n]),
    leverageCall('withdrawCollateral', [0n, 1n]),
    leverageCall('repay', [alice, 0n, 1n, 0n]),
    leverageCall('borrow', [0n, 1n]),
  ]) {
    expect((await world().refusal({ from: alice, to: world().flashLeverage, data }))?.name).toBe('EnforcedPause');
  }
});
