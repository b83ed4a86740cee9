import { describe, expect, test } from 'vitest';
import type { EquityVault, Market } from '../../src/catalog/types.ts';
import type { ComposedChain } from '../../src/domain/market/types.ts';
import { requireOpenVault } from '../../src/transactions/equity/eligibility.ts';
import { requireEligible, requireSoundPrices } from '../../src/transactions/guards.ts';
import { market, refused, vault } from './susde-position.ts';

describe('strategies that are not offered', () => {
  const composedOf = (strategy: object): ComposedChain => ({ strategies: [strategy] }) as unknown as ComposedChain;
  const strategy = (id: string, checks: readonly object[] = [], warnings: readonly object[] = []) =>
    composedOf({ id, visibility: { checks }, spiralHints: { warnings } });
  const check = (name: string, more: object = {}) => ({ name, passed: false, value: '3', threshold: '7', ...more });
  const matured = (of: Market, maturity: number | undefined, more: object = {}): Market => ({
    ...of,
    collateral: { ...of.collateral, maturity, ...more } as Market['collateral'],
  });
  const open = (...checks: readonly object[]) =>
    refused(() => requireEligible(market, strategy(market.id, checks), 5_000_000)) as { details?: object };

  test.each([
    ['swap_route', 'no_swap_route'],
    ['maturity', 'near_maturity'],
    ['has_yield', 'not_listed'],
    ['venue_not_allowed', 'venue_not_allowed'],
    ['operator_not_approved', 'operator_not_approved'],
  ])('error: NotEligible for a strategy that fails %s', (name, reason) => {
    expect(open(check('liquidity'), check(name))).toMatchObject({ details: { reason } });
    expect(open(check(name, { passed: true }))).toBe('accepted');
    expect(open(check(name, { value: undefined, threshold: undefined }))).toMatchObject({
      message: expect.stringContaining('unknown'),
    });
  });

  test('behavior: liquidity alone, another strategy, or none at all, is no reason', () => {
    expect(open(check('liquidity'))).toBe('accepted');
    expect(refused(() => requireEligible(market, strategy('another', [check('has_yield')]), 0))).toBe('accepted');
    expect(refused(() => requireSoundPrices(undefined))).toBe('accepted');
  });

  test('error: NotEligible for a token without a swap route, or one that matures now', () => {
    const none = strategy(market.id);
    expect(refused(() => requireEligible(matured(market, undefined, { noSwapRoute: true }), none, 0))).toMatchObject({
      details: { reason: 'no_swap_route' },
    });
    expect(refused(() => requireEligible(matured(market, 5), none, 5_000))).toMatchObject({
      details: { reason: 'matured' },
    });
    expect(refused(() => requireEligible(matured(market, 5), none, 4_999))).toBe('accepted');
  });

  test.each([
    ['off_peg', 'off_peg'],
    ['oracle_divergence', 'oracle_divergence'],
    ['oracle_out_of_range', 'oracle_divergence'],
  ])('error: NotEligible for the warning %s, behind others', (code, reason) => {
    const warnings = [
      { code: 'low_liquidity', message: 'Low.' },
      { code, message: 'Wrong.' },
    ];
    const error = refused(() => requireSoundPrices({ spiralHints: { warnings } } as never));
    expect(error).toMatchObject({ message: 'Wrong. Nothing is opened while that is so.', details: { reason } });
    expect(refused(() => requireSoundPrices({ spiralHints: { warnings: warnings.slice(0, 1) } } as never))).toBe(
      'accepted',
    );
  });

  test('error: NotEligible for an open and for a vault whose prices are unsound', () => {
    const warnings = [{ code: 'off_peg', message: 'Off its peg.' }];
    for (const found of [
      refused(() => requireEligible(market, strategy(market.id, [], warnings), 0)),
      refused(() => requireOpenVault(vault, strategy(vault.id, [], warnings), 0)),
    ]) {
      expect(found).toMatchObject({ details: { reason: 'off_peg' } });
    }
  });

  test('error: NotEligible for a vault that could not be sold again, or matures', () => {
    const ask = (of: EquityVault, checks: readonly object[] = [], nowMs = 5_000) =>
      refused(() => requireOpenVault(of, strategy(vault.id, checks), nowMs));
    expect(ask(vault)).toBe('accepted');
    expect(ask({ ...vault, stock: { ...vault.stock, noSwapRoute: true } })).toMatchObject({
      message: expect.stringContaining(`${vault.stock.symbol} has no swap route`),
      details: { reason: 'no_swap_route' },
    });
    const yieldToken = vault.yieldMarket.collateral.symbol;
    expect(ask({ ...vault, yieldMarket: matured(vault.yieldMarket, undefined, { noSwapRoute: true }) })).toMatchObject({
      message: expect.stringContaining(`${yieldToken} has no swap route`),
    });
    expect(ask(vault, [check('liquidity'), check('swap_route')])).toMatchObject({
      message: expect.stringContaining(`${vault.stock.symbol} has no swap route`),
    });
    const maturing = { ...vault, yieldMarket: matured(vault.yieldMarket, 5) };
    expect([ask(maturing), ask(maturing, [], 4_999)]).toEqual([
      expect.objectContaining({ details: { reason: 'matured' } }),
      'accepted',
    ]);
    expect(ask(vault, [check('liquidity'), check('maturity')])).toMatchObject({
      message: expect.stringContaining('matures in 3 days, and at least 7 are wanted'),
      details: { reason: 'near_maturity', rule: 'maturity' },
    });
    expect(ask(vault, [check('maturity', { value: undefined, threshold: undefined })])).toMatchObject({
      message: expect.stringContaining('matures in too few days, and at least some are wanted'),
    });
    expect(ask(vault, [check('maturity', { passed: true }), check('swap_route', { passed: true })])).toBe('accepted');
  });
});
