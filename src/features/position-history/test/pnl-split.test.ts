import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gap } from '../../../domain/freshness/gaps.ts';
import type { Operation, PositionEventKind } from '../../../domain/history/operations.ts';
import type { Payer } from '../../../domain/history/payer.ts';
import type { MarketMark } from '../../../domain/history/types.ts';
import { Decimal } from '../../../shared/decimal.ts';
import { type PnlSplit, SPLIT_PARTS, type SplitInput, splitPnl } from '../domain/pnl-split.ts';

const SCALE = 10n ** 36n;
const NONE = { collateral: 0n, loan: 0n };

/** One step of a random life: its kind, amount, price, and the interest before it. */
interface Step {
  readonly kind: PositionEventKind;
  readonly share: bigint;
  readonly amount: bigint;
  readonly price: bigint;
  readonly interestPpm: bigint;
  readonly feePpm: bigint;
  readonly lossPpm: bigint;
  readonly payer: Payer;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom<PositionEventKind>(
    ...(['supplied', 'withdrawn', 'repaid', 'borrowed', 'increased', 'partly_closed', 'liquidated'] as const),
  ),
  share: fc.bigInt(1n, 99n),
  amount: fc.bigInt(1n, 10n ** 24n),
  price: fc.bigInt(10n ** 22n, 10n ** 37n),
  interestPpm: fc.bigInt(0n, 50_000n),
  feePpm: fc.bigInt(0n, 100_000n),
  lossPpm: fc.bigInt(-5_000n, 50_000n),
  payer: fc.constantFrom<Payer>('owner', 'owner_directly', 'other'),
});

/** Exact results of a position's life, times 1e36, computed independently of the split. */
interface Ledger {
  readonly input: Pick<SplitInput, 'operations' | 'marks' | 'now'>;
  readonly change: bigint;
  readonly interest: bigint;
  readonly fees: bigint;
  readonly loss: bigint;
  readonly seized: bigint;
  readonly flows: bigint;
  readonly gifts: bigint;
  readonly direct: bigint;
}

/** Live a life as the contracts would, and keep the ledger beside it. */
function live(first: Step, steps: readonly Step[], last: Step, isClosed: boolean): Ledger {
  let [collateral, debt, price] = [0n, 0n, 0n];
  const sums = { change: 0n, interest: 0n, fees: 0n, loss: 0n, seized: 0n, flows: 0n, gifts: 0n, direct: 0n };
  const operations: Operation[] = [];
  const marks: MarketMark[] = [];
  const pass = (to: Step): void => {
    sums.change += collateral * (to.price - price);
    const interest = (debt * to.interestPpm) / 1_000_000n;
    debt += interest;
    sums.interest += interest;
    price = to.price;
  };
  const record = (kind: PositionEventKind, changes: Partial<Operation>): void => {
    const i = operations.length;
    const operation: Operation = {
      kind,
      blockNumber: BigInt(i),
      atMs: i * 1_000,
      txHash: '0x',
      logIndex: 0,
      collateralChange: 0n,
      debtChange: 0n,
      sharesChange: 0n,
      badDebt: 0n,
      paid: NONE,
      payer: 'owner',
      received: NONE,
      fee: NONE,
      swap: null,
      isUnexplained: false,
      ...changes,
    };
    operations.push(operation);
    marks.push({ blockNumber: BigInt(i), atMs: i * 1_000, price, totalBorrowAssets: 1n, totalBorrowShares: 1n });
    collateral += operation.collateralChange;
    debt += operation.debtChange - operation.badDebt;
    const { paid, received, fee, swap } = operation;
    sums.fees += fee.collateral * price + fee.loan * SCALE;
    sums.loss -= swap ? swap.collateral * price + swap.loan * SCALE : 0n;
    const payment = paid.collateral * price + paid.loan * SCALE;
    const isGift = operation.payer === 'other';
    if (isGift) sums.gifts += payment;
    if (operation.payer === 'owner_directly') sums.direct += payment;
    sums.flows += received.collateral * price + received.loan * SCALE - (isGift ? 0n : payment);
  };
  const buy = (at: Step, loan: bigint) => (((loan * SCALE) / price) * (1_000_000n - at.lossPpm)) / 1_000_000n;
  const feeOf = (at: Step, amount: bigint) => (amount * at.feePpm) / 1_000_000n;
  const sell = (at: Step, kind: 'partly_closed' | 'closed', share: bigint): void => {
    const sold = kind === 'closed' ? collateral : (collateral * share) / 100n;
    const repaid = kind === 'closed' ? debt : (debt * share) / 100n;
    const proceeds = (((sold * price) / SCALE) * (1_000_000n - at.lossPpm)) / 1_000_000n;
    const rest = proceeds > repaid ? proceeds - repaid : 0n;
    const fee = feeOf(at, rest);
    record(kind, {
      collateralChange: -sold,
      debtChange: -repaid,
      fee: { collateral: 0n, loan: fee },
      received: { collateral: 0n, loan: rest - fee },
      swap: { collateral: -sold, loan: rest + repaid },
    });
  };
  pass(first);
  const loan = first.amount;
  const bought = buy(first, loan);
  const fee = feeOf(first, first.amount);
  record('opened', {
    collateralChange: first.amount - fee + bought,
    debtChange: loan,
    paid: { collateral: first.amount, loan: 0n },
    fee: { collateral: fee, loan: 0n },
    swap: { collateral: bought, loan: -loan },
  });
  for (const at of steps) {
    pass(at);
    const part = (collateral * at.share) / 100n;
    const charged = feeOf(at, at.amount);
    if (at.kind === 'supplied')
      record('supplied', {
        collateralChange: at.amount - charged,
        paid: { collateral: at.amount, loan: 0n },
        payer: at.payer,
        fee: { collateral: charged, loan: 0n },
      });
    if (at.kind === 'withdrawn')
      record('withdrawn', {
        collateralChange: -part,
        received: { collateral: part - feeOf(at, part), loan: 0n },
        fee: { collateral: feeOf(at, part), loan: 0n },
      });
    if (at.kind === 'repaid') {
      const repaid = (debt * at.share) / 100n;
      record('repaid', {
        debtChange: -repaid,
        paid: { collateral: 0n, loan: repaid + charged },
        payer: at.payer,
        fee: { collateral: 0n, loan: charged },
      });
    }
    if (at.kind === 'borrowed')
      record('borrowed', { debtChange: at.amount, received: { collateral: 0n, loan: at.amount } });
    if (at.kind === 'increased')
      record('increased', {
        collateralChange: buy(at, at.amount),
        debtChange: at.amount,
        swap: { collateral: buy(at, at.amount), loan: -at.amount },
      });
    if (at.kind === 'partly_closed') sell(at, 'partly_closed', at.share);
    if (at.kind === 'liquidated') {
      const repaid = (debt * at.share) / 200n;
      const badDebt = (debt * at.feePpm) / 1_000_000n;
      sums.seized += part * price - (repaid + badDebt) * SCALE;
      record('liquidated', { collateralChange: -part, debtChange: -repaid, badDebt });
    }
  }
  pass(last);
  if (isClosed) sell(last, 'closed', 100n);
  const now = { atMs: operations.length * 1_000, collateral, debt, price: isClosed ? null : price };
  return { input: { operations, marks, now }, ...sums };
}

const split = ({ input }: Pick<Ledger, 'input'>, over: Partial<SplitInput> = {}): PnlSplit =>
  splitPnl({ ...input, source: 'none', incentives: () => new Decimal(0), ...over });
const known = (part: unknown): bigint => {
  if (typeof part !== 'bigint') throw new Error(JSON.stringify(part));
  return part;
};
/** Whether a rounded amount is the exact one, or up to some units away. */
const isNear = (rounded: bigint, exact: bigint, units: bigint) => {
  const off = rounded * SCALE - exact;
  return off <= units * SCALE && -off <= units * SCALE;
};

const lives = fc.tuple(step, fc.array(step, { maxLength: 12 }), step, fc.boolean()).map((args) => live(...args));

describe('splitPnl', () => {
  test('property: the parts of 200 random histories add up to the total, to the unit, and each is that of an exact ledger', () => {
    fc.assert(
      fc.property(lives, (life) => {
        const { parts, total, result, paid, paidDirectly, received, netValue, yieldAndPrice } = split(life);
        expect(SPLIT_PARTS.reduce((sum, name) => sum + known(parts[name]), 0n)).toBe(known(total));
        expect(known(parts.yield) + known(parts.price)).toBe(known(yieldAndPrice));
        const { now } = life.input;
        const owned = now.price === null ? -now.debt * SCALE : now.collateral * now.price - now.debt * SCALE;
        const worth = owned > 0n ? owned : 0n;
        const forgiven = owned < 0n ? -owned : 0n;
        expect(isNear(known(result), life.flows + worth, 2n)).toBe(true);
        expect(isNear(known(received) - known(paid), life.flows, 1n)).toBe(true);
        expect(isNear(netValue, worth, 1n)).toBe(true);
        expect(known(parts.borrowCost)).toBe(-life.interest);
        expect(isNear(known(parts.fees), -life.fees, 1n)).toBe(true);
        expect(isNear(known(parts.slippage), -life.loss, 1n)).toBe(true);
        expect(isNear(known(parts.liquidation), forgiven - life.seized, 1n)).toBe(true);
        expect(isNear(known(parts.paidByOthers), life.gifts, 1n)).toBe(true);
        expect(isNear(known(paidDirectly), life.direct, 1n)).toBe(true);
        expect(isNear(known(parts.price), life.change, 7n)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('property: where the oracle follows the rate, all of the change is yield; otherwise the recorded share of it', () => {
    fc.assert(
      fc.property(lives, (life) => {
        const byRate = split(life, { source: 'rate' });
        expect([byRate.parts.price, byRate.parts.yield]).toEqual([0n, byRate.yieldAndPrice]);
        const byApy = split(life, { source: () => new Decimal('0.0001') });
        expect(known(byApy.parts.yield) + known(byApy.parts.price)).toBe(known(byApy.yieldAndPrice));
        expect(known(byApy.total)).toBe(known(byRate.total));
      }),
    );
  });

  test('property: amounts that do not add up to the holding give no result', () => {
    fc.assert(
      fc.property(lives, fc.bigInt(1n, 10n ** 6n), (life, more) => {
        const { now } = life.input;
        const other = { ...life.input, now: { ...now, collateral: now.collateral + more, price: now.price ?? SCALE } };
        expect(split({ input: other }).total).toMatchObject({ field: 'total', reason: 'IMPLAUSIBLE' });
      }),
    );
  });

  test('behavior: an unknown part and every sum with it carry the reason; the others stay known', () => {
    const why = gap('', 'NOT_MEASURED', 'Not recorded.');
    const life = live(STEP, [STEP], STEP, false);
    const { parts, total, result, yieldAndPrice } = split(life, { source: () => why, incentives: () => why });
    expect([parts.yield, parts.price, parts.incentives, total]).toMatchObject([
      ...[{ field: 'yield' }, { field: 'price' }, { field: 'incentives' }, { field: 'total' }],
    ]);
    expect([typeof result, typeof yieldAndPrice, typeof parts.fees]).toEqual(['bigint', 'bigint', 'bigint']);
  });

  test('behavior: without the price at an event nothing that depends on it is known', () => {
    const { input } = live(STEP, [STEP], STEP, false);
    const marks = input.marks.slice(1);
    expect(split({ input: { ...input, marks } }).result).toMatchObject({ field: 'result', reason: 'NOT_MEASURED' });
  });
});

const STEP: Step = {
  kind: 'supplied',
  share: 50n,
  amount: 1_000_000n,
  price: SCALE,
  interestPpm: 1_000n,
  feePpm: 100n,
  lossPpm: 50n,
  payer: 'owner',
};
