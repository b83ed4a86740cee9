import { expect, test } from 'vitest';
import type { Gap } from '../../src/domain/freshness/types.ts';
import { selectGaps } from '../../src/schema/common/gaps.ts';

const gaps: Gap[] = [
  { field: 'collateral', reason: 'NONE', message: '' },
  { field: 'collateral.maturesAt', reason: 'SOURCE_FAILED', message: '' },
  { field: 'collateralApyPct', reason: 'NONE', message: '' },
];
const fieldsOf = (args: Parameters<typeof selectGaps>[1]) => selectGaps(gaps, args).map(({ field }) => field);

test('default: every gap', () => {
  expect(fieldsOf({})).toEqual(['collateral', 'collateral.maturesAt', 'collateralApyPct']);
  expect(fieldsOf({ fields: null, reasons: null })).toHaveLength(3);
});

test('behavior: of the named fields and the fields below them, with the named reasons', () => {
  expect(fieldsOf({ fields: ['collateral'] })).toEqual(['collateral', 'collateral.maturesAt']);
  expect(fieldsOf({ fields: ['collateral.maturesAt', 'collateralApyPct'] })).toEqual([
    'collateral.maturesAt',
    'collateralApyPct',
  ]);
  expect(fieldsOf({ reasons: ['NONE'], fields: ['collateral'] })).toEqual(['collateral']);
  expect(fieldsOf({ fields: [] })).toEqual([]);
});
