import { describe, expect, test } from 'vitest';
import { gap } from '../../../domain/freshness/gaps.ts';
import type { Pnl } from '../../../domain/portfolio/types.ts';
import { Decimal } from '../../../shared/decimal.ts';
import { pnlDifference } from '../domain/pnl-difference.ts';
import type { PnlSplit } from '../domain/pnl-split.ts';

/** Of a token with 6 decimals. */
const NOTHING = { yield: 0n, borrowCost: 0n, price: 0n, incentives: 0n, fees: 0n, slippage: 0n, liquidation: 0n };
const SPLIT: PnlSplit = {
  parts: { ...NOTHING, paidByOthers: 0n },
  yieldAndPrice: 0n,
  paid: 1_000_000n,
  paidDirectly: 0n,
  received: 300_000n,
  netValue: 800_000n,
  result: 100_000n,
  total: 100_000n,
};
const RECORDED = { depositedAssets: 1_000_000n, returnedAssets: 300_000n };
const PNL: Pnl = { baseResultUsd: '0.1', incentivesUsd: '0', totalUsd: '0.1', gaps: [] };

const differenceOf = (split: Partial<PnlSplit>, recorded = RECORDED, loanUsd: Decimal | null = new Decimal('2')) =>
  pnlDifference({ split: { ...SPLIT, ...split }, pnl: PNL, recorded, loanDecimals: 6, loanUsd });

test('default: a record that agrees with the events differs by 0, which is known', () => {
  expect(differenceOf({})).toEqual({ paidDirectlyUsd: '0', recordUsd: '0', incentivesUsd: '0', gaps: [] });
});

describe('recordUsd', () => {
  /** Net value, returned, deposited and received: all that was ever in the position. */
  const MOST = 800_000n + 300_000n + 1_000_000n + 300_000n;

  test.each([
    ['more', 1n, '4.8'],
    ['less', -1n, '-4.8'],
  ])(
    'edge: a record that is %s by all amounts of the position is known, and one unit beyond is not',
    (_name, sign, usd) => {
      const resultOf = (record: bigint) => 100_000n - record;
      const known = differenceOf({ result: resultOf(sign * MOST) });
      expect(known.recordUsd).toBe(usd);
      expect(known.gaps).toEqual([]);
      const beyond = differenceOf({ result: resultOf(sign * (MOST + 1n)) });
      expect(beyond).not.toHaveProperty('recordUsd', expect.anything());
      expect(beyond.gaps).toMatchObject([{ field: 'recordUsd', reason: 'IMPLAUSIBLE' }]);
      // The other parts stay known.
      expect([beyond.paidDirectlyUsd, beyond.incentivesUsd]).toEqual(['0', '0']);
    },
  );

  test('edge: of a position without any amount only 0 is known', () => {
    const none = { received: 0n, netValue: 0n };
    const recorded = { depositedAssets: 0n, returnedAssets: 0n };
    expect(differenceOf({ ...none, result: 0n }, recorded).recordUsd).toBe('0');
    expect(differenceOf({ ...none, result: 1n }, recorded).gaps).toMatchObject([
      { field: 'recordUsd', reason: 'IMPLAUSIBLE' },
    ]);
  });

  test('edge: beyond all amounts it is implausible without a price as well', () => {
    const { gaps } = differenceOf({ result: 100_000n - MOST - 1n }, RECORDED, null);
    expect(gaps.find(({ field }) => field === 'recordUsd')?.reason).toBe('IMPLAUSIBLE');
  });

  test.each(['result', 'paidDirectly', 'received'] as const)('behavior: is unknown with the reason of %s', (field) => {
    const why = gap('events', 'NOT_MEASURED', `no ${field}`);
    const { recordUsd, gaps } = differenceOf({ [field]: why });
    expect(recordUsd).toBeUndefined();
    expect(gaps).toContainEqual({ ...why, field: 'recordUsd' });
  });
});

test('behavior: without a price of the loan token every amount is unknown, and says why', () => {
  const { gaps, ...amounts } = differenceOf({}, RECORDED, null);
  expect(Object.values(amounts)).toEqual([undefined, undefined, undefined]);
  expect(gaps.map(({ field }) => field).sort()).toEqual(['incentivesUsd', 'paidDirectlyUsd', 'recordUsd']);
});
