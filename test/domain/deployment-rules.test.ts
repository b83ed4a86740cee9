import { describe, expect, test } from 'vitest';
import type { ContractDeployment } from '../../src/domain/deployment/types.ts';
import { DEPLOYMENT_KEY } from '../../src/domain/facts.ts';
import type { Strategy } from '../../src/domain/strategy/types.ts';
import { gapOf, robinhood, strategyOf, timeout } from './strategy-world.ts';
import { BUDGETS, CONTRACT, completeFacts, NOW_MS, withItem } from './world.ts';

const facts = completeFacts(robinhood);
const [vault] = robinhood.equityVaults;
if (!vault) throw new Error('the chain has vaults');
const { yieldMarket, stockMarket } = vault;
const checkOf = (strategy: Strategy, rule: string) => strategy.visibility.checks.find(({ name }) => name === rule);
const says = (value: Partial<ContractDeployment>) =>
  withItem(facts, 'deployment', DEPLOYMENT_KEY, { value: { ...CONTRACT, ...value } });
const ofLoop = (given: typeof facts) => strategyOf(given, yieldMarket.id, robinhood);
const ofVault = (given: typeof facts) => strategyOf(given, vault.id, robinhood);

describe('listing rules about the deployed contract', () => {
  test('default: a vault has the rules of its yield leg and of its router', () => {
    const closed = withItem(facts, 'marketSupport', yieldMarket.id, { value: { isSupported: false } });
    expect(checkOf(ofVault(closed), 'unsupported')).toMatchObject({ passed: false, value: 'unsupported' });
    const unheld = withItem(facts, 'marketSupport', stockMarket.id, { value: { isSupported: false } });
    expect(checkOf(ofVault(unheld), 'unsupported')).toMatchObject({ passed: true, value: 'supported' });
    const equityRouter = robinhood.contracts.equityRouter;
    if (!equityRouter) throw new Error('the chain has an equity router');
    const refused = says({ operators: [{ address: equityRouter, isAllowed: false }] });
    expect(ofVault(refused).visibility.visible).toBe(false);
    expect(ofLoop(refused).visibility.visible).toBe(true);
    expect(checkOf(ofLoop(refused), 'operator_not_approved')).toBeUndefined();
  });

  test('behavior: a disagreement about a token of either leg unlists only the strategies with it', () => {
    const given = withItem(facts, 'tokenContract', vault.stock.address, { value: { hasCode: true, decimals: 6n } });
    expect(checkOf(ofVault(given), 'catalog_mismatch')).toMatchObject({ passed: false, value: 'decimals' });
    expect(checkOf(ofLoop(given), 'catalog_mismatch')?.passed).toBe(true);
    const silent = withItem(facts, 'tokenContract', vault.stock.address, { value: { hasCode: true } });
    expect(checkOf(ofVault(silent), 'catalog_mismatch')).toMatchObject({ passed: true, value: null });
    const symbol = withItem(facts, 'tokenContract', vault.stock.address, {
      value: { hasCode: true, decimals: 18n, symbol: 'X' },
    });
    expect(checkOf(ofVault(symbol), 'catalog_mismatch')).toMatchObject({ passed: true, value: 'none' });
  });

  test('behavior: a rule carries the source and age of its fact', () => {
    const old = withItem(facts, 'deployment', DEPLOYMENT_KEY, {
      value: { ...CONTRACT, isPaused: true },
      asOfMs: NOW_MS - 86_400_000,
    });
    expect(checkOf(ofLoop(old), 'paused')).toEqual({
      name: 'paused',
      passed: false,
      value: 'paused',
      threshold: null,
      source: 'test',
      stamp: { asOfMs: NOW_MS - 86_400_000, staleAfterSec: BUDGETS.deployment },
    });
    expect(ofLoop(old).deployment?.stamp?.asOfMs).toBe(NOW_MS - 86_400_000);
  });

  test('behavior: an unmeasured rule passes with the reason', () => {
    const failed = withItem(facts, 'deployment', DEPLOYMENT_KEY, { failure: timeout });
    for (const rule of ['paused', 'venue_not_allowed']) {
      const check = checkOf(ofLoop(failed), rule);
      expect(check).toMatchObject({ passed: true, value: null });
      expect(check?.source).toBeUndefined();
      expect(gapOf(ofLoop(failed), `visibility.checks.${rule.toUpperCase()}`)).toMatchObject({
        reason: 'SOURCE_FAILED',
        sinceMs: timeout.sinceMs,
        message: check?.note,
      });
    }
    const uncompared = withItem(facts, 'tokenContract', yieldMarket.loan.address, { failure: timeout });
    expect(checkOf(ofLoop(uncompared), 'catalog_mismatch')).toMatchObject({ passed: true, value: null });
    expect(gapOf(ofLoop(uncompared), 'visibility.checks.CATALOG_MISMATCH')?.reason).toBe('SOURCE_FAILED');
  });

  test('behavior: one allowed venue suffices; an unknown one beside a refused one leaves the rule open', () => {
    const [router] = robinhood.swapRouters.AggregatorOne ?? [];
    if (!router) throw new Error('the catalog has a router');
    const value = (isAllowed: boolean) =>
      checkOf(ofLoop(says({ swapRouters: [{ address: router, isAllowed }] })), 'venue_not_allowed');
    expect(value(true)).toMatchObject({ passed: true, value: 'AggregatorOne' });
    expect(value(false)).toMatchObject({ passed: false, value: 'none' });
    expect(checkOf(ofLoop(says({ swapRouters: [] })), 'venue_not_allowed')).toMatchObject({
      passed: true,
      value: null,
    });
  });
});
