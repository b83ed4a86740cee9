import { maxUint256, zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { alice, eventsOf, leverageCall, ltvOf, mallory, OWNER, useWorld } from './world.ts';

const MARKET = 'sUSDe/PYUSD 91.5';
const USDT_MARKET = 'sUSDS/USDT 96.5';
const MAX_LTV = 912_500_000_000_000_000n;
const WAD = 10n ** 18n;
const NO_MARKET = `0x${'22'.repeat(32)}` as const;

const world = useWorld(1);

const openAt = (ltvPct: string, key = MARKET) => {
  const { open, market } = world();
  const { collateral } = market(key);
  return open(alice, key, 1000n * 10n ** BigInt(collateral.decimals), ltvPct);
};
const call = (data: `0x${string}`, from = alice) => ({ from, to: world().flashLeverage, data });

describe('supplyCollateral', () => {
  test('default', async () => {
    await openAt('80');
    const before = await world().position(alice);
    const amount = world().units('sUSDe', '500');
    await world().approve('sUSDe', alice, world().flashLeverage, amount);
    const receipt = await world().send(call(leverageCall('supplyCollateral', [alice, 0n, amount])));
    const after = await world().position(alice);
    const value = (amount * (await world().chain.oraclePrice(after.marketId))) / 10n ** 36n;
    expect(after.collateral - before.collateral).toBe(amount);
    expect(after.amountDepositedInLoanToken - before.amountDepositedInLoanToken).toBe(value);
    expect(eventsOf(receipt)).toEqual([
      {
        eventName: 'CollateralSupplied',
        args: { user: alice, positionId: 0n, amountSuppliedInLoanToken: value },
      },
    ]);
  });

  test('error: NotApprovedOperator', async () => {
    await openAt('80');
    const data = leverageCall('supplyCollateral', [alice, 0n, 1n]);
    expect((await world().refusal(call(data, mallory)))?.name).toBe('FlashLeverage__NotApprovedOperator');
  });

  test('behavior: an operator may act for another user until its removal', async () => {
    await openAt('80');
    const amount = world().units('sUSDe', '1');
    const setOperator = (approved: boolean) =>
      world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', 'setApprovedOperator', [mallory, approved]);
    await setOperator(true);
    await world().approve('sUSDe', mallory, world().flashLeverage, amount);
    const { collateral } = await world().position(alice);
    await world().send(call(leverageCall('supplyCollateral', [alice, 0n, amount]), mallory));
    expect((await world().position(alice)).collateral - collateral).toBe(amount);
    await setOperator(false);
    const refused = await world().refusal(call(leverageCall('supplyCollateral', [alice, 0n, amount]), mallory));
    expect(refused?.name).toBe('FlashLeverage__NotApprovedOperator');
  });

  test('behavior: a liquidated position stays open, without collateral', async () => {
    await openAt('90');
    await liquidate();
    expect(await world().position(alice)).toMatchObject({ open: true, collateral: 0n });
    const close = leverageCall('deleverage', [0n, 0n, { extRouter: mallory, extCalldata: '0x' }, 0n]);
    expect((await world().refusal(call(close)))?.name).toBe('FlashLeverage__AmountCannotBeZero');
  });
});

describe('withdrawCollateral', () => {
  test('default', async () => {
    await openAt('80');
    const { collateral } = await world().position(alice);
    const before = await world().balance('sUSDe', alice);
    const amount = world().units('sUSDe', '100');
    const receipt = await world().send(call(leverageCall('withdrawCollateral', [0n, amount])));
    const after = await world().position(alice);
    expect(collateral - after.collateral).toBe(amount);
    expect((await world().balance('sUSDe', alice)) - before).toBe(amount);
    expect(after.amountReturnedInLoanToken).toBe(0n);
    expect(eventsOf(receipt).map(({ eventName }) => eventName)).toEqual(['CollateralWithdrawn']);
  });

  test('behavior: withdrawing all collateral without debt closes the position', async () => {
    await openAt('20');
    await repayAll();
    const { collateral } = await world().position(alice);
    const receipt = await world().send(call(leverageCall('withdrawCollateral', [0n, collateral])));
    expect(await world().position(alice)).toMatchObject({ open: false, collateral: 0n });
    expect(eventsOf(receipt).map(({ eventName }) => eventName)).toEqual([
      'CollateralWithdrawn',
      'LeveragePositionClosed',
    ]);
  });

  test('error: ExceedsMaxLTV', async () => {
    await openAt('90');
    const amount = world().units('sUSDe', '150'); // 91.37 %: Morpho itself would allow it
    const refused = await world().refusal(call(leverageCall('withdrawCollateral', [0n, amount])));
    expect(refused).toMatchObject({ name: 'FlashLeverage__ExceedsMaxLTV', args: [expect.anything(), MAX_LTV] });
  });

  test("error: the proxy hides Morpho's reason", async () => {
    await openAt('50');
    const { collateral } = await world().position(alice);
    const refused = await world().refusal(call(leverageCall('withdrawCollateral', [0n, collateral + 1n])));
    expect(refused).toEqual({ name: 'Error', args: ['UserProxy: Call Failed'] });
  });

  test('error: EnforcedPause', async () => {
    await openAt('50');
    await world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', 'pause', []);
    expect((await world().refusal(call(leverageCall('withdrawCollateral', [0n, 1n]))))?.name).toBe('EnforcedPause');
    await world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', 'unpause', []);
  });
});

describe('repay', () => {
  test.each([
    ['PYUSD', MARKET],
    ['USDT', USDT_MARKET],
  ])('default: a part of a %s debt', async (symbol, key) => {
    await openAt('80', key);
    const before = await world().position(alice);
    const amount = world().units(symbol, '500');
    await world().approve(symbol, alice, world().flashLeverage, amount);
    const receipt = await world().send(call(leverageCall('repay', [alice, 0n, amount, 0n])));
    const after = await world().position(alice);
    const repaid = before.debt - after.debt;
    expect(repaid).toBeGreaterThan(amount - world().units(symbol, '0.01')); // interest of the seconds in between
    expect(repaid).toBeLessThanOrEqual(amount);
    expect(after.amountDepositedInLoanToken - before.amountDepositedInLoanToken).toBe(amount);
    expect(eventsOf(receipt)).toEqual([
      { eventName: 'LoanRepaid', args: { user: alice, positionId: 0n, amountRepaid: amount } },
    ]);
  });

  test.each([
    ['PYUSD', MARKET],
    ['USDT', USDT_MARKET],
  ])('behavior: max shares repay a whole %s debt', async (symbol, key) => {
    await openAt('80', key);
    await world().chain.increaseTime(86_400 * 10);
    const { debt, collateral } = await world().position(alice);
    const before = await world().balance(symbol, alice);
    await world().approve(symbol, alice, world().flashLeverage, debt * 2n);
    await world().send(call(leverageCall('repay', [alice, 0n, debt * 2n, maxUint256])));
    expect(await world().position(alice)).toMatchObject({ open: true, debt: 0n, borrowShares: 0n, collateral });
    const paid = before - (await world().balance(symbol, alice));
    expect(paid).toBeGreaterThanOrEqual(debt);
    expect(paid).toBeLessThan(debt + world().units(symbol, '0.01'));
    expect(await world().balance(symbol, world().flashLeverage)).toBe(0n);
  });

  test('behavior: an excess payment takes only the debt', async () => {
    await openAt('50');
    const { debt } = await world().position(alice);
    const before = await world().balance('PYUSD', alice);
    await world().approve('PYUSD', alice, world().flashLeverage, debt * 2n);
    await world().send(call(leverageCall('repay', [alice, 0n, debt * 2n, 0n])));
    expect((await world().position(alice)).debt).toBe(0n);
    expect(before - (await world().balance('PYUSD', alice))).toBeLessThan(debt + world().units('PYUSD', '0.01'));
  });

  test('behavior: repays given shares exactly', async () => {
    await openAt('50');
    const { debt, borrowShares } = await world().position(alice);
    await world().approve('PYUSD', alice, world().flashLeverage, debt);
    await world().send(call(leverageCall('repay', [alice, 0n, debt, borrowShares / 4n])));
    expect((await world().position(alice)).borrowShares).toBe(borrowShares - borrowShares / 4n);
  });

  test('error: AmountCannotBeZero, even with shares', async () => {
    await openAt('20');
    const refused = await world().refusal(call(leverageCall('repay', [alice, 0n, 0n, maxUint256])));
    expect(refused?.name).toBe('FlashLeverage__AmountCannotBeZero');
  });

  test('error: NotApprovedOperator', async () => {
    await openAt('50');
    const data = leverageCall('repay', [alice, 0n, 1n, 0n]);
    expect((await world().refusal(call(data, mallory)))?.name).toBe('FlashLeverage__NotApprovedOperator');
  });
});

describe('borrow', () => {
  test('default', async () => {
    await openAt('50');
    const before = { ...(await world().position(alice)), balance: await world().balance('PYUSD', alice) };
    const amount = world().units('PYUSD', '300');
    const receipt = await world().send(call(leverageCall('borrow', [0n, amount])));
    const after = await world().position(alice);
    expect((await world().balance('PYUSD', alice)) - before.balance).toBe(amount);
    expect(after.debt - before.debt).toBeGreaterThanOrEqual(amount);
    expect(before.amountDepositedInLoanToken - after.amountDepositedInLoanToken).toBe(amount);
    expect(after.amountReturnedInLoanToken).toBe(0n);
    expect(eventsOf(receipt)).toEqual([
      { eventName: 'AdditionalBorrowed', args: { user: alice, positionId: 0n, amountBorrowed: amount } },
    ]);
  });

  test('behavior: up to the maximum LTV and no further', async () => {
    await openAt('50');
    const { debt, collateral, marketId } = await world().position(alice);
    const value = (collateral * (await world().chain.oraclePrice(marketId))) / 10n ** 36n;
    const room = (value * MAX_LTV) / 10n ** 18n - debt;
    const over = await world().refusal(call(leverageCall('borrow', [0n, room + world().units('PYUSD', '0.01')])));
    expect(over).toMatchObject({ name: 'FlashLeverage__ExceedsMaxLTV', args: [expect.anything(), MAX_LTV] });
    await world().send(call(leverageCall('borrow', [0n, room - world().units('PYUSD', '0.01')])));
    expect(await ltvOf(world(), alice)).toBeLessThanOrEqual(MAX_LTV);
  });

  test('behavior: to the unit: the LTV is rounded down, and the maximum itself is accepted', async () => {
    // With 18 decimals a unit of debt is less than a unit of the LTV.
    await world().open(alice, 'sUSDe/DAI 86', world().units('sUSDe', '1000'), '50');
    const { debt, collateral, marketId } = await world().position(alice);
    const value = (collateral * (await world().chain.oraclePrice(marketId))) / 10n ** 36n;
    const maxLtv = 857_500_000_000_000_000n;
    const most = ((maxLtv + 1n) * value - 1n) / 10n ** 18n;
    expect((most * 10n ** 18n) / value).toBe(maxLtv);
    expect((most * 10n ** 18n) % value).not.toBe(0n);
    expect((await world().refusal(call(leverageCall('borrow', [0n, most - debt + 1n]))))?.name).toBe(
      'FlashLeverage__ExceedsMaxLTV',
    );
    expect(await world().refusal(call(leverageCall('borrow', [0n, most - debt])))).toBeUndefined();
  });

  test('error: EnforcedPause', async () => {
    await openAt('50');
    await world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', 'pause', []);
    expect((await world().refusal(call(leverageCall('borrow', [0n, 1n]))))?.name).toBe('EnforcedPause');
    await world().chain.call(OWNER, world().flashLeverage, 'FlashLeverage', 'unpause', []);
  });

  test('error: an index out of bounds for anybody but the owner', async () => {
    await openAt('50');
    expect(await world().refusal(call(leverageCall('borrow', [0n, 1n]), mallory))).toEqual({
      name: 'Panic',
      args: [0x32n],
    });
  });
});

describe('owner functions', () => {
  test('error: OwnableUnauthorizedAccount', async () => {
    for (const data of [
      leverageCall('pause', []),
      leverageCall('unpause', []),
      leverageCall('setSwapRouter', [mallory, true]),
      leverageCall('setApprovedOperator', [mallory, true]),
      leverageCall('addSupportedMarkets', [[]]),
      leverageCall('setMarketEnabled', [NO_MARKET, true]),
      leverageCall('updateYieldFee', [0n]),
      leverageCall('updateDepositFee', [0n]),
      leverageCall('updateTreasury', [mallory]),
      leverageCall('enableManualMode', [mallory]),
      leverageCall('recover', [world().chain.token('PYUSD').address]),
      leverageCall('transferOwnership', [mallory]),
    ]) {
      const refused = await world().refusal(call(data, mallory));
      expect(refused).toEqual({ name: 'OwnableUnauthorizedAccount', args: [mallory] });
    }
  });

  test('error: CannotBeMorpho, CannotBeUserProxy and CannotBeZeroAddress of swap routers', async () => {
    await openAt('50');
    const { userProxy } = await world().position(alice);
    const setRouter = (router: `0x${string}`) =>
      world().refusal(call(leverageCall('setSwapRouter', [router, true]), OWNER));
    expect((await setRouter(world().row.contracts.morphoBlue))?.name).toBe('FlashLeverage__CannotBeMorpho');
    expect((await setRouter(userProxy))?.name).toBe('FlashLeverage__CannotBeUserProxy');
    expect((await setRouter(zeroAddress))?.name).toBe('FlashLeverage__CannotBeZeroAddress');
  });

  test('error: a market twice, and one that Morpho does not have', async () => {
    const add = (marketId: `0x${string}`) =>
      world().refusal(call(leverageCall('addSupportedMarkets', [[{ marketId, isCorrelated: true }]]), OWNER));
    expect((await add(world().market(MARKET).id))?.name).toBe('FlashLeverage__MarketAlreadyExists');
    expect((await add(NO_MARKET))?.name).toBe('FlashLeverage__UnsupportedMarket');
    const enable = leverageCall('setMarketEnabled', [NO_MARKET, true]);
    expect((await world().refusal(call(enable, OWNER)))?.name).toBe('FlashLeverage__UnsupportedMarket');
  });

  test('error: fees above the limit of the contract', async () => {
    const yieldFee = (fee: bigint) => world().refusal(call(leverageCall('updateYieldFee', [fee]), OWNER));
    const depositFee = (fee: bigint) => world().refusal(call(leverageCall('updateDepositFee', [fee]), OWNER));
    expect(await yieldFee(WAD / 10n)).toBeUndefined();
    expect((await yieldFee(WAD / 10n + 1n))?.name).toBe('FlashLeverage__InvalidYieldFee');
    expect(await depositFee(WAD / 100n)).toBeUndefined();
    expect((await depositFee(WAD / 100n + 1n))?.name).toBe('FlashLeverage__InvalidDepositFee');
  });

  test('error: OwnershipRenunciationDisabled; a transfer of ownership takes two steps', async () => {
    const refused = await world().refusal(call(leverageCall('renounceOwnership', []), OWNER));
    expect(refused?.name).toBe('FlashLeverage__OwnershipRenunciationDisabled');
    await world().send(call(leverageCall('transferOwnership', [mallory]), OWNER));
    expect(await world().refusal(call(leverageCall('pause', []), OWNER))).toBeUndefined();
    await world().send(call(leverageCall('acceptOwnership', []), mallory));
    expect((await world().refusal(call(leverageCall('pause', []), OWNER)))?.name).toBe('OwnableUnauthorizedAccount');
  });

  test('error: UntrustedLender for a forged flash-loan callback', async () => {
    const data = leverageCall('onMorphoFlashLoan', [1n, '0x']);
    expect((await world().refusal(call(data, mallory)))?.name).toBe('FlashLeverage__UntrustedLender');
  });

  test('behavior: recover returns tokens sent by mistake', async () => {
    const { chain, flashLeverage, balance } = world();
    await chain.mint('PYUSD', flashLeverage, 7n);
    const before = await balance('PYUSD', OWNER);
    await chain.call(OWNER, flashLeverage, 'FlashLeverage', 'recover', [chain.token('PYUSD').address]);
    expect((await balance('PYUSD', OWNER)) - before).toBe(7n);
  });
});

async function repayAll(): Promise<void> {
  const { debt } = await world().position(alice);
  await world().approve('PYUSD', alice, world().flashLeverage, debt * 2n);
  await world().send(call(leverageCall('repay', [alice, 0n, debt * 2n, maxUint256])));
}

/** Let the oracle fall until the position is worth its debt, and seize all of it. */
async function liquidate(): Promise<void> {
  const { chain, position, approve, row } = world();
  const { debt, collateral, marketId, userProxy } = await position(alice);
  const { loan, collateral: token, oracle, irm, lltv } = chain.market(marketId);
  const params = { loanToken: loan.address, collateralToken: token.address, oracle, irm, lltv };
  await chain.setOraclePrice(marketId, (debt * 10n ** 36n) / collateral);
  await chain.mint(loan, mallory, debt);
  await approve(loan.symbol, mallory, row.contracts.morphoBlue, debt * 2n);
  await chain.call(mallory, row.contracts.morphoBlue, 'Morpho', 'liquidate', [params, userProxy, collateral, 0n, '0x']);
}
