import { expect, test } from 'vitest';
import type { Gap } from '../../src/domain/freshness/types.ts';
import { selectGaps } from '../../src/schema/common/gaps.ts';

const gaps: Gap[] = [
  { field: 'collateral', reason: 'NONE', message: '' },
  { field: 'collateral.priceUsd', reason: 'SOURCE_FAILED', message: '' },
  { field: 'collateralApyPct', reason: 'NONE', message: '' },
];
const fieldsOf = (args: Parameters<typeof selectGaps>[1]) => selectGaps(gaps, args).map(({ field }) => field);

test('default: every gap', () => {
  expect(fieldsOf({})).toEqual(['collateral', 'collateral.priceUsd', 'collateralApyPct']);
  expect(fieldsOf({ fields: null, reasons: null })).toHaveLength(3);
});

test('behavior: of the named fields and the fields below them, with the named reasons', () => {
  expect(fieldsOf({ fields: ['collateral'] })).toEqual(['collateral', 'collateral.priceUsd']);
  expect(fieldsOf({ fields: ['collateral.priceUsd', 'collateralApyPct'] })).toEqual([
    'collateral.priceUsd',
    'collateralApyPct',
  ]);
  expect(fieldsOf({ reasons: ['NONE'], fields: ['collateral'] })).toEqual(['collateral']);
  expect(fieldsOf({ fields: [] })).toEqual([]);
});
