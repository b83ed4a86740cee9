import { describe, expect, test } from 'vitest';
import { basisOf, oracleTypeGap, oracleTypeOf } from '../../src/domain/market/oracle-basis.ts';

describe(basisOf, () => {
  test.each([
    ['a vault alone', 1, [], 'nav'],
    ['vaults on both sides', 2, [], 'nav'],
    ['a feed of a rate', 0, ['WSTETH / STETH Exchange Rate'], 'nav'],
    ['a vault and a feed of a rate', 1, ['weETH / eETH exchange rate'], 'nav'],
    ['a pair', 0, ['USDe / USD'], 'market'],
    ['two pairs', 0, ['sUSDe / USD', 'USDC/USD'], 'market'],
    ['a vault and a pair', 1, ['USDe / USD'], 'mixed'],
    ['a rate and a pair', 0, ['WSTETH / STETH ExchangeRate', 'ETH / USD'], 'mixed'],
    ['nothing', 0, [], 'fixed'],
    ['a feed without a description', 0, [undefined], 'unstated'],
    ['a vault and a feed without a description', 1, [undefined], 'unstated'],
    ['a feed that says something else', 0, ['PT linear discount'], 'unstated'],
    ['a pair with words behind it', 0, ['LBTC / BTC fundamental'], 'unstated'],
    ['an empty description', 0, [''], 'unstated'],
    ['a long description', 0, [`${'A'.repeat(1_000)} / USD`], 'unstated'],
  ] as const)('behavior: %s', (_what, vaults, feeds, basis) => {
    expect(basisOf({ vaults, feeds })).toBe(basis);
  });
});

test('behavior: only what the contracts state has a type, and the rest a reason', () => {
  const of = (basis?: 'nav' | 'market' | 'mixed' | 'fixed' | 'unstated') => [
    oracleTypeOf({ basis }),
    oracleTypeGap({ basis })?.reason,
  ];
  expect([of('nav'), of('market')]).toEqual([
    ['nav', undefined],
    ['market', undefined],
  ]);
  for (const basis of ['mixed', 'fixed', 'unstated', undefined] as const)
    expect(of(basis)).toEqual([undefined, 'NOT_MEASURED']);
  const reasons = (['mixed', 'fixed', 'unstated', undefined] as const).map(
    (basis) => oracleTypeGap({ basis })?.message,
  );
  expect(new Set(reasons).size).toBe(4);
});
