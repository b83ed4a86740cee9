import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { FAILURE_REASONS, TVL_KEY } from '../../src/domain/facts.ts';
import type { ChainTvl } from '../../src/domain/tvl/types.ts';
import { RateLimitedError } from '../../src/limits/budgets.ts';
import { createRoutes } from '../../src/rest/routes/index.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { ChainId } from '../../src/shared/ids.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { BUDGETS, chainOf, completeFacts, NOW_MS, withItem } from '../domain/world.ts';
import { readMetrics, readPromql } from './promql.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** What Prometheus adds to every series. */
const ADDED = new Set(['instance', 'job']);

const usd = new Decimal(1);
const tvlOf = (chainId: ChainId): ChainTvl => ({
  ...{ chainId, tvlUsd: usd, grossTvlUsd: usd, borrowedUsd: usd, badDebtUsd: usd, divergentUsd: usd },
  ...{ oracleDivergences: [], asOfMs: NOW_MS, positions: 1, users: 1, wallets: [] },
  ...{ outsideCatalog: 0, unreadableWallets: 0 },
});

/** Everything that can be told, told once, and what Prometheus then reads. */
async function printed() {
  const catalog = createCatalog(curatedChains);
  const metrics = createMetrics({
    catalog,
    budgets: BUDGETS,
    facts: (chainId) => withItem(completeFacts(chainOf(chainId)), 'tvl', TVL_KEY, { value: tvlOf(chainId) }),
    ready: () => true,
    warnings: () => [['off_peg']],
    persisted: () => true,
    clockSkewMs: () => 0,
    nodes: () => [
      {
        place: 1,
        status: 'ok',
        head: { number: 1n },
        capabilities: { simulateV1: 'works', stateOverrides: 'works' },
      },
    ],
    jobs: () => ({ held: ['prices:1'], standby: [] }),
    now: () => NOW_MS,
  });
  const routes = createRoutes({ chainIds: catalog.chainIds, equityChainIds: [4663] });
  for (const { path: route, method } of routes) {
    for (const status of [200, 400, 500]) metrics.request({ route, method, status, durationMs: 1 });
  }
  for (const outcome of ['ok', 'absent', 'aborted', ...FAILURE_REASONS]) {
    metrics.upstreamCall({ provider: 'coingecko', outcome, ms: 1 });
  }
  for (const outcome of ['ok', 'rate_limited', 'rejected', 'timeout', 'unreachable']) {
    metrics.rpcCall({ chainId: 1, node: 1, outcome, ms: 1 });
  }
  metrics.nodeChosen(1, 1);
  for (const way of ['simulate_v1', 'executor', 'none']) metrics.simulation(1, way);
  for (const yes of [true, false]) {
    metrics.warmerRun({ name: 'prices:1', ok: yes, ms: 1 });
    metrics.query({ durationMs: 1, failed: yes });
    metrics.cacheLookup('composition', yes);
  }
  for (const outcome of ['accepted', 'grace', 'refused', 'unavailable']) metrics.keyCheck(outcome);
  metrics.refused(new RateLimitedError({ scope: 'client', policy: 'anonymous', limit: 1, windowSec: 60 }, 1));
  metrics.build('leverage open', 'ok');
  metrics.swapQuote({ chainId: 1, venue: 'AggregatorOne', outcome: 'quoted' });
  metrics.subscription({ field: 'strategyChanged', change: 'opened' });
  metrics.cacheFill('rest', { bytes: 1, maxBytes: 2, entries: 1 });
  metrics.slowReader();
  metrics.insuredCharge();
  metrics.connectionRefused();
  metrics.watchEdge({ connections: () => 1, unreadBytes: () => 1 });
  metrics.rememberedHistory();
  metrics.publish(1, 'price');
  const page = await metrics.render();
  metrics.close();
  return readMetrics(page);
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
}
const { panels } = JSON.parse(read('ops/grafana-dashboard.json')) as { readonly panels: readonly Panel[] };
const shown = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat = '' }) => ({ name: title, expr, legend: legendFormat })),
);
const alarms = [...read('docs/operations.md').matchAll(/^\| ([A-Z]\w+) \| `((?:[^`])+)`, [^|]+\|/gm)].map(
  ([, name = '', expr = '']) => ({ name, expr: expr.replaceAll('\\|', '|'), legend: '' }),
);

describe('what the dashboard and the alarms ask for', () => {
  test('behavior: every metric, label and value is printed by /metrics', async () => {
    const series = await printed();
    expect([shown.length > 25, alarms.length > 10]).toEqual([true, true]);
    const unknown: string[] = [];
    for (const { name, expr, legend } of [...shown, ...alarms]) {
      const { selectors, groupings } = readPromql(expr);
      expect([name, selectors.length > 0]).toEqual([name, true]);
      for (const { metric, matchers } of selectors) {
        const labels = series.get(metric);
        if (labels === undefined) unknown.push(`${name}: ${metric}`);
        for (const { label, values } of matchers.filter((matcher) => !ADDED.has(matcher.label))) {
          if (!labels?.has(label)) unknown.push(`${name}: ${metric}{${label}}`);
          for (const value of values) {
            if (!labels?.get(label)?.has(value)) unknown.push(`${name}: ${metric}{${label}="${value}"}`);
          }
        }
        for (const label of groupings.filter((one) => !ADDED.has(one))) {
          if (!labels?.has(label)) unknown.push(`${name}: ${metric} by ${label}`);
        }
      }
      const kept = new Set([...groupings, ...ADDED]);
      for (const [, label = ''] of legend.matchAll(/\{\{\s*(\w+)\s*\}\}/g)) {
        if (groupings.length > 0 && !kept.has(label)) unknown.push(`${name}: legend ${label}`);
      }
    }
    expect(unknown).toEqual([]);
  });

  test('behavior: every alarm of the guide can be read', () => {
    const guide = read('docs/operations.md');
    const section = guide.slice(guide.indexOf('## Alarms'), guide.indexOf('## Settings that matter'));
    const rows = [...section.matchAll(/^\| ([A-Z]\w+) \|/gm)]
      .map(([, name]) => name)
      .filter((name) => name !== 'Alarm');
    expect(alarms.map(({ name }) => name)).toEqual(rows);
  });
});
