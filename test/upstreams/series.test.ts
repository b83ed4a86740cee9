import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/shared/decimal.ts';
import { APY_PCT } from '../../src/upstreams/readings.ts';
import { readSeries, withoutLeadingZeros } from '../../src/upstreams/series.ts';
import { plain } from './support/world.ts';

const START_SEC = 1_795_000_000;
const rules = { time: 'sec', within: APY_PCT, nowMs: (START_SEC + 3_600) * 1000 } as const;
const row = fc.record({
  at: fc.oneof(fc.integer({ min: START_SEC, max: START_SEC + 20 }), fc.constantFrom(null, 'x', -1)),
  value: fc.oneof(fc.integer({ min: -200, max: 1200 }), fc.constantFrom(null, 'NaN', {})),
});

describe('readSeries', () => {
  it('default', () => {
    const series = readSeries(
      [
        { at: START_SEC + 60, value: 6 },
        { at: START_SEC, value: 5 },
        { at: START_SEC + 120, value: null },
      ],
      rules,
    );
    expect(plain(series)).toEqual({
      points: [
        { atMs: START_SEC * 1000, value: '5' },
        { atMs: (START_SEC + 60) * 1000, value: '6' },
      ],
      dropped: 1,
      latest: { ok: false, reason: 'missing' },
    });
  });

  it('behavior: drops future rows and keeps the rest; up to two minutes ahead count as now', () => {
    const series = readSeries(
      [
        { at: START_SEC, value: 5 },
        { at: START_SEC + 3_600 + 120, value: 6 },
        { at: START_SEC + 3_600 + 121, value: 7 },
        { at: START_SEC + 2 * 365 * 86_400, value: 8 },
      ],
      rules,
    );
    expect(plain(series)).toEqual({
      points: [
        { atMs: START_SEC * 1000, value: '5' },
        { atMs: rules.nowMs, value: '6' },
      ],
      dropped: 2,
      latest: { ok: true, value: '6', measuredMs: rules.nowMs },
    });
  });

  it('behavior: ordered, one point per time, all requested values, and every dropped row counted', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
        const { points, dropped } = readSeries(rows, rules);
        const times = points.map(({ atMs }) => atMs);
        expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
        for (const { atMs, value } of points) {
          const last = rows.findLast(({ at }) => typeof at === 'number' && at * 1000 === atMs);
          expect(value.toNumber()).toBe(last?.value);
        }
        const readable = rows.filter(({ at }) => typeof at === 'number' && at > 0);
        const distinct = new Set(readable.map(({ at }) => at)).size;
        expect(points.length + dropped).toBe(distinct + rows.length - readable.length);
      }),
    );
  });

  it.each([
    ['missing', []],
    ['malformed', [{ at: 'x', value: 5 }]],
  ])('behavior: latest is %s without a readable time', (reason, rows) => {
    expect(readSeries(rows, rules).latest).toEqual({ ok: false, reason });
  });
});

describe('withoutLeadingZeros', () => {
  it('behavior: removes only leading zeros', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 })), (values) => {
        const points = values.map((value, atMs) => ({ atMs, value: new Decimal(value) }));
        const remaining = withoutLeadingZeros(points).map(({ value }) => value.toNumber());
        const first = values.findIndex((value) => value !== 0);
        expect(remaining).toEqual(first === -1 ? [] : values.slice(first));
      }),
    );
  });
});
