import fc from 'fast-check';
import { concatHex, encodePacked, type Hex, numberToHex } from 'viem';
import { describe, expect, test } from 'vitest';
import { MARKET_LENS_CODE } from '../../src/abi/generated/market-lens.ts';
import { decodeLensHeader, decodeLensPrice, decodeLensState, encodeLens } from '../../src/chain/lens/lens-words.ts';
import { planLendingState } from '../../src/chain/plans/lending-state.ts';
import type { Address, MarketId } from '../../src/shared/ids.ts';
import { runAtOnce } from '../../src/shared/slices.ts';
import { catalog } from '../devnet/world.ts';

const hex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((data) => `0x${Buffer.from(data).toString('hex')}` as Hex);
const markets = catalog.chains.flatMap((chain) => chain.markets);
const block = { number: 7n, timestamp: 1_700_000_000n };

const statuses: fc.Arbitrary<number[]> = fc.array(fc.nat(3), { minLength: 4, maxLength: 4 });
const answered: fc.Arbitrary<number[]> = fc.constant([1, 1, 1, 1]);
const MAX_RATE = (100n * 10n ** 18n) / 31_536_000n;
/** Rows of which much is plausible. */
const row = fc.record({
  statuses: fc.oneof({ weight: 2, arbitrary: answered }, { weight: 1, arbitrary: statuses }),
  totalSupplyAssets: fc.bigInt(0n, 2n ** 128n - 1n),
  totalSupplyShares: fc.bigInt(0n, 2n ** 128n - 1n),
  totalBorrowAssets: fc.oneof(fc.constant(0n), fc.bigInt(0n, 2n ** 128n - 1n)),
  totalBorrowShares: fc.bigInt(0n, 2n ** 128n - 1n),
  lastUpdate: fc.oneof(fc.constantFrom(0n, block.timestamp + 1n), fc.bigInt(1n, block.timestamp)),
  fee: fc.oneof(fc.bigInt(0n, 10n ** 18n / 4n), fc.constantFrom(10n ** 18n / 4n + 1n, 2n ** 128n - 1n)),
  rateAtTarget: fc.oneof(fc.bigInt(0n, MAX_RATE), fc.constantFrom(MAX_RATE + 1n, 2n ** 120n - 1n)),
  borrowRate: fc.oneof(fc.bigInt(0n, MAX_RATE), fc.constantFrom(MAX_RATE + 1n, 2n ** 120n - 1n)),
  price: fc.oneof(fc.constant(0n), fc.bigInt(1n, 2n ** 256n - 1n)),
});
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;

function written(rows: readonly Row[]): Hex {
  const u = (value: bigint | number, size: number) => numberToHex(value, { size });
  return concatHex([
    u(block.timestamp, 32),
    u(4663, 32),
    u(rows.length, 32),
    ...rows.flatMap(({ statuses, ...of }) => [
      ...[of.totalSupplyAssets, of.totalSupplyShares, of.totalBorrowAssets, of.totalBorrowShares].map((v) => u(v, 16)),
      ...[of.lastUpdate, of.fee].map((v) => u(v, 16)),
      u(
        statuses.reduce((bits, one, i) => bits + one * 4 ** i, 0),
        2,
      ),
      ...[of.rateAtTarget, of.borrowRate].map((v) => u(v, 15)),
      u(of.price, 32),
    ]),
  ]);
}

const REASONS = ['server_error', undefined, 'reverted', 'malformed'];

function expectedState({ statuses, price: _, ...of }: Row) {
  const [market = 0, atTarget = 0, rate = 0] = statuses;
  const isSound =
    of.totalBorrowAssets <= of.totalSupplyAssets && of.fee <= 10n ** 18n / 4n && of.lastUpdate <= block.timestamp;
  const reason =
    REASONS[market] ??
    (of.lastUpdate === 0n ? 'missing' : undefined) ??
    (isSound ? undefined : 'implausible') ??
    REASONS[atTarget] ??
    REASONS[rate] ??
    (of.rateAtTarget > MAX_RATE || of.borrowRate > MAX_RATE ? 'implausible' : undefined);
  if (reason) return { ok: false, reason };
  return { ok: true, value: { ...of, blockNumber: block.number, blockTimestamp: block.timestamp } };
}

describe('encodeLens', () => {
  test('default: the code, the ids, their number and the protocol', () => {
    fc.assert(
      fc.property(fc.array(hex(32), { maxLength: 5 }), hex(20), (ids, morphoBlue) => {
        const expected = encodePacked(
          ['bytes', ...ids.map(() => 'bytes32'), 'uint96', 'address'],
          [MARKET_LENS_CODE, ...ids, BigInt(ids.length), morphoBlue],
        );
        expect(encodeLens(morphoBlue as Address, ids as readonly Hex[] as MarketId[])).toBe(expected);
      }),
    );
  });
});

describe('planLendingState', () => {
  const morphoBlue = '0xBBBBBbbBBb9cC5e90e3b3Af64bdAF62C37EEFFCb' as Address;

  test('default: every market once, in order, and never more than there may be in a call', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), (perCall) => {
        const questions = runAtOnce(planLendingState(morphoBlue, markets, perCall));
        expect(questions.flatMap((question) => question.markets)).toEqual(markets);
        for (const { markets: some, count, data } of questions) {
          expect(count).toBe(some.length);
          expect(count).toBeLessThanOrEqual(perCall);
          expect(data).toBe(
            encodeLens(
              morphoBlue,
              some.map(({ id }) => id),
            ),
          );
        }
      }),
    );
  });

  test('behavior: of no market, the time is still asked', () => {
    expect(runAtOnce(planLendingState(morphoBlue, []))).toEqual([
      { markets: [], count: 0, data: encodeLens(morphoBlue, []) },
    ]);
  });
});

describe('decodeLensState, decodeLensPrice', () => {
  test('default: a value that is plausible and was answered, or why there is none', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 4 }), (rows) => {
        const data = written(rows);
        expect(decodeLensHeader(data)).toEqual({ timestamp: block.timestamp, chainId: 4663n, count: rows.length });
        for (const [i, one] of rows.entries()) {
          expect(decodeLensState(data, i, block)).toEqual(expectedState(one));
          const reason = REASONS[one.statuses[3] ?? 0] ?? (one.price === 0n ? 'implausible' : undefined);
          expect(decodeLensPrice(data, i)).toEqual(reason ? { ok: false, reason } : { ok: true, value: one.price });
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('decodeLensHeader', () => {
  test('error: RangeError for anything cut short, longer, or not of bytes', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 3 }), fc.nat(), (rows, at) => {
        const data = written(rows);
        expect(() => decodeLensHeader(data.slice(0, at % data.length) as Hex)).toThrow(RangeError);
        expect(() => decodeLensHeader(`${data}00`)).toThrow(RangeError);
        expect(() => decodeLensHeader(`${data.slice(0, -1)}z` as Hex)).toThrow(RangeError);
      }),
    );
  });
});
