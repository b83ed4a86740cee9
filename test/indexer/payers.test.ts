import { parseAbi, zeroAddress } from 'viem';
import { expect, test } from 'vitest';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { toPnl } from '../../src/domain/portfolio/pnl.ts';
import { pnlDifference } from '../../src/features/position-history/domain/pnl-difference.ts';
import type { PnlSplit } from '../../src/features/position-history/domain/pnl-split.ts';
import { Decimal, fromUnits, ZERO } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import { alice, mallory, routerCall } from '../contracts/world.ts';
import { sumOf, useHistories } from './composed-world.ts';
import { actions, MARKET } from './world.ts';

const CALLS = parseAbi([
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'function aggregate3(Call[] calls) payable',
]);

/** Payments of owners and of others for positions, and both P&Ls after them. */
const { world, database, historyOf } = useHistories();

/** The P&L by the contract's record is that by the events and the named differences, exactly, at a price of a third of a dollar. */
async function expectDifference(split: PnlSplit, paidDirectly: bigint) {
  const { amountDepositedInLoanToken, amountReturnedInLoanToken } = await world().position(alice);
  const { decimals } = world().market(MARKET).loan;
  const loanUsd = new Decimal('0.333333333333333333');
  const usd = (amount: bigint) => fromUnits(amount, decimals).times(loanUsd);
  const pnl = toPnl({
    depositedUsd: usd(amountDepositedInLoanToken),
    returnedUsd: usd(amountReturnedInLoanToken),
    netValueUsd: usd(split.netValue),
    incentivesUsd: new Decimal('1.5'),
    yieldFeeUsd: ZERO,
  });
  const recorded = { depositedAssets: amountDepositedInLoanToken, returnedAssets: amountReturnedInLoanToken };
  const found = pnlDifference({ split, pnl, recorded, loanDecimals: decimals, loanUsd });
  expect(found).toMatchObject({ paidDirectlyUsd: usd(paidDirectly).toFixed(), incentivesUsd: '1.5', gaps: [] });
  const record = new Decimal(found.recordUsd ?? '');
  const sum = usd(split.result as bigint)
    .plus(usd(paidDirectly))
    .plus(record);
  expect(pnl.baseResultUsd).toBe(sum.toFixed());
  expect(pnl.totalUsd).toBe(
    usd(split.total as bigint)
      .plus(usd(paidDirectly))
      .plus(record)
      .plus('1.5')
      .toFixed(),
  );
  // Nothing but what rounding leaves: at most a unit of each payment.
  expect(record.abs().lte(usd(3n))).toBe(true);
}

/** Add 1 collateral token to a position and repay 1,000,000 units of its debt, as anybody can at the lending protocol. */
async function payAtLender(payer: Address, onBehalf: Address) {
  const { morphoBlue } = world().row.contracts;
  const market = world().market(MARKET);
  const params = marketParams(market);
  await world().chain.mint(market.collateral, payer, 10n ** 20n);
  await world().approve(market.collateral.symbol, payer, morphoBlue, 10n ** 20n);
  await world().chain.call(payer, morphoBlue, 'Morpho', 'supplyCollateral', [params, 10n ** 18n, onBehalf, '0x']);
  await world().chain.mint(market.loan, payer, 10n ** 9n);
  await world().approve(market.loan.symbol, payer, morphoBlue, 10n ** 9n);
  await world().chain.call(payer, morphoBlue, 'Morpho', 'repay', [params, 1_000_000n, 0n, onBehalf, '0x']);
}

/** Add collateral to the position of alice with another token, through the product's router. */
async function addThroughRouter(payer: Address) {
  const { chain, units, router, row } = world();
  const amountIn = units('USDC', '500');
  await chain.mint(chain.token('USDC'), payer, amountIn);
  await world().approve('USDC', payer, router, amountIn);
  const { collateral, id } = world().market(MARKET);
  const { swapData, minOut } = await world().swap('USDC', collateral.symbol, amountIn, router);
  const args = [alice, 0n, id, chain.token('USDC').address, amountIn, swapData, minOut] as const;
  await world().send({
    from: payer,
    to: row.contracts.flashLeverageRouter,
    data: routerCall('swapAndSupplyCollateral', args),
  });
}

test('behavior: payments of others at the lending protocol are theirs, and a gain of the owner', async () => {
  await actions(world()).open('70');
  const before = await historyOf();
  const { userProxy } = await world().position(alice);
  await payAtLender(mallory, userProxy);
  const { history, split, price } = await historyOf();
  expect(history.events.map(({ kind, payer }) => [kind, payer])).toEqual([
    ['opened', 'owner'],
    ['supplied', 'other'],
    ['repaid', 'other'],
  ]);
  expect(history.incomplete).toBeUndefined();
  expect(sumOf(split)).toBe(split.total);
  expect([split.paid, split.paidDirectly]).toEqual([before.split.paid, 0n]);
  const gift = (10n ** 18n * price) / 10n ** 36n + 1_000_000n;
  expect(split.parts.paidByOthers).toBe(gift);
  expect(split.result).toBe((split.received as bigint) + split.netValue - (split.paid as bigint));
  await expectDifference(split, 0n);
});

test('behavior: payments of the owner at the lending protocol count as paid, and the record of the contract lacks them', async () => {
  await actions(world()).open('70');
  const before = await historyOf();
  const { userProxy } = await world().position(alice);
  await payAtLender(alice, userProxy);
  const { history, split, price } = await historyOf();
  expect(history.events.map(({ payer }) => payer)).toEqual(['owner', 'owner_directly', 'owner_directly']);
  const paid = (10n ** 18n * price) / 10n ** 36n + 1_000_000n;
  expect(split.parts.paidByOthers).toBe(0n);
  expect(split.paidDirectly).toBe(paid);
  // Each sum is rounded down by itself.
  expect([0n, 1n]).toContain((split.paid as bigint) - (before.split.paid as bigint) - paid);
  await expectDifference(split, paid);
});

test('behavior: a payment of another wallet through the router is its own, and one of the owner is of the owner', async () => {
  await actions(world()).open('70');
  await addThroughRouter(mallory);
  await addThroughRouter(alice);
  const { history, split } = await historyOf();
  expect(history.events.map(({ kind, payer }) => [kind, payer])).toEqual([
    ['opened', 'owner'],
    ['supplied', 'other'],
    ['supplied', 'owner'],
  ]);
  expect(history.incomplete).toBeUndefined();
  expect(sumOf(split)).toBe(split.total);
  expect(split.parts.paidByOthers).toBeGreaterThan(0n);
  expect(split.paidDirectly).toBe(0n);
});

test("behavior: a transfer of 0 tokens of the owner does not make a payment of another account the owner's", async () => {
  await actions(world()).open('70');
  const before = await historyOf();
  const { chain, units, router, row } = world();
  const amountIn = units('USDC', '500');
  const usdc = chain.token('USDC');
  await chain.mint(usdc, row.contracts.multicall3, amountIn);
  const { collateral, id } = world().market(MARKET);
  const { swapData, minOut } = await world().swap('USDC', collateral.symbol, amountIn, router);
  const tokenCall = (functionName: 'transferFrom' | 'approve', args: readonly unknown[]) => ({
    target: usdc.address,
    allowFailure: false,
    callData: encodeFunctionData({ abi: CALLS, functionName, args } as Parameters<typeof encodeFunctionData>[0]),
  });
  const supply = [alice, 0n, id, usdc.address, amountIn, swapData, minOut] as const;
  const target = row.contracts.flashLeverageRouter;
  const calls = [
    tokenCall('transferFrom', [alice, target, 0n]),
    tokenCall('approve', [target, amountIn]),
    { target, allowFailure: false, callData: routerCall('swapAndSupplyCollateral', supply) },
  ];
  const data = encodeFunctionData({ abi: CALLS, functionName: 'aggregate3', args: [calls] });
  await world().send({ from: mallory, to: row.contracts.multicall3, data });
  const { history, split } = await historyOf();
  expect(history.events.map(({ kind, payer }) => [kind, payer])).toEqual([
    ['opened', 'owner'],
    ['supplied', 'other'],
  ]);
  expect(split.paid).toBe(before.split.paid);
  expect(split.parts.paidByOthers).toBeGreaterThan(0n);
});

/** Calls of a contract of many calls, in one transaction of mallory, before it adds collateral to the position of alice. */
async function addThroughMulticall(dust: readonly { readonly from: Address; readonly amount: bigint }[]) {
  const { chain, units, router, row } = world();
  const amountIn = units('USDC', '500');
  const usdc = chain.token('USDC');
  await chain.mint(usdc, row.contracts.multicall3, amountIn);
  const { collateral, id } = world().market(MARKET);
  const { swapData, minOut } = await world().swap('USDC', collateral.symbol, amountIn, router);
  const target = row.contracts.flashLeverageRouter;
  const tokenCall = (functionName: 'transferFrom' | 'approve', args: readonly unknown[]) => ({
    target: usdc.address,
    allowFailure: false,
    callData: encodeFunctionData({ abi: CALLS, functionName, args } as Parameters<typeof encodeFunctionData>[0]),
  });
  for (const { from, amount } of dust) {
    await chain.mint(usdc, from, amount);
    await world().approve('USDC', from, row.contracts.multicall3, amount);
  }
  const supply = [alice, 0n, id, usdc.address, amountIn, swapData, minOut] as const;
  const calls = [
    ...dust.map(({ from, amount }) => tokenCall('transferFrom', [from, target, amount])),
    tokenCall('approve', [target, amountIn]),
    { target, allowFailure: false, callData: routerCall('swapAndSupplyCollateral', supply) },
  ];
  const data = encodeFunctionData({ abi: CALLS, functionName: 'aggregate3', args: [calls] });
  await world().send({ from: mallory, to: row.contracts.multicall3, data });
}

test('behavior: the payer is who gave the amount that was swapped, and not who gave the router another amount', async () => {
  await actions(world()).open('70');
  const before = await historyOf();
  await addThroughMulticall([{ from: alice, amount: 1n }]);
  const { history, split } = await historyOf();
  expect(history.events.map(({ payer }) => payer)).toEqual(['owner', 'other']);
  expect(split.paid).toBe(before.split.paid);
});

test('behavior: with the same amount of two accounts the payer is not known, and neither is the P&L', async () => {
  await actions(world()).open('70');
  await addThroughMulticall([{ from: alice, amount: world().units('USDC', '500') }]);
  const { history, split } = await historyOf();
  expect(history.events.map(({ payer }) => payer)).toEqual(['owner', 'unknown']);
  expect(split.paid).toMatchObject({ field: 'paid', reason: 'NOT_MEASURED' });
});

test.each([
  ['of another account that calls the router is its own', mallory, 'other'],
  ['of the owner is of the owner', alice, 'owner'],
])('behavior: a payment in a native token %s', async (_name, payer, expected) => {
  await actions(world()).open('70');
  const { units, router, row } = world();
  const value = units('ETH', '0.1');
  const { collateral, id } = world().market(MARKET);
  const { swapData, minOut } = await world().swap('ETH', collateral.symbol, value, router);
  const args = [alice, 0n, id, zeroAddress, value, swapData, minOut] as const;
  const data = routerCall('swapAndSupplyCollateral', args);
  await world().send({ from: payer, to: row.contracts.flashLeverageRouter, data, value });
  const { history } = await historyOf();
  expect(history.events.map(({ payer: found }) => found)).toEqual(['owner', expected]);
  // Events that an earlier version has read have no caller.
  await database()
    .db.updateTable('position_events')
    .set({ sender: null })
    .where('event', '=', 'CollateralSupplied')
    .execute();
  expect((await historyOf()).history.events.map(({ payer: found }) => found)).toEqual(['owner', 'unknown']);
});
