import { zeroAddress } from 'viem';
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

  test('behavior: nothing stays in the contract', async () => {
    await world().send((await prepareOpen('1000', '80')).call);
    expect(await world().balance('sUSDe', world().flashLeverage)).toBe(0n);
    expect(await world().balance('PYUSD', world().flashLeverage)).toBe(0n);
  });

  test('behavior: without a flash loan it holds collateral only', async () => {
    const { params } = await prepareOpen('1000', '80');
    const data = leverageCall('leverage', [alice, { ...params, amountFlashLoan: 0n }]);
    await world().send({ from: alice, to: world().flashLeverage, data });
    expect(await world().position(alice)).toMatchObject({ debt: 0n, collateral: params.amountCollateral });
  });

  test('behavior: a flash loan that the swap did not need is not borrowed', async () => {
    const { flashLeverage, swap, position } = world();
    const { params } = await prepareOpen('1000', '80');
    const half = params.amountFlashLoan / 2n;
    const { swapData } = await swap('PYUSD', 'sUSDe', half, flashLeverage);
    const data = leverageCall('leverage', [alice, { ...params, swapData, minTokenOut: 0n }]);
    await world().send({ from: alice, to: flashLeverage, data });
    expectDebt((await position(alice)).debt, half);
  });

  test('behavior: just below the maximum LTV passes', async () => {
    await world().send((await prepareOpen('1000', '91.2')).call);
    expect(await ltvOf(world(), alice)).toBeLessThanOrEqual(MAX_LTV);
  });

  test('error: LtvAboveMax', async () => {
    const { call } = await prepareOpen('1000', '91.3');
    expect(await world().refusal(call)).toMatchObject({ name: 'LtvAboveMax', args: [expect.anything(), MAX_LTV] });
  });

  test('error: InsufficientOutput', async () => {
    const { params } = await prepareOpen('1000', '80');
    const minTokenOut = params.minTokenOut * 2n;
    const data = leverageCall('leverage', [alice, { ...params, minTokenOut }]);
    const refused = await world().refusal({ from: alice, to: world().flashLeverage, data });
    expect(refused).toMatchObject({
      name: 'InsufficientOutput',
      args: [world().chain.token('sUSDe').address, expect.anything(), minTokenOut],
    });
  });

  test('error: SlippageAboveCap, whatever minimum the caller accepts', async () => {
    const { params } = await prepareOpen('1000', '80');
    const [venue = zeroAddress] = world().row.swapRouters.AggregatorOne ?? [];
    await world().chain.call(OWNER, venue, 'SwapVenue', 'setFee', [101n]);
    const { swapData } = await world().swap('PYUSD', 'sUSDe', params.amountFlashLoan, world().flashLeverage);
    const data = leverageCall('leverage', [alice, { ...params, swapData, minTokenOut: 0n }]);
    const refused = await world().refusal({ from: alice, to: world().flashLeverage, data });
    expect(refused?.name).toBe('SlippageAboveCap');
  });

  test('error: SwapRouterNotAllowed', async () => {
    const { params, call } = await prepareOpen('1000', '80');
    const { extRouter } = params.swapData;
    await world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', 'setSwapRouter', [extRouter, false]);
    expect(await world().refusal(call)).toEqual({ name: 'SwapRouterNotAllowed', args: [extRouter] });
  });

  test('error: SwapFailed with the venue reason', async () => {
    const { call } = await prepareOpen('1000', '80');
    await world().chain.moveOracle(world().market(MARKET), '2');
    expect(await world().refusal(call)).toMatchObject({ name: 'SwapFailed', reason: 'OutputBelowMinimum' });
  });

  test('error: MarketNotSupported', async () => {
    const { params } = await prepareOpen('1000', '80');
    const marketId = `0x${'11'.repeat(32)}` as const;
    const data = leverageCall('leverage', [alice, { ...params, marketId }]);
    const refused = await world().refusal({ from: alice, to: world().flashLeverage, data });
    expect(refused).toEqual({ name: 'MarketNotSupported', args: [marketId] });
  });

  test('error: ZeroAmount', async () => {
    const { params } = await prepareOpen('1000', '80');
    const data = leverageCall('leverage', [alice, { ...params, amountCollateral: 0n }]);
    expect((await world().refusal({ from: alice, to: world().flashLeverage, data }))?.name).toBe('ZeroAmount');
  });

  test('error: TokenTransferFailed without an allowance', async () => {
    const { call } = await prepareOpen('1000', '80');
    await world().approve('sUSDe', alice, world().flashLeverage, 0n);
    expect((await world().refusal(call))?.name).toBe('TokenTransferFailed');
  });

  test('error: NotApprovedOperator', async () => {
    const { call } = await prepareOpen('1000', '80');
    expect(await world().refusal({ ...call, from: mallory })).toEqual({
      name: 'NotApprovedOperator',
      args: [mallory, alice],
    });
  });

  test('error: ContractPaused', async () => {
    const { call } = await prepareOpen('1000', '80');
    await world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', 'pause', []);
    expect((await world().refusal(call))?.name).toBe('ContractPaused');
    await world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', 'unpause', []);
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

  test('error: LtvAboveMax', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '90');
    const call = await prepareIncrease(world().units('PYUSD', '9000'));
    expect((await world().refusal(call))?.name).toBe('LtvAboveMax');
  });

  test('error: PositionNotFound', async () => {
    const call = await prepareIncrease(world().units('PYUSD', '100'));
    expect(await world().refusal(call)).toEqual({ name: 'PositionNotFound', args: [alice, 0n] });
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

  test('behavior: a position without debt is sold without a flash loan', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '0');
    const { call, amountOut } = await prepareClose();
    await world().send(call);
    expect(await world().position(alice)).toMatchObject({ open: false, amountReturnedInLoanToken: amountOut });
  });

  test('behavior: collateral that the swap left goes back to the owner', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '50');
    const { collateral } = await world().position(alice);
    const sold = (collateral * 3n) / 4n;
    const { swapData } = await world().swap('sUSDe', 'PYUSD', sold, world().flashLeverage);
    const before = await world().balance('sUSDe', alice);
    const data = leverageCall('deleverage', [0n, 0n, swapData, 0n]);
    await world().send({ from: alice, to: world().flashLeverage, data });
    expect((await world().balance('sUSDe', alice)) - before).toBe(collateral - sold);
    expect((await world().position(alice)).open).toBe(false);
  });

  test('behavior: works while paused', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    await world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', 'pause', []);
    await world().send((await prepareClose()).call);
    expect((await world().position(alice)).open).toBe(false);
  });

  test('error: InsufficientOutput', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    const { call } = await prepareClose(undefined, 10n ** 30n);
    expect((await world().refusal(call))?.name).toBe('InsufficientOutput');
  });

  test('error: ProceedsBelowDebt', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    const { collateral } = await world().position(alice);
    const { swapData } = await world().swap('sUSDe', 'PYUSD', collateral / 2n, world().flashLeverage);
    const data = leverageCall('deleverage', [0n, 0n, swapData, 0n]);
    const refused = await world().refusal({ from: alice, to: world().flashLeverage, data });
    expect(refused?.name).toBe('ProceedsBelowDebt');
  });

  test('error: CollateralAboveBalance', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '50');
    const { collateral } = await world().position(alice);
    const { call } = await prepareClose(collateral + 1n);
    expect(await world().refusal(call)).toEqual({
      name: 'CollateralAboveBalance',
      args: [collateral + 1n, collateral],
    });
  });

  test('error: PositionNotOpen', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    const { call } = await prepareClose();
    await world().send(call);
    expect(await world().refusal(call)).toEqual({ name: 'PositionNotOpen', args: [alice, 0n] });
  });

  test('error: PositionNotFound for anybody but the owner', async () => {
    await world().open(alice, MARKET, world().units('sUSDe', '1000'), '80');
    const { call } = await prepareClose();
    expect((await world().refusal({ ...call, from: mallory }))?.name).toBe('PositionNotFound');
  });
});
