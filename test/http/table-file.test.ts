import { describe, expect, test } from 'vitest';

/** A module of the ops page, which has no types. */
const { csvOf, fileName, jsonOf } = await import('../../console/ops/table-file.js' as string);

const COLUMNS = [
  ['symbol', 'Symbol', ({ symbol }: { symbol: unknown }) => symbol],
  ['valueUsd', 'Value, USD', ({ value }: { value: unknown }) => value],
];
const lineOf = (symbol: unknown, value: unknown = null) =>
  csvOf(COLUMNS, [{ symbol, value }]).split('\r\n').slice(1, -1).join('\r\n');

describe('csvOf', () => {
  test('default: a heading with units, exact values, and empty cells for unknown values', () => {
    expect(csvOf(COLUMNS, [{ symbol: 'USD₮0', value: '123456789012345678.123456789012345678' }, {}])).toBe(
      '\ufeffSymbol,"Value, USD"\r\nUSD₮0,123456789012345678.123456789012345678\r\n,\r\n',
    );
    expect(csvOf(COLUMNS, [])).toBe('\ufeffSymbol,"Value, USD"\r\n');
  });

  test.each([
    ['=1+1', "'=1+1"],
    ['=HYPERLINK("http://x","y")', `'=HYPERLINK("http://x","y")`],
    ['+1', "'+1"],
    ['-1+cmd|x', "'-1+cmd|x"],
    ['-', "'-"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\rx', "'\rx"],
    ['\n=1', "'\n=1"],
    ['  =1', "'  =1"],
    ['＝1', "'＝1"],
  ])('behavior: %j is a text for a spreadsheet', (symbol, text) => {
    expect(lineOf(symbol)).toBe(`"${text.replaceAll('"', '""')}",`);
  });

  test('behavior: numbers keep their sign, zero is no gap, and separators stay in their cell', () => {
    expect(lineOf('a', '-0.000000000000000001')).toBe('a,-0.000000000000000001');
    expect(lineOf('-5', '0')).toBe('-5,0');
    expect(lineOf('a,b;"c"\r\nd', 0)).toBe('"a,b;""c""\r\nd",0');
  });
});

test('jsonOf: exact texts, null for unknown values, and the subject of the rows', () => {
  const rows = [{ symbol: '=1', value: '-1.10' }, { symbol: 'b' }];
  expect(JSON.parse(jsonOf(COLUMNS, rows, { table: 'markets' }))).toEqual({
    table: 'markets',
    columns: { symbol: 'Symbol', valueUsd: 'Value, USD' },
    rows: [
      { symbol: '=1', valueUsd: '-1.10' },
      { symbol: 'b', valueUsd: null },
    ],
  });
});

test('fileName: the chain and the time', () => {
  const at = '2026-11-22T17:05:09.123Z';
  expect(fileName({ table: 'positions', chain: '4663', at, type: 'csv' })).toBe(
    'positions-chain-4663-20261122T170509Z.csv',
  );
  expect(fileName({ table: 'drift', chain: '', at, type: 'json' })).toBe('drift-all-chains-20261122T170509Z.json');
});
