import fc from 'fast-check';
import { concatHex, type Hex, numberToHex } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Market } from '../../src/catalog/index.ts';
import {
  foldBorrowRates,
  foldStored,
  planBorrowRates,
  planStored,
  type StoredState,
} from '../../src/chain/plans/lending-state.ts';
import type { CallResult } from '../../src/chain/types.ts';
import { chain, template } from './lending-world.ts';

const block = { number: 7n, timestamp: 1_700_000_000n };
const MAX_FEE = 10n ** 18n / 4n;
const MAX_RATE = (100n * 10n ** 18n) / 31_536_000n;
const uint128 = fc.bigInt(0n, 2n ** 128n - 1n);
const rate = fc.oneof(fc.bigInt(0n, MAX_RATE), fc.constantFrom(MAX_RATE + 1n, 2n ** 120n, 2n ** 256n - 1n));
const status = fc.oneof({ weight: 5, arbitrary: fc.constant('answered') }, fc.constantFrom('reverted', 'malformed'));
/** Rows of which much is plausible. */
const row = fc.record({
  statuses: fc.tuple(status, status, status),
  totalSupplyAssets: uint128,
  totalSupplyShares: uint128,
  totalBorrowAssets: fc.oneof(fc.constant(0n), uint128),
  totalBorrowShares: uint128,
  lastUpdate: fc.oneof(fc.constantFrom(0n, block.timestamp + 1n), fc.bigInt(1n, block.timestamp)),
  fee: fc.oneof(fc.bigInt(0n, MAX_FEE), fc.constantFrom(MAX_FEE + 1n, 2n ** 128n - 1n)),
  rateAtTarget: rate,
  borrowRate: rate,
});
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;

function resultOf(how: string, ...words: readonly bigint[]): CallResult {
  if (how === 'reverted') return { ok: false, reason: how };
  const data = concatHex(words.map((word) => numberToHex(word, { size: 32 })));
  return { ok: true, data: how === 'malformed' ? (`${data}00` as Hex) : data };
}

function expected({ statuses, ...of }: Row) {
  const [market, atTarget, borrow] = statuses.map((how) => (how === 'answered' ? undefined : how));
  const isSound = of.totalBorrowAssets <= of.totalSupplyAssets && of.fee <= MAX_FEE && of.lastUpdate <= block.timestamp;
  const reason =
    market ??
    (of.lastUpdate === 0n ? 'missing' : undefined) ??
    (isSound ? undefined : 'implausible') ??
    atTarget ??
    (of.rateAtTarget > MAX_RATE ? 'implausible' : undefined) ??
    borrow ??
    (of.borrowRate > MAX_RATE ? 'implausible' : undefined);
  if (reason) return { ok: false, reason };
  return { ok: true, value: { ...of, blockNumber: block.number, blockTimestamp: block.timestamp } };
}

describe('foldStored, foldBorrowRates', () => {
  test('default: returns plausible values, or the reason for a missing one', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 4 }), (rows) => {
        const markets: readonly Market[] = rows.map(() => template);
        const first = rows.flatMap(({ statuses: [market = '', atTarget = ''], ...of }) => [
          resultOf(
            market,
            ...[of.totalSupplyAssets, of.totalSupplyShares, of.totalBorrowAssets, of.totalBorrowShares],
            ...[of.lastUpdate, of.fee],
          ),
          resultOf(atTarget, of.rateAtTarget),
        ]);
        expect(planStored(chain.contracts.morphoBlue, markets)).toHaveLength(first.length);
        const stored = foldStored(markets, first, block);
        const requested = rows.filter((_, i) => stored[i]?.ok);
        expect(planBorrowRates(markets, stored)).toHaveLength(requested.length);
        const second = requested.map(({ statuses: [, , how = ''], borrowRate }) => resultOf(how, borrowRate));
        expect(foldBorrowRates(stored, second)).toEqual(rows.map(expected));
      }),
      { numRuns: 500 },
    );
  });

  test('behavior: missing answers are malformed', () => {
    expect(foldStored([template], [], block)).toEqual([{ ok: false, reason: 'malformed' }]);
    const stored = [{ ok: true, value: {} as StoredState }] as const;
    expect(foldBorrowRates(stored, [])).toEqual([{ ok: false, reason: 'malformed' }]);
  });
});
