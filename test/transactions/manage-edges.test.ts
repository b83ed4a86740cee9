import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import type { ManageInput } from '../../src/transactions/manage/index.ts';
import { isSaleWithin, simulatedFee } from '../../src/transactions/manage/sale.ts';
import { NOW_MS } from '../domain/world.ts';
import { depsOf, loopMarket, manageIn, type Scene, servedChain, tokenOn, whole } from './model/scene.ts';

/* 8,000 of a collateral at 1.07 and a debt of 6,000, on a market whose interest is accrued to now. */

const market = loopMarket(1, 'sUSDe', 'PYUSD');
const { loan, collateral } = market;
const d = (value: string | number) => new Decimal(value);
const units = (amount: number | string) => whole(amount, loan);
const PRICE = 107n * 10n ** 22n;
const WAD = 10n ** 18n;
const row = [
  units(10_000_000),
  units(10_000_000) * 1_000_000n,
  units(6_000_000),
  units(6_000_000) * 1_000_000n,
  BigInt(NOW_MS / 1_000),
  0n,
];
const scene = (debt: number | string = 6_000, answers: object = {}, more: Partial<Scene> = {}): Scene => ({
  market,
  answers: { market: row, ...answers },
  before: { loop: { collateral: whole(8_000, collateral), debt: units(debt) }, basis: units(2_400) },
  ...more,
});
/** As if the pair were not correlated: one percent of the payment. */
const FEE = { s_isCorrelated: false, s_depositFee: WAD / 100n };
interface Refusal extends Error {
  readonly details: {
    readonly limit: Readonly<Record<string, string>>;
    readonly alternatives?: readonly {
      readonly action: string;
      readonly amount: string;
      readonly thenRepay?: boolean;
    }[];
  };
}
type Act = Partial<ManageInput> & Pick<ManageInput, 'action'>;
const act = (input: Act, on = scene()) => manageIn(on, input);
/** The plan without its simulation: the model keeps the deposit basis as it is. */
const planned = (input: Act, on = scene()) => act(input, { ...on, unsimulated: 'token' });
const refused = (input: Act, on = scene()) =>
  act(input, on).then(
    () => 'accepted',
    (error: unknown) => error as Refusal,
  );
const up = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;

describe('borrow', () => {
  const borrow = (amount: number | string) => ({ action: 'borrow', amount: d(amount) }) as const;

  test('behavior: up to the safe LTV exactly, and the largest amount of a refusal leaves room for interest', async () => {
    // 8,560 × 90.5 % = 7,746.8.
    const { preview } = await planned(borrow('1746.8'));
    expect([preview?.after.debt, preview?.basis]).toEqual([units('7746.8'), units('653.2')]);
    const error = await refused(borrow('1746.800001'));
    expect(error).toMatchObject({ details: { field: 'amount', value: '1746.800001', limit: { maxLtvPct: '90.5' } } });
    const { maxAmount = '' } = (error as Refusal).details.limit;
    expect([d(maxAmount).lt('1746.8'), d(maxAmount).gt('1746.7')]).toEqual([true, true]);
    expect(await refused(borrow(maxAmount))).toBe('accepted');
    expect(await refused(borrow(1), scene(7_800))).toMatchObject({ details: { limit: { maxAmount: '0' } } });
  });

  test('behavior: of a correlated pair up to its deposit basis', async () => {
    const on = scene(
      6_000,
      {},
      { before: { loop: { collateral: whole(8_000, collateral), debt: units(6_000) }, basis: units(500) } },
    );
    expect((await planned(borrow(500), on)).preview?.basis).toBe(0n);
    expect(await refused(borrow('500.000001'), on)).toMatchObject({ details: { limit: { maxAmount: '500' } } });
    expect(await refused(borrow(2_000), on)).toMatchObject({
      details: { limit: { maxAmount: '500', maxLtvPct: '90.5' } },
    });
    const least = { ...on, before: { ...on.before, basis: 1n } };
    expect(await refused(borrow(2_000), least)).toMatchObject({ details: { limit: { maxAmount: '0.000001' } } });
    // Elsewhere the basis is no limit, and never below zero.
    const free = { ...on, answers: { ...on.answers, ...FEE } };
    expect((await planned(borrow(700), free)).preview?.basis).toBe(0n);
    expect((await planned(borrow(400), free)).preview?.basis).toBe(units(100));
  });

  test('behavior: no more than the market lends, with the amount that it does', async () => {
    const lent = [units(6_000_100), units(6_000_100) * 1_000_000n, ...row.slice(2)];
    expect(await refused(borrow(100), scene(6_000, { market: lent }))).toBe('accepted');
    expect(await refused(borrow('100.000001'), scene(6_000, { market: lent }))).toMatchObject({
      details: { place: 'market', maxAmount: '100', available: '100', needed: '100.000001' },
    });
  });
});

describe('collateral', () => {
  const remove = (amount: Decimal) => ({ action: 'remove_collateral', amount }) as const;
  const least = up(up(units(6_000) * WAD, 905n * 10n ** 15n) * 10n ** 36n, PRICE);
  const spare = d((whole(8_000, collateral) - least).toString()).shiftedBy(-18);

  test('behavior: is taken out down to the safe LTV exactly', async () => {
    expect((await act(remove(spare))).preview?.after.collateral).toBe(least);
    const error = await refused(remove(spare.plus('1e-18')));
    expect(error).toMatchObject({ details: { field: 'amount', limit: { maxLtvPct: '90.5' } } });
    const { maxAmount = '' } = (error as Refusal).details.limit;
    expect([d(maxAmount).lt(spare), d(maxAmount).gt(spare.minus('0.1'))]).toEqual([true, true]);
    expect(await refused(remove(d(1)), scene(7_800))).toMatchObject({ details: { limit: { maxAmount: '0' } } });
  });

  test('behavior: all of it leaves no position, and takes its value off the basis', async () => {
    const all = await act(remove(d(8_000)), scene(0));
    expect([all.preview, all.instructions.includes('which closes the position')]).toEqual([undefined, true]);
    const last = await act(remove(d(8_000).minus('1e-18')), scene(0));
    expect(last.instructions).not.toContain('closes the position');
    const { preview, instructions } = await planned(remove(d(1_000)));
    expect(preview?.basis).toBe(units(2_400 - 1_070));
    expect(instructions).not.toContain('closes the position');
    // More than the basis: 2,400 / 1.07 = 2,242.99.
    expect((await planned(remove(d(2_300)), scene(100))).preview?.basis).toBe(0n);
  });

  test('behavior: that is added pays the deposit fee, directly and swapped', async () => {
    const direct = await act(
      { action: 'add_collateral', amount: d(100), payToken: collateral.address },
      scene(6_000, FEE),
    );
    expect(direct.fees?.map(({ kind, amount }) => [kind, amount.toFixed()])).toEqual([['DEPOSIT_FEE', '1']]);
    expect(direct.notes.join(' ')).toContain('takes about 1 sUSDe of it');
    const swapped = await act(
      { action: 'add_collateral', amount: d(107), payToken: tokenOn(1, 'USDC').address },
      scene(6_000, FEE),
    );
    const [swap] = swapped.swaps;
    expect(swapped.fees?.[0]?.amount.toFixed()).toBe(
      d(((swap?.expectedOut ?? 0n) / 100n).toString())
        .shiftedBy(-18)
        .toFixed(),
    );
    // In the model nothing is taken: the worst case is that of the plan, without the fee's share.
    const net = (amount: bigint) => amount - amount / 100n;
    expect(swapped.preview?.worst.collateral).toBe(whole(8_000, collateral) + net(swap?.minOut ?? 0n));
  });
});

describe('repay', () => {
  const repay = (amount: number | string | undefined, full?: boolean): Act => ({
    action: 'repay',
    payToken: loan.address,
    full,
    amount: amount === undefined ? undefined : d(amount),
  });

  test('behavior: up to the whole debt exactly', async () => {
    const all = await planned(repay(6_000));
    expect([all.debtChange, all.preview?.after.debt, all.preview?.basis]).toEqual([-units(6_000), 0n, units(8_400)]);
    const some = await act(repay('5999.999999'));
    expect([some.debtChange, some.preview?.after.debt]).toEqual([-units('5999.999999'), 1n]);
    const more = await refused(repay('6000.000001'));
    expect(more).toMatchObject({ details: { field: 'amount', value: '6000.000001', limit: { maxAmount: '6000' } } });
    expect((more as Refusal).message).not.toContain('deposit fee');
  });

  test('behavior: with the deposit fee on top of the debt', async () => {
    // 6,000 / 0.99, rounded up.
    const more = await refused(repay('6060.606061'), scene(6_000, FEE));
    expect(more).toMatchObject({ details: { limit: { maxAmount: '6060.60606' } } });
    expect((more as Refusal).message).toContain('and the deposit fee, together 6060.60606 PYUSD');
    const all = await act(repay('6060.60606'), scene(6_000, FEE));
    expect(all.debtChange).toBe(-units(6_000));
    expect(all.fees?.[0]?.amount.toFixed()).toBe('60.60606');
    const some = await act(repay(100), scene(6_000, FEE));
    expect([some.debtChange, some.fees?.[0]?.amount.toFixed()]).toEqual([-units(99), '1']);
  });

  test('behavior: in full with at least the debt, and with the interest of half an hour by default', async () => {
    const later = await act(repay(undefined, true));
    const { args } = later.tx.action as { args: { amountRepay: bigint; borrowShares: bigint } };
    expect([args.borrowShares, args.amountRepay > units(6_000)]).toEqual([2n ** 256n - 1n, true]);
    expect(later.notes.join(' ')).toContain('the interest of half an hour more');
    // No more than is needed, and never more than was given: the debt of now is too little a block later.
    const sufficientAmount = d(args.amountRepay.toString()).shiftedBy(-6).toFixed();
    const paid = async (amount: string | number) => (await act(repay(amount, true))).pays?.amount;
    expect([await paid(sufficientAmount), await paid(7_000)]).toEqual([args.amountRepay, args.amountRepay]);
    const short = await refused(repay(6_000, true));
    expect(short).toMatchObject({ details: { value: '6000', limit: { sufficientAmount } } });
    expect((await act(repay(10))).notes.join(' ')).not.toContain('half an hour');
  });

  test('behavior: in full with the deposit fee on top of the debt with its interest', async () => {
    const { tx } = await act(repay(undefined, true), scene(6_000, FEE));
    const { amountRepay } = (tx.action as { args: { amountRepay: bigint } }).args;
    // 6,000 / 0.99, and the interest of half an hour.
    expect([amountRepay > units('6060.60606'), amountRepay < units('6060.62')]).toEqual([true, true]);
  });

  test('behavior: a swap that leaves one unit over names it', async () => {
    const rest = async (debt: string) => {
      const { notes } = await planned(
        { action: 'repay', payToken: tokenOn(1, 'USDC').address, amount: d(10) },
        scene(debt),
      );
      return notes.find((note) => note.includes('is left over'));
    };
    expect(await rest('9.996999')).toBe('About 0.000001 PYUSD is left over and comes back to the wallet.');
    expect(await rest('9.997')).toBeUndefined();
  });

  test('error: BadRequest where nothing prices the token, or the loan, that should repay everything', async () => {
    const usdc = tokenOn(1, 'USDC').address;
    for (const unmeasured of [['USDC'], ['PYUSD']]) {
      const error = await refused({ action: 'repay', full: true, payToken: usdc }, scene(6_000, {}, { unmeasured }));
      expect(error).toMatchObject({ code: 'bad_request', details: { field: 'amount' } });
    }
  });
});

describe('an increase that is none', () => {
  const lower = (desiredLtvPct: number | string, on = scene()) =>
    refused({ action: 'increase_leverage', desiredLtvPct: d(desiredLtvPct) }, on);
  const ways = (error: unknown) =>
    (error as Refusal).details.alternatives?.map(({ action, amount, thenRepay }) => [action, amount, thenRepay]);
  /** Loan units as collateral, and a unit more. */
  const asCollateral = (amount: string) =>
    d(((units(amount) * 10n ** 36n) / PRICE + 1n).toString())
      .shiftedBy(-18)
      .toFixed();

  test('behavior: names the ways down to the target, in amounts', async () => {
    const error = await lower(60);
    // 6,000 − 60 % of 8,560 = 864; 864 / 0.6 = 1,440; 864 / 0.4 = 2,160.
    expect(ways(error)).toEqual([
      ['repay', '864', undefined],
      ['add_collateral', asCollateral('1440'), undefined],
      ['close', asCollateral('2160'), true],
    ]);
    expect((error as Refusal).message).toContain('to come down to 60.00 %: ');
    expect((error as Refusal).message).toContain('stands at an LTV of 70.09 % already');
  });

  test('behavior: payments include the deposit fee', async () => {
    const gross = (net: bigint) => ((net - 1n) * WAD) / (WAD - WAD / 100n) + 1n;
    const [repay, add, close] = ways(await lower(60, scene(6_000, FEE))) ?? [];
    expect(repay?.[1]).toBe(
      d(gross(units(864)).toString())
        .shiftedBy(-6)
        .toFixed(),
    );
    const added = (units(1_440) * 10n ** 36n) / PRICE + 1n;
    expect(add?.[1]).toBe(d(gross(added).toString()).shiftedBy(-18).toFixed());
    // 864 / (1 − 0.01 − 0.6) = 2,215.384616, rounded up.
    expect(close?.[1]).toBe(asCollateral('2215.384616'));
    const all = ways(await lower(60, scene(6_000, { ...FEE, s_depositFee: WAD / 2n })));
    expect(all?.map(([action]) => action)).toEqual(['repay', 'add_collateral']);
  });

  test('behavior: has no way where it stands at the target, nor a sale from its liquidation LTV on', async () => {
    const there = await lower(50, scene(4_280));
    expect(ways(there)).toBeUndefined();
    expect((there as Refusal).message).toMatch(/Send a higher target\.$/);
    const actions = async (debt: string) => ways(await lower(50, scene(debt)))?.map(([action]) => action);
    // 91.5 % of 8,560.
    expect(await actions('7832.4')).toEqual(['repay', 'add_collateral']);
    expect(await actions('7832.399999')).toEqual(['repay', 'add_collateral', 'close']);
  });
});

describe('a sale', () => {
  test('behavior: all of the collateral by its amount is the whole position', async () => {
    const whole_ = await act({ action: 'close', amount: d(8_000) });
    expect((whole_.tx.action.args as { amountCollateral: bigint }).amountCollateral).toBe(0n);
    const part = await act({ action: 'close', amount: d(1_000) });
    expect((part.tx.action.args as { amountCollateral: bigint }).amountCollateral).toBe(whole(1_000, collateral));
    expect(await refused({ action: 'close', amount: d('8000.000000000000000001') })).toMatchObject({
      details: { limit: { maxAmount: '8000' } },
    });
  });

  test('behavior: the fee of the contract is the output of the swaps less the repayment and the payout', () => {
    const fill = (received: bigint) => ({ received }) as never;
    const fee = (repaid: bigint, loanReceived: bigint) =>
      simulatedFee({ fills: [fill(60n), fill(40n)], repaid, received: { loan: loanReceived, collateral: 0n } });
    expect([fee(70n, 25n), fee(70n, 30n), fee(70n, 31n), fee(0n, 0n)]).toEqual([5n, 0n, 0n, 100n]);
  });

  test('behavior: is within its bounds or not; a defect is not hidden', () => {
    const swap = (lossPct: string) => {
      const reference = 10_000_000n;
      const expectedOut = reference - BigInt(d(lossPct).times(100_000).toFixed(0));
      return { tokenIn: collateral, tokenOut: loan, expectedOut, reference, lossPct: d(lossPct) } as never;
    };
    const position = { collateral: 10n ** 20n, debt: 0n };
    const limits = { maxLtvPct: d(91) };
    const { deps } = depsOf({ market });
    const chain = servedChain(1);
    const context = { position, live: { price: PRICE }, limits, market, deps, chain, largestPct: d(100) } as never;
    expect([isSaleWithin(context, swap('1')), isSaleWithin(context, swap('1.0001'))]).toEqual([true, false]);
    expect(() => isSaleWithin(context, null as never)).toThrow(TypeError);
  });
});
