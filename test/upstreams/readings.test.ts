import fc from 'fast-check';
import { getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import {
  APR_PCT,
  APY_PCT,
  BORROW_APY_PCT,
  type NumericRange,
  PRICE_USD,
  readAddress,
  readAmount,
  readDecimal,
  readTimeMs,
} from '../../src/upstreams/readings.ts';

const everything: NumericRange = { min: new Decimal('-1e400'), minIncluded: true, max: new Decimal('1e400') };
const ok = <T>(reading: { ok: true; value: T } | { ok: false; reason: string }): T => {
  if (!reading.ok) throw new Error(reading.reason);
  return reading.value;
};

describe('readDecimal', () => {
  it('default', () => {
    expect(ok(readDecimal(7.26, APY_PCT)).toFixed()).toBe('7.26');
    expect(ok(readDecimal('54334455.01', PRICE_USD)).toFixed()).toBe('54334455.01');
    expect(ok(readDecimal(1e-7, PRICE_USD)).toFixed()).toBe('0.0000001');
  });

  it('behavior: a JSON number is its shortest decimal text, and reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const value = ok(readDecimal(number, everything));
        expect(value.toNumber()).toBe(number === 0 ? 0 : number);
        expect(value.eq(new Decimal(String(number)))).toBe(true);
      }),
    );
  });

  it('behavior: a fraction becomes percent exactly, where a float would not', () => {
    expect(ok(readDecimal(0.07, APY_PCT, 2)).toFixed()).toBe('7');
    expect(0.07 * 100).not.toBe(7);
    fc.assert(
      fc.property(
        fc.integer({ min: -99_999_999, max: 999_999_999 }),
        fc.integer({ min: 0, max: 8 }),
        (digits, places) => {
          const fraction = new Decimal(digits).shiftedBy(-places);
          const percent = ok(readDecimal(Number(fraction.toFixed()), everything, 2));
          expect(percent.toFixed()).toBe(new Decimal(digits).shiftedBy(2 - places).toFixed());
          expect(percent.shiftedBy(-2).eq(fraction)).toBe(true);
        },
      ),
    );
  });

  it.each([
    ['missing', undefined],
    ['missing', null],
    ['missing', ''],
    ['implausible', Number.NaN],
    ['implausible', Number.POSITIVE_INFINITY],
    ['implausible', 'NaN'],
    ['implausible', '-inf'],
    ['malformed', 'twelve'],
    ['malformed', '0x10'],
    ['malformed', ' 1'],
    ['malformed', true],
    ['malformed', [1]],
    ['malformed', { value: 1 }],
  ])('behavior: %s for %j', (reason, raw) => {
    expect(readDecimal(raw, APY_PCT)).toEqual({ ok: false, reason });
  });

  it.each([
    ['APY', APY_PCT, ['-99.999', '0', '1000'], ['-100', '1000.0001', '-250']],
    ['APR', APR_PCT, ['0', '1000'], ['-0.0001', '1001']],
    ['borrow APY', BORROW_APY_PCT, ['0', '1000'], ['-0.1', '1000.1']],
    ['price', PRICE_USD, ['0.0000000001', '999999999'], ['0', '-1', '1000000000']],
  ])('behavior: the bounds of %s', (_, range, inside, outside) => {
    for (const text of inside) expect(readDecimal(text, range).ok).toBe(true);
    for (const text of outside) expect(readDecimal(text, range)).toEqual({ ok: false, reason: 'implausible' });
  });
});

describe('readAmount', () => {
  it('default', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (amount) => {
        expect(readAmount(amount.toString())).toEqual({ ok: true, value: amount });
      }),
    );
    expect(readAmount(1_200_000_000)).toEqual({ ok: true, value: 1_200_000_000n });
  });

  it.each([
    ['missing', undefined],
    ['missing', null],
    ['malformed', 'NaN'],
    ['malformed', '0x10'],
    ['malformed', {}],
    ['implausible', -1],
    ['implausible', '-1'],
    ['implausible', 1.5],
    ['implausible', '1.5'],
    ['implausible', 2 ** 53],
    ['implausible', (2n ** 256n).toString()],
  ])('behavior: %s for %j', (reason, raw) => {
    expect(readAmount(raw)).toEqual({ ok: false, reason });
  });
});

describe('readTimeMs', () => {
  const times = fc.integer({ min: 1_420_070_400, max: 4_102_444_799 });

  it('default', () => {
    fc.assert(
      fc.property(times, (sec) => {
        const expected = { ok: true, value: sec * 1000 };
        expect(readTimeMs(sec, 'sec')).toEqual(expected);
        expect(readTimeMs(String(sec), 'sec')).toEqual(expected);
        expect(readTimeMs(sec * 1000, 'ms')).toEqual(expected);
        for (const raw of [sec, sec * 1000, new Date(sec * 1000).toISOString()]) {
          expect(readTimeMs(raw, 'any')).toEqual(expected);
        }
      }),
    );
  });

  it('behavior: a date without a zone is UTC in every zone of the machine, summer time included', () => {
    const { TZ } = process.env;
    try {
      for (const zone of ['America/New_York', 'Pacific/Kiritimati', 'UTC']) {
        process.env.TZ = zone;
        for (const raw of ['2026-03-08T02:30:00', '2026-03-08 02:30', '2026-03-08T02:30Z', '2026-03-08T04:30+0200']) {
          expect(readTimeMs(raw, 'any')).toEqual({ ok: true, value: Date.UTC(2026, 2, 8, 2, 30) });
        }
        expect(readTimeMs('2028-02-29', 'any')).toEqual({ ok: true, value: Date.UTC(2028, 1, 29) });
      }
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it.each([
    ['malformed', '2026-02-29', 'any'],
    ['malformed', '2026-02-30T00:00:00Z', 'any'],
    ['malformed', 'Mon, 8 June 2026', 'any'],
    ['missing', null, 'sec'],
    ['malformed', 'yesterday', 'any'],
    ['malformed', '2026-11-20', 'sec'],
    ['malformed', Number.NaN, 'sec'],
    ['malformed', {}, 'ms'],
    // Seconds where milliseconds were promised, and the other way round.
    ['implausible', 1_795_176_000, 'ms'],
    ['implausible', 1_795_176_000_000, 'sec'],
    ['implausible', 0, 'sec'],
    ['implausible', -1, 'any'],
  ] as const)('behavior: %s for %j as %s', (reason, raw, unit) => {
    expect(readTimeMs(raw, unit)).toEqual({ ok: false, reason });
  });
});

describe('readAddress', () => {
  it('default', () => {
    const address = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
    expect(readAddress(address)).toEqual({ ok: true, value: getAddress(address) });
    expect(readAddress(`0x${address.slice(2).toUpperCase()}`)).toEqual({ ok: true, value: getAddress(address) });
  });

  it.each([
    ['missing', undefined],
    ['malformed', '0x12'],
    ['malformed', 5],
  ])('behavior: %s for %j', (reason, raw) => {
    expect(readAddress(raw)).toEqual({ ok: false, reason });
  });
});
