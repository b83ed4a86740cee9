import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Decimal, fromUnits } from '../../../src/shared/decimal.ts';
import type { Hex } from '../../../src/shared/ids.ts';
import { CHAIN_ID } from '../../support/equity.ts';
import { vaultVariables } from '../../support/partner-inputs.ts';
import { type Json, PARTNER } from '../../support/service.ts';
import { account, expectNear, expectPoints, user, useVaults } from '../../support/vaults.ts';

const vaults = useVaults();
const { build, deposit, positionIn } = vaults;

/** LTV of a deposit by itself, and the wallet's whole stock leg after it. */
async function combinedPreview(input: object): Promise<[string, Json]> {
  const { body } = await vaults.service.graphql(
    `mutation($wallet: Address!, $input: EquityDepositInput!) { equityDepositPlan(wallet: $wallet, input: $input) {
      ... on EquityDepositPlan { deposit { stock {
      ltvPct combined { collateralAmount debtAmount ltvPct liquidationPriceUsd priceDropToLiquidationPct } } } } } }`,
    { ...vaultVariables(input) },
    PARTNER,
  );
  const { ltvPct, combined } = body.data.equityDepositPlan.deposit.stock;
  return [ltvPct, combined];
}

describe('deposit', () => {
  test('behavior: a second deposit stacks, and one exit closes both loops', async () => {
    const vault = vaults.verbs.vault('SPY');
    await deposit(vault, '8000');
    const next = { strategyId: vault.id, amount: '5000', stockLtvPct: '40' };
    const [own, combined] = await combinedPreview({ ...next, userAddress: user });
    await deposit(vault, '5000', undefined, { stockLtvPct: '40' });
    const position = await positionIn(vault);
    expectPoints(position.stock.ltvPct, combined.ltvPct, 'LTV of both together');
    expectPoints(position.stock.priceDropToLiquidationPct, combined.priceDropToLiquidationPct, 'drop');
    expectNear(position.stock.liquidationPriceUsd, combined.liquidationPriceUsd, 'combined.liquidationPriceUsd');
    expectNear(position.stock.debtUsdg, combined.debtAmount, 'combined.debtAmount');
    expectNear(position.stock.collateral, combined.collateralAmount, 'combined.collateralAmount');
    expect(new Decimal(own).lt(combined.ltvPct)).toBe(true);
    expect(position.yieldLoops.map(({ id }: Json) => id)).toEqual([1, 0]);
    const exit = await build('exit', { strategyId: vault.id, userAddress: user });
    expect(exit.calls).toHaveLength(5);
    await vaults.verbs.sendAtomically(user, exit.calls);
    expect(await vaults.verbs.stockLeg(vault, user)).toEqual({ borrowShares: 0n, collateral: 0n });
    expect((await vaults.verbs.loops(user)).some(({ open }) => open)).toBe(false);
  });

  test('behavior: builds on a chain whose clock is ahead of this machine', async () => {
    await vaults.verbs.local.increaseTime(120);
    const body = { strategyId: vaults.verbs.vault('SPY').id, amount: '1000', userAddress: user };
    expect((await build('deposit', body)).calls).toHaveLength(4);
  });

  test('behavior: the preview includes the effect of its own loan on the rates', async () => {
    const vault = vaults.verbs.vault('NVDA');
    const { deposit: shown } = await vaults.verbs.preview({ strategyId: vault.id, amount: '20000' });
    expect(new Decimal(shown.netApyPct).lt(shown.netApyBeforePct)).toBe(true);
    expect(new Decimal(shown.stock.borrowApyPct).gte(shown.stock.borrowApyBeforePct)).toBe(true);
    expect(new Decimal(shown.yieldLeg.leverageApyPct).lt(shown.yieldLeg.leverageApyBeforePct)).toBe(true);
    const { meta } = await deposit(vault, '20000');
    const { preview } = meta;
    await vaults.service.refresh(`lending-state:${CHAIN_ID}`);
    const position = await positionIn(vault);
    expectPoints(position.stock.borrowApyPct, preview.stock.borrowApyPct, 'borrow APY');
    expectPoints(position.yieldLoops[0].currentLeverageApyPct, preview.yieldLeg.leverageApyPct, 'APY of the loop');
    expectPoints(position.currentNetApyPct, preview.netApyPct, 'net APY');
  });

  test('behavior: does not request a sufficient allowance again', async () => {
    const vault = vaults.verbs.vault('SPY');
    await vaults.verbs.fund(user, vault, 1_000_000_000n);
    const body = { strategyId: vault.id, amount: '1000', userAddress: user };
    const first = await build('deposit', body);
    expect(first.calls).toHaveLength(4);
    await vaults.verbs.sendInOrder(account, first.calls.slice(0, 1));
    const second = await build('deposit', body);
    expect(second.calls).toHaveLength(3);
    await vaults.verbs.sendAtomically(user, second.calls);
    expect((await positionIn(vault)).stock.collateral).toBe(second.meta.preview.stock.expectedReceived);
  });

  test('behavior: revokes a leftover authorization of an incomplete batch first', async () => {
    const vault = vaults.verbs.vault('NVDA');
    await vaults.verbs.authorize(user, true);
    await deposit(vault, '1000');
    expect(await vaults.verbs.isAuthorized(user)).toBe(false);
    await vaults.verbs.authorize(user, true);
    const exit = await build('exit', { strategyId: vault.id, userAddress: user });
    expect(await vaults.verbs.sendInOrder(account, exit.calls)).toEqual([true, true, true, true, true]);
    expect(await vaults.verbs.isAuthorized(user)).toBe(false);
    expect((await vaults.verbs.stockLeg(vault, user)).collateral).toBe(0n);
  });

  test('behavior: both surfaces return the same calls, over GraphQL also as wallet_sendCalls and decoded', async () => {
    const vault = vaults.verbs.vault('SPY');
    const input = { strategyId: vault.id, amount: '1500', userAddress: user };
    const [rest, graphql] = [await build('deposit', input), await vaults.verbs.deposit(input)];
    expect(graphql).toMatchObject({
      __typename: 'EquityDepositPlan',
      atomicRequired: true,
      action: 'EQUITY_DEPOSIT',
    });
    expect(graphql.calls.map(({ to, data }: Json) => ({ to, data }))).toEqual(rest.calls);
    expect(graphql.sendCalls).toEqual({
      version: '2.0.0',
      chainId: '0x1237',
      from: user,
      atomicRequired: true,
      calls: rest.calls.map((call: Json) => ({ ...call, value: '0x0' })),
    });
    expect(graphql.calls.map(({ intent }: Json) => intent.functionName)).toEqual([
      'approve',
      'setAuthorization',
      'equityEntry',
      'setAuthorization',
    ]);
    const argumentsOf = (index: number) =>
      Object.fromEntries(graphql.calls[index].intent.arguments.map(({ name, value }: Json) => [name, value]));
    expect(argumentsOf(0)).toEqual({ spender: vaults.verbs.router, amount: '1500000000' });
    expect(argumentsOf(1)).toEqual({ authorized: vaults.verbs.router, newIsAuthorized: 'true' });
    expect(argumentsOf(2)).toMatchObject({
      'params.depositToken': vault.depositToken.address,
      'params.amountIn': '1500000000',
      'params.stockMarketId': vault.stockMarket.id,
      'params.leverageParams.marketId': vault.yieldMarket.id,
      'params.leverageParams.amountCollateral': '0',
    });
    expect(argumentsOf(3)).toEqual({ authorized: vaults.verbs.router, newIsAuthorized: 'false' });
    expect(Date.parse(rest.meta.expiresAt) - vaults.service.clock.now()).toBeLessThanOrEqual(60_000);
  });

  test('behavior: an empty wallet gets its batch with a note', async () => {
    const vault = vaults.verbs.vault('SPY');
    const input = { strategyId: vault.id, amount: '1234.5', userAddress: user };
    const spent = await vaults.verbs.balance(vault.depositToken.address, user);
    await vaults.verbs.local.send({ from: user, to: vault.depositToken.address, data: transferAll(spent) });
    const { calls, meta } = await build('deposit', { ...input, slippage: 0.02 });
    expect(calls).toHaveLength(4);
    expect(meta.instructions).toContain('1234.5 USDG');
    const { issues, simulatedGas } = await vaults.verbs.deposit(input);
    expect(issues).toMatchObject([{ kind: 'INSUFFICIENT_BALANCE', required: '1234.5', available: '0' }]);
    expect(meta.instructions).toContain('Of the slippage 0.02 only 0.01 counts');
    expect(meta.issues).toContainEqual(
      expect.objectContaining({ kind: 'slippage_capped', requestedSlippage: 0.02, effectiveSlippage: 0.01 }),
    );
    expect(BigInt(simulatedGas)).toBeGreaterThan(0n);
  });
});

describe('with a receiver of fees and an app', () => {
  const receiver = '0x00000000000000000000000000000000000FEE00';
  beforeAll(() => vaults.service.restart({ FEE_RECEIVER: receiver, APP_URL: 'https://app.example/' }));
  afterAll(() => vaults.service.restart());

  test('behavior: the receiver gets the previewed fees, 25 bps of the stock leg and 5 of the yield leg, and none of an exit', async () => {
    const vault = vaults.verbs.vault('SPY');
    const received = () => vaults.verbs.balance(vault.depositToken.address, receiver);
    const { meta } = await deposit(vault, '10000');
    const { fees, stock, yieldLeg, depositToken } = meta.preview;
    expect(fees).toMatchObject({ stockLegBps: 25, yieldLegBps: 5 });
    const legs = new Decimal(stock.borrowUsdg).plus(yieldLeg.amountFlashLoan).times('0.0005');
    const taken = fromUnits(await received(), depositToken.decimals);
    expectNear(taken.toFixed(), legs.plus(25).toFixed(), 'fees');
    // In USD: the token itself is worth a little less than a dollar.
    expect(taken.minus(fees.estimatedFeeUsd).abs().lt('0.05')).toBe(true);
    const position = await positionIn(vault);
    expectPoints(position.stock.ltvPct, stock.ltvPct, 'LTV');
    const exit = await build('exit', { strategyId: vault.id, userAddress: user });
    const receivedBefore = await received();
    await vaults.verbs.sendAtomically(user, exit.calls);
    expect(await received()).toBe(receivedBefore);
  });

  test('behavior: the link has the request, not the calls', async () => {
    const vault = vaults.verbs.vault('SPY');
    const { meta } = await build('deposit', {
      strategyId: vault.id,
      amount: '10',
      maxSwapLossPct: 3,
      userAddress: user,
    });
    const link = new URL(meta.signingUrl);
    expect(`${link.origin}${link.pathname}`).toBe('https://app.example/sign');
    expect(Object.fromEntries(link.searchParams)).toEqual({
      chainId: '4663',
      action: 'equity_deposit',
      userAddress: user,
      strategyId: vault.id,
      amount: '10',
      stockLtvPct: '50',
      slippage: '0.01',
      maxSwapLossPct: '3',
    });
  });
});

function transferAll(amount: bigint): Hex {
  const to = '000000000000000000000000000000000000000000000000000000000000dead';
  return `0xa9059cbb${to}${amount.toString(16).padStart(64, '0')}`;
}
