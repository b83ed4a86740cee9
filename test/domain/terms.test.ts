import { describe, expect, test } from 'vitest';
import { trailingOf } from '../../src/domain/apy/series.ts';
import { contractTerms, deploymentTerms } from '../../src/domain/deployment/terms.ts';
import { DEPLOYMENT_KEY } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { ethereum, gapOf, strategyOf } from './strategy-world.ts';
import { BUDGETS, CONTRACT, completeFacts, DAY, marketOf, NOW_MS, PARAMS, withItem } from './world.ts';

const facts = completeFacts(ethereum);
const market = marketOf(ethereum, 'sUSDe', 'PYUSD');
const fieldsOf = (gaps: readonly { field: string }[]) => gaps.map(({ field }) => field);
const MEASURED_MS = NOW_MS - 60_000;

describe('deploymentTerms', () => {
  test('default: of the contract and of its market, as old as the reading that runs out first', () => {
    const known = {
      isPaused: false,
      liquidationBuffer: CONTRACT.liquidationBuffer,
      isSupported: true,
      isCorrelated: true,
    };
    const stamp = { asOfMs: MEASURED_MS, staleAfterSec: BUDGETS.deployment };
    expect(deploymentTerms(market, facts, BUDGETS)).toEqual({ ...known, source: 'test', stamp, gaps: [] });
    const support = facts.groups.marketSupport.items.get(market.id)?.value ?? {};
    const older = withItem(facts, 'marketSupport', market.id, { value: support, asOfMs: MEASURED_MS - 1 });
    expect(deploymentTerms(market, older, BUDGETS).stamp?.asOfMs).toBe(MEASURED_MS - 1);
  });

  test('behavior: without a reading of one side the other side has the age', () => {
    const unread = withItem(facts, 'deployment', DEPLOYMENT_KEY, {});
    const terms = deploymentTerms(market, unread, BUDGETS);
    expect(terms).toMatchObject({ isSupported: true, source: 'test', stamp: { asOfMs: MEASURED_MS } });
    expect(fieldsOf(terms.gaps)).toEqual(['paused', 'liquidationBufferPct']);
    const unlisted = deploymentTerms(market, withItem(facts, 'marketSupport', market.id, {}), BUDGETS);
    expect(unlisted).toMatchObject({ isPaused: false, stamp: { asOfMs: MEASURED_MS } });
    expect([unlisted.isSupported, fieldsOf(unlisted.gaps)]).toEqual([undefined, ['supported', 'correlated']]);
    const nothing = deploymentTerms(market, withItem(unread, 'marketSupport', market.id, {}), BUDGETS);
    expect([nothing.stamp, nothing.source]).toEqual([undefined, undefined]);
    expect(fieldsOf(nothing.gaps)).toEqual([
      'paused',
      'liquidationBufferPct',
      'supported',
      'correlated',
      'source',
      'freshness',
    ]);
  });

  test('behavior: a value that the contract does not return has a gap; the gap of an impossible one names that reason', () => {
    const partly = withItem(facts, 'deployment', DEPLOYMENT_KEY, {
      value: { ...CONTRACT, isPaused: undefined, liquidationBuffer: undefined, implausible: ['liquidationBuffer'] },
    });
    const { gaps } = deploymentTerms(market, partly, BUDGETS);
    expect(gaps.map(({ field, reason, sinceMs }) => [field, reason, sinceMs])).toEqual([
      ['paused', 'NOT_MEASURED', MEASURED_MS],
      ['liquidationBufferPct', 'IMPLAUSIBLE', MEASURED_MS],
    ]);
    const silent = withItem(facts, 'marketSupport', market.id, { value: { isSupported: false } });
    expect(deploymentTerms(market, silent, BUDGETS)).toMatchObject({
      isSupported: false,
      gaps: [{ field: 'correlated', reason: 'NOT_MEASURED' }],
    });
  });
});

test('contractTerms: the terms of every market, with a gap for each unknown', () => {
  expect(contractTerms(facts, 900)).toEqual({
    isPaused: false,
    liquidationBuffer: CONTRACT.liquidationBuffer,
    hasCode: true,
    routers: [],
    operators: [],
    source: 'test',
    stamp: { asOfMs: MEASURED_MS, staleAfterSec: 900 },
    gaps: [],
  });
  const nothing = contractTerms(withItem(facts, 'deployment', DEPLOYMENT_KEY, {}), 900);
  expect([nothing.stamp, nothing.routers, nothing.operators]).toEqual([undefined, [], []]);
  expect(fieldsOf(nothing.gaps)).toEqual(['hasCode', 'paused', 'liquidationBufferPct', 'source', 'freshness']);
});

describe('histories of a market', () => {
  test('behavior: a matured token has no carry over time, because it has matured', () => {
    const principal = marketOf(ethereum, 'PT-stcUSD', 'USDC');
    const nowMs = (principal.collateral.maturity as number) * 1_000;
    const without = withItem(facts, 'collateralApy', principal.collateral.address, {});
    const matured = strategyOf(without, principal.id, ethereum, { ...PARAMS, nowMs });
    expect(gapOf(matured, 'historicalLeverageApyPct')?.reason).toBe('NOT_APPLICABLE');
    expect(gapOf(matured, 'collateralApyMeans')?.reason).toBe('NOT_APPLICABLE');
    const silent = withItem(facts, 'collateralApy', market.collateral.address, { value: { apyPct: new Decimal(5) } });
    const living = strategyOf(silent, market.id);
    expect(gapOf(living, 'historicalLeverageApyPct')?.reason).toBe('NOT_MEASURED');
    expect(gapOf(living, 'collateralApyMeans')?.reason).toBe('NOT_MEASURED');
  });

  test('trailingOf: two points of one day count as their mean, days add up', () => {
    const today = Math.floor(NOW_MS / DAY) * DAY;
    const made = trailingOf([
      { atMs: today - DAY, ratePct: new Decimal(1) },
      { atMs: today, ratePct: new Decimal(4) },
      { atMs: today + 1, ratePct: new Decimal(8) },
    ]);
    expect(made?.sums.map((sum) => sum.toFixed())).toEqual(['0', '1', '7']);
    expect(made?.dayMs).toEqual([today - DAY, today]);
  });
});
