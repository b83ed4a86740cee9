import { describe, expect, test } from 'vitest';
import { conversions } from '../../src/rest/conversions/index.ts';

const at = { raw: undefined, namesOf: () => [] };
const AT = '2026-01-31T12:00:00.500Z';
const known = { asOf: AT, status: 'fresh' };
const oldest = { asOf: '2026-01-01T00:00:00.000Z', status: 'stale' };
const series = { marketId: '0x1', complete: false, history: [{ y: 1 }], gaps: [] };

/** A value, and what a conversion makes of it; `undefined` = absent. */
const CASES: [name: string, value: unknown, shown: unknown, raw?: unknown][] = [
  ['unixSeconds', AT, 1769860800],
  ['unixMs', AT, 1769860800500],
  ['integer', '12', 12],
  ['date', AT, '2026-01-31'],
  ['epochIfNever', null, '1970-01-01T00:00:00.000Z'],
  ['epochIfNever', AT, AT],
  ['known', '5', '5'],
  ['orUnknownAge', null, { asOf: null, stale: true }],
  ['orUnknownAge', known, known],
  ['twoPlaces', '3.756', '3.76'],
  ['borrowApyFraction', '5', 0.05],
  ['borrowApyFraction', '0.25', 0.0025],
  ['incentiveApr', '12.5', 12.5],
  ['price', '1.1234567890123456', '1.123456789012'],
  ['unlessZero', '0', undefined],
  ['unlessZero', '7', '7'],
  ['onlyIfTrue', true, true],
  ['onlyIfTrue', false, undefined],
  ['lowerCase', 'HIGH_COST', 'high_cost'],
  ['isStale', 'stale', true],
  ['isStale', 'never', false],
  ['bn', '1.5', { $bn: '1.5' }],
  ['bigint', '7', { $bigint: '7' }],
  ['ratio', '50', 0.005],
  ['unlessEmpty', [], undefined],
  ['unlessEmpty', {}, undefined],
  ['unlessEmpty', [1], [1]],
  ['first', [], undefined],
  ['first', [{ a: 1 }, { a: 2 }], { a: 1 }],
  ['only', [{ a: 1 }], { a: 1 }],
  ['nodes', { nodes: [1] }, [1]],
  ['nextCursor', { hasNextPage: true, endCursor: 'c' }, 'c'],
  ['nextCursor', { hasNextPage: false, endCursor: 'c' }, null],
  ['firstUrl', [{}, { url: 'https://a.example' }], 'https://a.example'],
  ['firstUrl', [{}], undefined],
  ['pairs', [{ at: AT, value: '1.5' }], [[1769860800500, 1.5]]],
  ['named', [{ field: 'a', reason: 'NONE' }], [{ field: 'a', reason: 'NONE' }]],
  [
    'bySymbol',
    [
      { symbol: 'MORPHO', aprPct: '1.25' },
      { symbol: 'ENA', aprPct: '0.006' },
      { symbol: 'MORPHO', aprPct: '2.5' },
    ],
    [
      { symbol: 'MORPHO', aprPct: '3.75' },
      { symbol: 'ENA', aprPct: '0.01' },
    ],
  ],
  ['slippageBySize', [{ sizeUsd: '100', slippagePct: '0.456' }, { sizeUsd: '500' }], { 100: '0.46', 500: null }],
  [
    'exactSlippageBySize',
    [{ sizeUsd: '100', slippagePct: '0.456' }, { sizeUsd: '500' }],
    { 100: { $bn: '0.456' }, 500: null },
  ],
  ['exitLiquidity', null, { measured: false }],
  [
    'exitLiquidity',
    { source: 'AggregatorOne', asOf: AT, slippagePct: {} },
    { measured: true, method: 'AggregatorOne quotes', direction: 'collateral to stable', asOf: AT, slippagePct: {} },
  ],
  [
    'failedRules',
    [
      { rule: 'paused', passed: false },
      { rule: 'maturity', passed: true },
    ],
    ['paused'],
  ],
  ['failedRules', [{ rule: 'paused', passed: true }], undefined],
  ['ifDated', { source: 'contract' }, undefined],
  ['ifDated', { source: 'contract', freshness: {} }, { source: 'contract', freshness: {} }],
  [
    'assumed',
    [
      { field: 'noSwapRoute', reason: 'NOT_MEASURED', message: 'm' },
      { field: 'curator', reason: 'NONE', message: 'm' },
      { field: 'visibility.checks.PAUSED', reason: 'NOT_MEASURED', message: 'm' },
    ],
    [
      { field: 'noSwapRoute', reason: 'NOT_MEASURED', message: 'm' },
      { field: 'listed', reason: 'NOT_MEASURED', message: 'm' },
    ],
  ],
  ['assumed', [], undefined],
  [
    'pricesByToken',
    [
      { address: '0xa', price: { usd: '2', freshness: known } },
      { address: '0xb', price: { usd: '3', freshness: oldest } },
      { address: '0xc' },
    ],
    { asOf: oldest.asOf, stale: true, prices: { '0xa': 2, '0xb': 3 } },
  ],
  ['pricesByToken', [], { asOf: null, stale: true, prices: {} }],
  ['history', { ...series, freshness: known }, { marketId: '0x1', history: [{ y: 1 }], asOf: AT, stale: false }],
  [
    'history',
    { ...series, freshness: oldest },
    { marketId: '0x1', history: [{ y: 1 }], asOf: oldest.asOf, stale: true },
  ],
  [
    'history',
    { ...series, complete: true, freshness: oldest },
    { marketId: '0x1', history: [{ y: 1 }], asOf: oldest.asOf, stale: false },
  ],
  [
    'oneHistory',
    [
      { chainId: 1, rateHistories: [] },
      { chainId: 4663, rateHistories: [{ ...series, gaps: [{ reason: 'SOURCE_FAILED', message: 'm' }] }] },
    ],
    {
      chainId: 4663,
      marketId: '0x1',
      history: [{ y: 1 }],
      asOf: null,
      stale: true,
      gap: { reason: 'SOURCE_FAILED', message: 'm' },
    },
  ],
  [
    'histories',
    [
      {
        chainId: 1,
        rateHistories: [
          { ...series, freshness: known },
          { ...series, marketId: '0x2', gaps: [{ reason: 'NONE', message: 'm' }] },
        ],
      },
    ],
    {
      asOf: AT,
      stale: false,
      histories: { '0x1': [{ y: 1 }], '0x2': [{ y: 1 }] },
      gaps: { '0x2': { reason: 'NONE', message: 'm' } },
    },
  ],
  ['orNoPast', null, { complete: false, count: 0, next: null, events: [], equity: [], gaps: [] }],
  ['foundStockLeg', [{}, { stockLeg: { a: 1 } }], { a: 1 }],
  ['foundStockLeg', [{}], null],
  ['approvals', ['a', 'b'], ['a'], [{ isApproval: true }, { isApproval: false }]],
  ['lastCall', ['a', 'b'], 'b', [{ isApproval: true }, { isApproval: false }]],
  ['sendCalls', { version: '2.0.0' }, { version: '2.0.0' }],
  ['driftKind', { kind: 'no_db_row' }, 'no_db_row'],
  ['firstDriftKind', { nodes: [{}, { drift: { kind: 'no_db_row' } }] }, 'no_db_row'],
  ['firstDriftKind', { nodes: [{}] }, null],
  ['isThere', null, false],
  ['isThere', {}, true],
  ['portfolioDocuments', [{}], [{}]],
  [
    'byState',
    {
      nodes: [
        { id: 1, status: 'open' },
        { id: 2, status: 'closed' },
        { yieldLoops: [], status: 'liquidated' },
      ],
    },
    {
      positions: [{ id: 1, status: 'open' }],
      equityPositions: [],
      closed: [
        { kind: 'position', id: 2, status: 'closed' },
        { kind: 'equity', yieldLoops: [], status: 'liquidated' },
      ],
    },
  ],
  ['orZero', null, 0],
  ['inBody', 'amount', 'body.amount'],
  ['byName', [{ name: 'max', value: '5' }], { max: '5' }],
  ['notSimulated', true, { provider: 'chain', reason: 'not_simulated' }],
];

describe('conversions', () => {
  test.each(CASES)('behavior: %s of %j', (name, value, shown, raw) => {
    expect(conversions[name]?.convert(value, { ...at, raw })).toEqual(shown);
  });

  test('error: what has to be there', () => {
    expect(() => conversions.known?.convert(null, at)).toThrow('required');
    expect(() => conversions.only?.convert([], at)).toThrow('only item');
  });

  test('behavior: every conversion has a case here', () => {
    const named = new Set([...CASES.map(([name]) => name), 'statementCsv']);
    expect(Object.keys(conversions).filter((name) => !named.has(name))).toEqual([]);
  });
});
