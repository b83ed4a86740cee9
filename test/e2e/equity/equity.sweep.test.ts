import { describe, expect, test } from 'vitest';
import { Decimal, fromUnits } from '../../../src/shared/decimal.ts';
import { CHAIN_ID } from '../../support/equity.ts';
import { bodyViolation } from '../../support/row-body.ts';
import { account, expectNear, expectPoints, type Send, user, useVaults } from '../../support/vaults.ts';

const vaults = useVaults();
const { build, deposit, positionIn } = vaults;

const WAYS: readonly (readonly [string, Send])[] = [
  ['the whole batch atomically', (calls) => vaults.verbs.sendAtomically(user, calls)],
  [
    'call by call in order',
    async (calls) => expect(await vaults.verbs.sendInOrder(account, calls)).toEqual(calls.map(() => true)),
  ],
];

describe.each(WAYS)('deposit and exit, %s', (_way, send) => {
  test.each([
    ['SPY', '20000', undefined],
    ['NVDA', '3500', '55'],
    ['TSLA', '1000', '12.5'],
  ] as const)('%s', async (symbol, amount, stockLtvPct) => {
    const vault = vaults.verbs.vault(symbol);
    const input = { strategyId: vault.id, amount, stockLtvPct };
    const before = await vaults.verbs.balance(vault.depositToken.address, user);
    const stockBefore = await vaults.verbs.balance(vault.stock.address, user);
    const simulated = await vaults.verbs.post('/v1/partner/equity/simulate', input);
    expect(simulated.status, simulated.text).toBe(200);
    expect(bodyViolation('equitySimulate', simulated.body)).toBeNull();
    const { preview } = simulated.body;

    const built = await deposit(vault, amount, send, input);
    expect(built).toMatchObject({ chainId: CHAIN_ID, action: 'equity_deposit', strategyId: vault.id, atomic: true });
    // The wallet is funded in between, which takes blocks, and the feeds answer in each.
    const { readAt, oraclePriceAsOf, yieldLeg } = built.meta.preview;
    // Only the built plan knows the wallet, which holds nothing in the vault yet.
    const { expectedReceived, borrowUsdg, ltvPct, liquidationPriceUsd, priceDropToLiquidationPct } = preview.stock;
    const combined = {
      collateral: expectedReceived,
      debtUsdg: borrowUsdg,
      ltvPct,
      liquidationPriceUsd,
      priceDropToLiquidationPct,
    };
    const since = {
      readAt,
      oraclePriceAsOf,
      stock: { ...preview.stock, combined },
      yieldLeg: { ...preview.yieldLeg, oraclePriceAsOf: yieldLeg.oraclePriceAsOf },
    };
    expect(built.meta.preview).toEqual({ ...preview, ...since });
    expect(await vaults.verbs.isAuthorized(user)).toBe(false);

    const position = await positionIn(vault);
    expectPoints(position.stock.ltvPct, preview.stock.ltvPct, 'LTV');
    expectNear(position.stock.liquidationPriceUsd, preview.stock.liquidationPriceUsd, 'liquidation price');
    expectPoints(position.stock.priceDropToLiquidationPct, preview.stock.priceDropToLiquidationPct, 'price drop');
    expectNear(position.stock.debtUsdg, preview.stock.borrowUsdg, 'borrow');
    // A position has the rates of its block, after the deposit.
    expectPoints(position.currentNetApyPct, preview.netApyPct, 'net APY');
    expect(position).toMatchObject({
      yieldLoopMatch: 'basis',
      stock: { collateral: preview.stock.expectedReceived },
    });
    const [loop] = position.yieldLoops;
    expectPoints(loop.ltvPct, preview.yieldLeg.ltvPct, 'LTV of the loop');
    expectPoints(loop.currentLeverageApyPct, preview.yieldLeg.leverageApyPct, 'APY of the loop');
    expectNear(loop.amountLoan, preview.yieldLeg.amountFlashLoan, 'debt of the loop');
    expect((await vaults.verbs.positions(user)).positions).toEqual([]);

    const exit = await build('exit', { strategyId: vault.id, userAddress: user });
    expect(exit).toMatchObject({ action: 'equity_exit', meta: { position: { strategyId: vault.id } } });
    await send(exit.calls);
    expect(await vaults.verbs.stockLeg(vault, user)).toEqual({ borrowShares: 0n, collateral: 0n });
    expect((await vaults.verbs.loops(user)).map(({ open }) => open)).toEqual([false]);
    expect(await vaults.verbs.isAuthorized(user)).toBe(false);
    expect((await vaults.verbs.positions(user)).equityPositions).toEqual([]);
    const back = fromUnits(
      (await vaults.verbs.balance(vault.depositToken.address, user)) - before,
      vault.depositToken.decimals,
    );
    // The exit returns the value of the vault less the losses of its swaps; nothing is left elsewhere.
    const worth = new Decimal(position.netValueUsd);
    expect(back.gt(worth.times('0.99')) && back.lt(worth.times('1.001')), `${back} of ${worth}`).toBe(true);
    expect(await vaults.verbs.balance(vault.stock.address, user)).toBe(stockBefore);
    expect(await vaults.verbs.balance(vault.stock.address, vaults.verbs.router)).toBe(0n);
    expect(await vaults.verbs.balance(vault.depositToken.address, vaults.verbs.router)).toBe(0n);
  });
});

describe('when a call in the middle fails', () => {
  test('behavior: sent in order, the last call of a deposit still revokes, and nothing was deposited', async () => {
    const vault = vaults.verbs.vault('TSLA');
    await vaults.verbs.fund(user, vault, 2_000_000_000n);
    const before = await vaults.verbs.balance(vault.depositToken.address, user);
    const { calls } = await build('deposit', { strategyId: vault.id, amount: '2000', userAddress: user });
    await vaults.verbs.local.moveOracle(vault.stockMarket, '5');
    expect(await vaults.verbs.sendInOrder(account, calls)).toEqual([true, true, false, true]);
    expect(await vaults.verbs.isAuthorized(user)).toBe(false);
    expect(await vaults.verbs.balance(vault.depositToken.address, user)).toBe(before);
    expect(await vaults.verbs.loops(user)).toEqual([]);
    expect((await vaults.verbs.stockLeg(vault, user)).collateral).toBe(0n);
  });

  test('behavior: sent in order, the last call of an exit still revokes, and the stock leg stays', async () => {
    const vault = vaults.verbs.vault('TSLA');
    await deposit(vault, '2000');
    const { calls } = await build('exit', { strategyId: vault.id, userAddress: user });
    await vaults.verbs.local.moveOracle(vault.stockMarket, '-5');
    expect(await vaults.verbs.sendInOrder(account, calls)).toEqual([true, true, false, true]);
    expect(await vaults.verbs.isAuthorized(user)).toBe(false);
    expect((await vaults.verbs.stockLeg(vault, user)).collateral).toBeGreaterThan(0n);
    // The loop is closed; another build exits the rest.
    const rest = await build('exit', { strategyId: vault.id, userAddress: user });
    expect(await vaults.verbs.sendInOrder(account, rest.calls)).toEqual([true, true, true]);
    expect(await vaults.verbs.stockLeg(vault, user)).toEqual({ borrowShares: 0n, collateral: 0n });
  });

  test('behavior: sent atomically, nothing changes', async () => {
    const vault = vaults.verbs.vault('TSLA');
    await vaults.verbs.fund(user, vault, 2_000_000_000n);
    const { calls } = await build('deposit', { strategyId: vault.id, amount: '2000', userAddress: user });
    await vaults.verbs.local.moveOracle(vault.stockMarket, '5');
    await expect(vaults.verbs.sendAtomically(user, calls)).rejects.toThrow();
    expect(await vaults.verbs.isAuthorized(user)).toBe(false);
    expect(await vaults.verbs.loops(user)).toEqual([]);
  });
});
