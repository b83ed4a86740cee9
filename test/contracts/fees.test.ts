import { type Hex, maxUint256 } from 'viem';
import { describe, expect, test } from 'vitest';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { TREASURY } from '../../devnet/seed/accounts.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { alice, leverageCall, useWorld } from './world.ts';

const CORRELATED = 'sUSDe/PYUSD 91.5';
const UNCORRELATED = 'WBTC/USDC 86';
const WAD = 10n ** 18n;
const YIELD_FEE = WAD / 10n;
const DEPOSIT_FEE = WAD / 100n;

const world = useWorld(1, { yieldFee: YIELD_FEE, depositFee: DEPOSIT_FEE });

const send = (data: Hex) => world().send({ from: alice, to: world().flashLeverage, data });
const refusal = (data: Hex) => world().refusal({ from: alice, to: world().flashLeverage, data });
const depositFee = (amount: bigint) => (amount * DEPOSIT_FEE) / WAD;
const worthOf = async (key: string, collateral: bigint) =>
  (collateral * (await world().chain.oraclePrice(world().market(key)))) / 10n ** 36n;

/** The amounts of a token that the treasury and Alice received during an action. */
async function gains(symbol: string, run: () => Promise<unknown>) {
  const read = () => Promise.all([world().balance(symbol, TREASURY), world().balance(symbol, alice)]);
  const [treasury, user] = await read();
  await run();
  const [treasuryAfter, userAfter] = await read();
  return { treasury: treasuryAfter - treasury, user: userAfter - user };
}

async function close(key: string, amountCollateral = 0n) {
  const { collateral } = await world().position(alice);
  const { swap, market, flashLeverage } = world();
  const amount = amountCollateral === 0n ? collateral : amountCollateral;
  const symbols = [market(key).collateral.symbol, market(key).loan.symbol] as const;
  const { swapData, amountOut } = await swap(...symbols, amount, flashLeverage);
  return { amountOut, data: leverageCall('deleverage', [0n, amountCollateral, swapData, 0n]) };
}

describe('an uncorrelated market takes the deposit fee', () => {
  test('at leverage: of the collateral, before it counts', async () => {
    const amount = world().units('WBTC', '0.5');
    const params = await world().leverageParams(UNCORRELATED, amount, '50');
    await world().approve('WBTC', alice, world().flashLeverage, amount);
    const { treasury, user } = await gains('WBTC', () => send(leverageCall('leverage', [alice, params])));
    expect(user).toBe(-amount);
    expect(treasury).toBe(depositFee(amount));
    const position = await world().position(alice);
    const net = amount - depositFee(amount);
    expect(position.amountDepositedInLoanToken).toBe(await worthOf(UNCORRELATED, net));
    expect(position.collateral - net).toBeGreaterThanOrEqual(params.minTokenOut);
  });

  test('at supplyCollateral', async () => {
    await world().open(alice, UNCORRELATED, world().units('WBTC', '0.5'), '50');
    const before = await world().position(alice);
    const amount = world().units('WBTC', '0.1234567');
    await world().approve('WBTC', alice, world().flashLeverage, amount);
    const supply = leverageCall('supplyCollateral', [alice, 0n, amount]);
    const { treasury } = await gains('WBTC', () => send(supply));
    expect(treasury).toBe(depositFee(amount));
    const after = await world().position(alice);
    const net = amount - depositFee(amount);
    expect(after.collateral - before.collateral).toBe(net);
    expect(after.amountDepositedInLoanToken - before.amountDepositedInLoanToken).toBe(await worthOf(UNCORRELATED, net));
  });

  test('at repay: of the loan tokens', async () => {
    await world().open(alice, UNCORRELATED, world().units('WBTC', '0.5'), '50');
    const before = await world().position(alice);
    const amount = world().units('USDC', '1000.000001');
    await world().approve('USDC', alice, world().flashLeverage, amount);
    const { treasury, user } = await gains('USDC', () => send(leverageCall('repay', [alice, 0n, amount, 0n])));
    expect({ treasury, user }).toEqual({ treasury: depositFee(amount), user: -amount });
    const after = await world().position(alice);
    expect(after.amountDepositedInLoanToken - before.amountDepositedInLoanToken).toBe(amount - depositFee(amount));
    expect(before.debt - after.debt).toBeLessThanOrEqual(amount - depositFee(amount));
  });

  test('at a full repayment: of the whole payment; returns the surplus over the debt', async () => {
    await world().open(alice, UNCORRELATED, world().units('WBTC', '0.5'), '50');
    const { debt, amountDepositedInLoanToken: basis } = await world().position(alice);
    const amount = (debt * 102n) / 100n;
    await world().approve('USDC', alice, world().flashLeverage, amount);
    const repay = leverageCall('repay', [alice, 0n, amount, maxUint256]);
    const { treasury, user } = await gains('USDC', () => send(repay));
    const after = await world().position(alice);
    expect(after).toMatchObject({ open: true, debt: 0n, borrowShares: 0n });
    const repaid = after.amountDepositedInLoanToken - basis;
    expect(repaid).toBeGreaterThanOrEqual(debt);
    expect({ treasury, user }).toEqual({ treasury: depositFee(amount), user: -(repaid + depositFee(amount)) });
  });

  test('error: a full repayment that the fee leaves short', async () => {
    await world().open(alice, UNCORRELATED, world().units('WBTC', '0.5'), '50');
    const { debt } = await world().position(alice);
    await world().approve('USDC', alice, world().flashLeverage, debt * 2n);
    const repay = leverageCall('repay', [alice, 0n, debt + debt / 1_000n, maxUint256]);
    expect(await refusal(repay)).toEqual({ name: 'Error', args: ['transferFrom reverted'] });
  });

  test('no yield fee', async () => {
    await world().open(alice, UNCORRELATED, world().units('WBTC', '0.5'), '50');
    await world().chain.moveOracle(world().market(UNCORRELATED), '10');
    const withdraw = leverageCall('withdrawCollateral', [0n, world().units('WBTC', '0.01')]);
    const withdrawn = await gains('WBTC', () => send(withdraw));
    expect(withdrawn).toEqual({ treasury: 0n, user: world().units('WBTC', '0.01') });
    const { data } = await close(UNCORRELATED);
    expect((await gains('USDC', () => send(data))).treasury).toBe(0n);
  });
});

describe('a correlated market takes the yield fee', () => {
  const open = () => world().open(alice, CORRELATED, world().units('sUSDe', '1000'), '80');

  test('no deposit fee', async () => {
    const amount = world().units('sUSDe', '10');
    const opened = await gains('sUSDe', open);
    await world().approve('sUSDe', alice, world().flashLeverage, amount);
    const supplied = await gains('sUSDe', () => send(leverageCall('supplyCollateral', [alice, 0n, amount])));
    await world().approve('PYUSD', alice, world().flashLeverage, 1_000_000n);
    const repaid = await gains('PYUSD', () => send(leverageCall('repay', [alice, 0n, 1_000_000n, 0n])));
    expect([opened.treasury, supplied.treasury, repaid.treasury]).toEqual([0n, 0n, 0n]);
  });

  test('at deleverage: of the proceeds above the basis', async () => {
    await open();
    await world().chain.moveOracle(world().market(CORRELATED), '5');
    const { data } = await close(CORRELATED);
    const { amountDepositedInLoanToken: basis } = await world().position(alice);
    const { treasury, user } = await gains('PYUSD', () => send(data));
    const returned = treasury + user;
    expect(returned).toBeGreaterThan(basis);
    expect(treasury).toBe(((returned - basis) * YIELD_FEE) / WAD);
    expect((await world().position(alice)).amountReturnedInLoanToken).toBe(user);
  });

  test('behavior: no fee on a loss', async () => {
    await open();
    await world().chain.moveOracle(world().market(CORRELATED), '-1');
    const { data } = await close(CORRELATED);
    expect((await gains('PYUSD', () => send(data))).treasury).toBe(0n);
  });

  test('behavior: a part of the collateral takes its share of debt and basis, and pays on its own yield', async () => {
    await open();
    await world().chain.moveOracle(world().market(CORRELATED), '5');
    const before = await world().position(alice);
    const part = before.collateral / 3n;
    const { data } = await close(CORRELATED, part);
    const { treasury, user } = await gains('PYUSD', () => send(data));
    const share = (before.amountDepositedInLoanToken * part) / before.collateral;
    expect(treasury).toBe(((treasury + user - share) * YIELD_FEE) / WAD);
    const after = await world().position(alice);
    expect(after).toMatchObject({ open: true, amountReturnedInLoanToken: user });
    expect(after.amountDepositedInLoanToken).toBe(before.amountDepositedInLoanToken - share);
  });

  test.each([
    ['within the yield', '100'],
    ['beyond the yield', '500'],
  ])('at withdrawCollateral, %s', async (_name, whole) => {
    await open();
    const { amountDepositedInLoanToken: basis } = await world().position(alice);
    await world().chain.moveOracle(world().market(CORRELATED), '12');
    const amount = world().units('sUSDe', whole);
    const { treasury, user } = await gains('sUSDe', () => send(leverageCall('withdrawCollateral', [0n, amount])));
    const { collateral, debt, amountDepositedInLoanToken: left } = await world().position(alice);
    const withdrawn = await worthOf(CORRELATED, amount);
    const yieldAfter = (await worthOf(CORRELATED, collateral)) - debt - basis;
    const feeInLoan = ((yieldAfter < withdrawn ? yieldAfter : withdrawn) * YIELD_FEE) / WAD;
    expect(yieldAfter < withdrawn).toBe(whole === '500');
    expect(treasury).toBe((feeInLoan * amount) / withdrawn);
    expect(left).toBe(basis - withdrawn);
    expect(treasury + user).toBe(amount);
  });
});

describe('the basis', () => {
  test('error: BorrowExceedsDepositedForCorrelatedPairs, one unit above it', async () => {
    await world().open(alice, CORRELATED, world().units('sUSDe', '1000'), '20');
    await world().chain.moveOracle(world().market(CORRELATED), '100');
    const { amountDepositedInLoanToken: basis } = await world().position(alice);
    const refused = await refusal(leverageCall('borrow', [0n, basis + 1n]));
    expect(refused?.name).toBe('FlashLeverage__BorrowExceedsDepositedForCorrelatedPairs');
    await send(leverageCall('borrow', [0n, basis / 2n]));
    expect((await world().position(alice)).amountDepositedInLoanToken).toBe(basis - basis / 2n);
  });

  test('behavior: stops at zero on an uncorrelated market', async () => {
    await world().open(alice, UNCORRELATED, world().units('WBTC', '0.5'), '20');
    await world().chain.moveOracle(world().market(UNCORRELATED), '60');
    const { amountDepositedInLoanToken: basis } = await world().position(alice);
    const { user } = await gains('USDC', () => send(leverageCall('borrow', [0n, basis + 1n])));
    expect(user).toBe(basis + 1n);
    expect((await world().position(alice)).amountDepositedInLoanToken).toBe(0n);
  });

  test('behavior: stops at zero after larger withdrawals', async () => {
    await world().open(alice, CORRELATED, world().units('sUSDe', '1000'), '20');
    await world().chain.moveOracle(world().market(CORRELATED), '100');
    const { collateral } = await world().position(alice);
    await send(leverageCall('withdrawCollateral', [0n, collateral / 2n]));
    expect((await world().position(alice)).amountDepositedInLoanToken).toBe(0n);
  });

  test('behavior: increasing the leverage does not change it', async () => {
    await world().open(alice, CORRELATED, world().units('sUSDe', '1000'), '50');
    const { amountDepositedInLoanToken: basis } = await world().position(alice);
    const { swapData } = await world().swap('PYUSD', 'sUSDe', 1_000_000n, world().flashLeverage);
    await send(leverageCall('increaseLeverage', [0n, 1_000_000n, swapData, 0n]));
    expect((await world().position(alice)).amountDepositedInLoanToken).toBe(basis);
  });
});

describe('a deployment with 2.5 points of buffer', () => {
  const wide = useWorld(1, { liquidationBuffer: 25_000_000_000_000_000n });

  test('error: ExceedsMaxLTV above 89 instead of 91.25', async () => {
    const { client, flashLeverage, market, units, approve, leverageParams } = wide();
    const read = { address: flashLeverage, abi: flashLeverageAbi } as const;
    expect(await client.readContract({ ...read, functionName: 'LIQUIDATION_BUFFER' })).toBe(25_000_000_000_000_000n);
    const maxLtv = 890_000_000_000_000_000n;
    const args = [marketParams(market(CORRELATED))] as const;
    expect(await client.readContract({ ...read, functionName: 'getMaxLtv', args })).toBe(maxLtv);
    const amount = units('sUSDe', '1000');
    await approve('sUSDe', alice, flashLeverage, amount);
    const open = async (ltvPct: string) => {
      const params = await leverageParams(CORRELATED, amount, ltvPct);
      const data = leverageCall('leverage', [alice, params]);
      return wide().refusal({ from: alice, to: flashLeverage, data });
    };
    expect(await open('88.9')).toBeUndefined();
    expect(await open('89.1')).toEqual({
      name: 'FlashLeverage__ExceedsMaxLTV',
      args: [expect.anything(), maxLtv],
    });
  });
});
