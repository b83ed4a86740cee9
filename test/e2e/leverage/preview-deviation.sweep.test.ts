import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Market } from '../../../src/catalog/types.ts';
import { Decimal, formatUnitsPlain, fromUnits } from '../../../src/shared/decimal.ts';
import { equityVerbs, passing } from '../../support/equity.ts';
import { type Json, startService, type TestService } from '../../support/service.ts';
import { account, user } from '../../support/vaults.ts';
import { marketOf, type Partner, partnerOn, tokenOf } from './support.ts';

/*
 * The table of docs/reliability.md: the largest difference between a plan and the state of the chain afterwards, in points of
 * LTV, and in percent of the payout.
 */
const BOUND = 0.011;
const LEVERAGES = [1.5, 2, 3, 4];
const CASES = [
  [1, 'sUSDe/PYUSD 91.5', 'USDC', '700', '20', '7'],
  [1, 'WBTC/USDC 86', 'USDT', '3000', '50', '0.0005'],
  [4663, 'syrupUSDG/USDG 91.5', 'USDe', '700', '20', '7'],
] as const;
const VAULTS = ['SPY', 'NVDA', 'TSLA'];
const DEPOSITS = [
  ['1000', '25'],
  ['20000', '50'],
] as const;
/** The rows of the table, with the number of comparisons of each. */
const ROWS = new Map([
  ...[
    'open, with another token: LTV',
    'increase leverage: LTV',
    'repay, with another token: LTV',
    'add collateral, with another token: LTV',
    'borrow: LTV',
    'remove collateral: LTV',
    'close a part: LTV',
    'close a part: paid out',
    'close: paid out',
  ].map((row) => [row, CASES.length * LEVERAGES.length] as const),
  ...['vault deposit: LTV of the stock', 'vault deposit: LTV of the loop', 'vault exit: paid out'].map(
    (row) => [row, VAULTS.length * DEPOSITS.length] as const,
  ),
]);

/** Compare an action with its plan; each comparison has a row in the table. */
function note(row: string, off: Decimal): void {
  expect([...ROWS.keys()]).toContain(row);
  expect(off.abs().toNumber(), row).toBeLessThan(BOUND);
}
const percentOff = (paid: Decimal, reported: string) => paid.minus(reported).div(reported).times(100);

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: passing(() => service) });
});
afterAll(() => service?.stop());

it.each(CASES)('behavior: chain %i, %s: every action ends as planned', async (chainId, key, pay, amount, more, out) => {
  const market: Market = marketOf(chainId, key);
  const partner: Partner = partnerOn(service, chainId, account);
  const payToken = tokenOf(chainId, pay).address;
  /** Send a bundle; position and payout equal its preview. */
  const run = async (action: string, id: number, bundle: Json) => {
    const before = await partner.balance(market.loan);
    await partner.send(bundle);
    const { positionPreview, received } = bundle.meta;
    const { worstCase, effectiveLtv } = positionPreview;
    const { ltvPct, collateral, debt } = await partner.position(market, id);
    const price = await service.world.chains.on(chainId).oraclePrice(market);
    const left = fromUnits((collateral * price) / 10n ** 36n - debt, market.loan.decimals);
    // The equity of the worst case that stays in the position, beside its payout.
    const leastLeft = new Decimal(worstCase.equity).minus(worstCase.paidOut ?? 0);
    expect(left.gte(leastLeft), `${action}: ${left} is below ${leastLeft}`).toBe(true);
    expect(worstCase.paidOut !== undefined, action).toBe(/^(close|borrow|remove)/.test(action));
    if (action === 'borrow') expect(worstCase.paidOut).toBe('5');
    if (effectiveLtv) note(`${action}: LTV`, ltvPct.minus(effectiveLtv));
    const paid = (received as Json[]).find(({ symbol }) => symbol === market.loan.symbol);
    if (!action.startsWith('close') || !paid) return;
    const gained = fromUnits((await partner.balance(market.loan)) - before, market.loan.decimals);
    note(`${action}: paid out`, percentOff(gained, paid.amount));
  };
  for (const leverage of LEVERAGES) {
    const id = await partner.nextId();
    const open = { strategyId: market.id, payToken, amount, leverage, userAddress: user };
    await run('open, with another token', id, await partner.build('/v1/partner/leverage/build', open));
    const manage = (action: string, fields: object = {}) =>
      partner.build('/v1/partner/manage/build', { userAddress: user, id, action, ...fields });
    await run('increase leverage', id, await manage('increase_leverage', { leverage: leverage + 1 }));
    await run('repay, with another token', id, await manage('repay', { amount: more, payToken }));
    await run('add collateral, with another token', id, await manage('add_collateral', { amount: more, payToken }));
    await run('borrow', id, await manage('borrow', { amount: '5' }));
    await run('remove collateral', id, await manage('remove_collateral', { amount: out }));
    const { collateral } = await partner.position(market, id);
    const third = formatUnitsPlain(collateral / 3n, market.collateral.decimals);
    await run('close a part', id, await manage('close', { amount: third }));
    await run('close', id, await manage('close'));
  }
});

it('behavior: deposits into vaults and exits from them end as planned', async () => {
  const verbs = equityVerbs(service);
  const partner = partnerOn(service, 4663, account);
  const build = async (path: string, body: Json): Promise<Json> => {
    const answer = await verbs.post(`/v1/partner/equity/${path}/build`, { userAddress: user, ...body });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  for (const symbol of VAULTS) {
    const vault = verbs.vault(symbol);
    const { depositToken, stockMarket, yieldMarket } = vault;
    for (const [amount, stockLtvPct] of DEPOSITS) {
      await verbs.fund(user, vault, BigInt(amount) * 10n ** BigInt(depositToken.decimals));
      const id = await partner.nextId();
      const deposit = await build('deposit', { strategyId: vault.id, amount, stockLtvPct });
      await verbs.sendAtomically(user, deposit.calls);
      const { stock, yieldLeg, costs, totalSwapCostPctOfEquity, worstCase, liquidation } = deposit.meta.preview;
      const { borrowShares, collateral } = await verbs.stockLeg(vault, user);
      const [, , borrowed, shares] = await verbs.totals(stockMarket);
      const debt = new Decimal((borrowShares * borrowed).toString()).div(shares.toString());
      const price = await verbs.local.oraclePrice(stockMarket);
      const value = (collateral * price) / 10n ** 36n;
      const loop = await partner.position(yieldMarket, id);
      const ltvPct = debt.times(100).div(value.toString());
      note('vault deposit: LTV of the stock', ltvPct.minus(stock.ltvPct));
      note('vault deposit: LTV of the loop', loop.ltvPct.minus(yieldLeg.ltvPct));

      // Its value afterwards, whole deposit tokens: the payment less the costs, and not below the worst case.
      const loopValue = (loop.collateral * (await verbs.local.oraclePrice(yieldMarket))) / 10n ** 36n;
      const worth = fromUnits(value - BigInt(debt.toFixed(0)) + loopValue - loop.debt, depositToken.decimals);
      const kinds = costs.map(({ kind }: Json) => kind);
      expect(kinds).toEqual(['STOCK_SWAP', 'ENTRY_SWAP', 'LEVERAGE_SWAP']);
      const lostPct = new Decimal(100).minus(worth.div(amount).times(100));
      expect(lostPct.minus(totalSwapCostPctOfEquity).abs().toNumber(), 'swap costs').toBeLessThan(BOUND);
      expect(
        worth.gte(worstCase.equity) && worth.times('0.9').lte(worstCase.equity),
        `${worth} ${worstCase.equity}`,
      ).toBe(true);
      expect(ltvPct.lte(worstCase.ltv) && loop.ltvPct.lte(Number(worstCase.yieldLtv) + 0.005)).toBe(true);
      const lltvPct = new Decimal(stockMarket.lltv.toString()).shiftedBy(-16);
      const drop = new Decimal(100).minus(ltvPct.times(100).div(lltvPct));
      expect(drop.minus(liquidation.dropPct).abs().toNumber(), 'drop').toBeLessThan(BOUND);

      const exit = await build('exit', { strategyId: vault.id });
      const before = await partner.balance(depositToken);
      await verbs.sendAtomically(user, exit.calls);
      const paid = fromUnits((await partner.balance(depositToken)) - before, depositToken.decimals);
      note('vault exit: paid out', percentOff(paid, exit.meta.received[0].amount));
    }
  }
});

it('behavior: the table in docs/reliability.md has every row with its count, within the bound', async () => {
  const text = await readFile(new URL('../../../docs/reliability.md', import.meta.url), 'utf8');
  const [, table = ''] = /\| Action \| Compared \| Executed \|.*\n\|.*\n((?:\|.*\n)+)/.exec(text) ?? [];
  const rows = table
    .trim()
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim()))
    .map(([, action, compared, count, largest]) => ({ row: `${action}: ${compared}`, count, largest }));
  expect(rows.map(({ row, count }) => [row, Number(count)])).toEqual([...ROWS]);
  for (const { row, largest } of rows) expect(Number(largest), row).toBeLessThan(BOUND);
});
