import { describe, expect, test } from 'vitest';
import type { Address } from '../../src/shared/ids.ts';
import { buildManualExit } from '../../src/transactions/build/manual-exit.ts';
import { exitCost } from '../../src/transactions/exit-cost.ts';
import { intentOf } from '../../src/transactions/intent.ts';
import type { Read } from '../../src/transactions/read/reads.ts';
import type { SwapPlace } from '../../src/transactions/simulate/fills.ts';
import { foldMeasures, planMeasures } from '../../src/transactions/simulate/measure.ts';
import type { Watched } from '../../src/transactions/simulate/movements.ts';
import { depsOf, loopMarket, servedChain, USER, whole } from './model/scene.ts';
import { functionsBySelector } from './model/selectors.ts';

/* Movements where a node reports no events: they follow from balances before and after the calls. */

const market = loopMarket(1, 'sUSDe', 'PYUSD');
const chain = servedChain(1);
const { contracts } = chain;
const TREASURY: Address = '0x00000000000000000000000000000000000000C3';
const PROXY: Address = '0x00000000000000000000000000000000000000B1';
const PRICE = 107n * 10n ** 22n;

const place = (tokenOut: { readonly address: Address }, callIndex: number, expectedOut = 0n) =>
  ({ swap: { tokenOut, expectedOut }, executor: contracts.flashLeverage, callIndex }) as unknown as SwapPlace;
const watched = (more: Partial<Watched>): Watched => ({ chain, user: USER, places: [], repays: [], ...more });
const positions: Read<unknown> = { to: contracts.flashLeverage, data: '0x', decode: () => undefined };
const nameOf = ({ data }: Read<unknown>) => functionsBySelector.get(data.slice(0, 10) as never)?.name;

/** Balances of the user, the protocol, the contract, its router and the treasury. */
const before = [10n, 100n, 20n, 0n, 5n];

describe('fills', () => {
  const one = watched({ places: [place(market.collateral, 1)] });

  test('default: the gains of wallet, protocol, contracts and treasury together', () => {
    const after = [7n, 140n, 20n, 3n, 6n];
    const { fills, repaid, opened } = foldMeasures(one, [TREASURY, ...before, ...after], undefined, 1n);
    expect(fills.map(({ received }) => received)).toEqual([-3n + 40n + 3n + 1n]);
    expect([repaid, opened]).toEqual([[], undefined]);
  });

  test.each([
    ['not known', undefined],
    ['one of the contracts', contracts.flashLeverage],
    ['the wallet', USER],
  ])('behavior: a treasury that is %s is not counted twice', (_, treasury) => {
    const { fills } = foldMeasures(one, [treasury, ...before, 10n, 140n, 20n, 0n, 50n], undefined, 1n);
    expect(fills.map(({ received }) => received)).toEqual([40n]);
  });

  test('behavior: a treasury that cannot be read has gained nothing; anybody else is an error', () => {
    const silent = [...before.slice(0, 4), undefined];
    const { fills } = foldMeasures(one, [TREASURY, ...silent, ...silent], undefined, 1n);
    expect(fills.map(({ received }) => received)).toEqual([0n]);
    const readLater = foldMeasures(one, [TREASURY, ...silent, ...before], undefined, 1n);
    expect(readLater.fills.map(({ received }) => received)).toEqual([5n]);
    expect(() => foldMeasures(one, [TREASURY, ...before, undefined, 1n, 1n, 1n, 1n], undefined, 1n)).toThrow();
  });

  test('behavior: swaps into several tokens, or in several calls, are measured apart', () => {
    const two = watched({ places: [place(market.collateral, 0), place(market.loan, 0), place(market.loan, 1)] });
    const gain = (amount: bigint) => [...before, 10n + amount, ...before.slice(1)];
    const { fills } = foldMeasures(two, [TREASURY, ...gain(1n), ...gain(2n), ...gain(3n)], undefined, 1n);
    expect(fills.map(({ received }) => received)).toEqual([1n, 2n, 3n]);
    expect(planMeasures(two, positions, 2).map(({ afterCalls }) => afterCalls)).toEqual([
      0,
      ...[0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
      ...[0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
      ...[1, 1, 1, 1, 1, 2, 2, 2, 2, 2],
    ]);
  });

  test('behavior: reads are those of the accounts, and of whom the treasury names', () => {
    const plan = planMeasures(one, positions, 2);
    expect(plan.map(({ read }) => nameOf(read))).toEqual(['s_treasury', ...Array(10).fill('balanceOf')]);
    const treasury = plan[0]?.read;
    const tails = plan.flatMap(({ tail, read }) => (tail ? [[tail, read.data]] : []));
    expect(tails).toEqual(Array(2).fill([{ of: treasury, word: 1 }, '0x70a08231']));
    const accounts = plan.slice(1, 5).map(({ read }) => `0x${read.data.slice(-40)}`);
    expect(accounts).toEqual(
      [USER, contracts.morphoBlue, contracts.flashLeverage, contracts.flashLeverageRouter].map((a) => a.toLowerCase()),
    );
  });
});

describe('an opening', () => {
  const gain = (amount: bigint, fee = 0n) => [...before, 10n, 100n + amount, 20n, 0n, 5n + fee];
  const slots = (basis: bigint) => [
    { userProxy: USER, amountDepositedInLoanToken: 9n },
    { userProxy: PROXY, amountDepositedInLoanToken: basis },
  ];
  const opens = (...expected: readonly bigint[]) =>
    watched({ opens: market, places: expected.map((out) => place(market.collateral, 0, out)) });
  const ETHER = 10n ** 18n;

  test('default: the position that is new, from the protocol and from the contract', () => {
    const answers = [TREASURY, ...gain(5n), PRICE, [0n, 77n, 33n]];
    expect(foldMeasures(opens(5n), answers, slots(4n), 1n)).toMatchObject({
      fills: [{ received: 5n }],
      opened: { id: 1, borrowShares: 77n, collateral: 33n, basis: 4n },
    });
    expect(() => foldMeasures(opens(5n), [TREASURY, ...gain(5n), PRICE, undefined], slots(4n), 1n)).toThrow();
    expect(() => foldMeasures(opens(5n), answers, undefined, 1n)).toThrow();
  });

  test.each([
    ['as it was planned, where that leads to the basis', 100n * ETHER, 0n, 100n * ETHER],
    ['as it was planned, with the fee on it', 100n * ETHER + 7n, 7n, 100n * ETHER + 7n],
    ['as the contract counts it, rounded up', 99n * ETHER, 0n, 100n * ETHER],
    ['as the contract counts it, with the fee on it', 99n * ETHER, 3n, 100n * ETHER + 3n],
    // 7 units below the plan that leads to the basis: with the fee added instead of taken off it would.
    ['as the contract counts it, slightly below the plan', 100n * ETHER - 7n, 7n, 100n * ETHER + 7n],
    ['as the contract counts it, where nothing was planned', 0n, 0n, 100n * ETHER],
  ])('behavior: of two swaps into one token the first is %s', (_, planned, fee, entry) => {
    const answers = [TREASURY, ...gain(300n * ETHER, fee), PRICE, [0n, 77n, 33n]];
    const { fills } = foldMeasures(opens(planned, ETHER), answers, slots(107_000_000n), 1n);
    expect(fills.map(({ received }) => received)).toEqual([entry, 300n * ETHER + fee - entry]);
  });

  test('behavior: the new position is read of the contract that holds it', () => {
    const plan = planMeasures(opens(1n), positions, 3).slice(-2);
    expect(plan.map(({ afterCalls, read, tail }) => [afterCalls, nameOf(read), read.to, tail])).toEqual([
      [3, 'price', market.oracle, undefined],
      [3, 'position', contracts.morphoBlue, { of: positions, word: 3 }],
    ]);
    expect(plan[1]?.read.data.slice(10)).toBe(market.id.slice(2));
  });
});

describe('a repayment', () => {
  const row = (borrowed: bigint) => [
    [whole(100, market.loan), 1n, borrowed, 1n, 5n, 0n],
    1n,
    PRICE,
    whole(100, market.loan),
    undefined,
  ];
  const repays = watched({ repays: [{ market, proxy: PROXY, callIndex: 1 }] });

  test.each([
    [100n, 60n, 40n],
    [60n, 60n, 0n],
    [60n, 61n, 0n],
  ])('behavior: the debt of the market before %s and after %s is a repayment of %s', (debt, left, repaid) => {
    expect(foldMeasures(repays, [TREASURY, ...row(debt), ...row(left)], undefined, 5n).repaid).toEqual([repaid]);
    expect(planMeasures(repays, positions, 2).map(({ afterCalls }) => afterCalls)).toEqual([
      0,
      ...Array(5).fill(1),
      ...Array(5).fill(2),
    ]);
  });
});

describe(buildManualExit, () => {
  const build = (borrowShares: bigint, loan = market.loan) =>
    buildManualExit(
      chain,
      { ...market, loan },
      {
        user: USER,
        proxy: PROXY,
        holding: { collateral: 50n, borrowShares, debtLater: 70n } as never,
      },
    );

  test('default: approves the later debt, repays the shares of the proxy, and takes the collateral out of it', () => {
    const calls = build(9n);
    expect(calls.map((call) => [call.to, call.value, intentOf(call, USER).method])).toEqual([
      [market.loan.address, 0n, 'approve'],
      [contracts.morphoBlue, 0n, 'repay'],
      [PROXY, 0n, 'execute'],
    ]);
    expect(calls.map(({ action }) => action)).toEqual([
      { type: 'approve', args: { token: market.loan.address, spender: contracts.morphoBlue, amount: 70n } },
      { type: 'morphoRepay', args: { onBehalf: PROXY, shares: 9n } },
      { type: 'execute', args: { withdrawCollateral: 50n, receiver: USER } },
    ]);
    const repay = intentOf(calls[1] as never, USER).arguments;
    expect(repay.slice(-4).map(({ value }) => value)).toEqual(['0', '9', PROXY, '0x']);
  });

  test('behavior: a token that needs it gets its allowance through zero; without debt nothing is repaid', () => {
    const resets = build(9n, { ...market.loan, resetsApproval: true });
    expect(resets.slice(0, 2).map(({ action }) => action.args)).toEqual([
      expect.objectContaining({ amount: 0n }),
      expect.objectContaining({ amount: 70n }),
    ]);
    expect(build(0n).map(({ action }) => action.type)).toEqual(['execute']);
  });
});

describe(exitCost, () => {
  const cost = (share: bigint, amount = whole(100, market.collateral)) => {
    const of = (fair: bigint) => (fair * share) / 10_000n;
    const lieOf = () =>
      share < 0n
        ? { quoted: of, simulated: of, onChain: of, isDead: true }
        : { quoted: of, simulated: of, onChain: of };
    return exitCost(depsOf({ market, lieOf }).deps, chain, market, amount, PRICE);
  };

  test('default: the loss of selling all collateral against the oracle', async () => {
    expect(await cost(9_900n)).toEqual({
      ok: true,
      source: 'AggregatorTwo',
      amountOut: 105_898_221n,
      lostLoan: 1_101_779n,
    });
  });

  test('behavior: a quote above the oracle loses nothing', async () => {
    expect(await cost(10_500n)).toMatchObject({ ok: true, amountOut: 107_000_000n, lostLoan: 0n });
  });

  test('error: names the reason where nothing is sold', async () => {
    expect(await cost(-1n)).toEqual({ ok: false, reason: 'upstream_unavailable' });
    const broken = {
      ...depsOf({ market }).deps,
      quoter: { quote: async () => Promise.reject(new TypeError('a defect')) },
    };
    await expect(exitCost(broken as never, chain, market, 1n, PRICE)).rejects.toThrow('a defect');
  });
});
