import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { FAILURE_REASONS, TVL_KEY } from '../../src/domain/facts.ts';
import type { ChainTvl } from '../../src/domain/tvl/types.ts';
import { alertMetrics } from '../../src/features/alerts/metrics.ts';
import { RateLimitedError } from '../../src/limits/budgets.ts';
import { createRoutes } from '../../src/rest/routes/index.ts';
import { sharedSchema } from '../../src/schema/index.ts';
import { REDIS_FAULTS } from '../../src/shared/contract/redis-status.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { ERROR_CODES } from '../../src/shared/errors.ts';
import type { ChainId } from '../../src/shared/ids.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import type { FactsMetricsDeps } from '../../src/telemetry/metrics-facts.ts';
import { BUDGETS, chainOf, completeFacts, NOW_MS, withItem } from '../domain/world.ts';
import { readMetrics, readPromql } from './promql.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const run = promisify(execFile);
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** Labels that Prometheus adds to every series. */
const ADDED = new Set(['instance', 'job']);

const usd = new Decimal(1);
const tvlOf = (chainId: ChainId): ChainTvl => ({
  chainId,
  tvlUsd: usd,
  grossTvlUsd: usd,
  borrowedUsd: usd,
  badDebtUsd: usd,
  divergentUsd: usd,
  oracleDivergences: [],
  asOfMs: NOW_MS,
  positions: 1,
  users: 1,
  wallets: [],
  outsideCatalog: 0,
  unreadableWallets: 0,
});

/** Every metric, recorded once, as Prometheus reads it. @param absent parts that the process lacks */
async function printed(absent: Partial<FactsMetricsDeps> = {}) {
  const catalog = createCatalog(curatedChains);
  const metrics = createMetrics();
  metrics.watchFacts({
    catalog,
    budgets: BUDGETS,
    facts: (chainId) => withItem(completeFacts(chainOf(chainId)), 'tvl', TVL_KEY, { value: tvlOf(chainId) }),
    ready: () => true,
    warnings: () => [['off_peg']],
    persisted: () => true,
    clockSkewMs: () => 0,
    replicaUsed: () => true,
    redisFailing: () => REDIS_FAULTS.map((reason) => ({ connection: 'snapshot', reason })),
    nodes: () => [
      {
        place: 1,
        status: 'ok',
        head: { timestamp: 1n },
        capabilities: { simulateV1: 'works', stateOverrides: 'works' },
      },
    ],
    jobs: () => ({ held: ['prices:1'], standby: [] }),
    now: () => NOW_MS,
    ...absent,
  });
  const routes = createRoutes({ schema: sharedSchema(), chainIds: catalog.chainIds, equityChainIds: [4663] });
  for (const { path: route, method } of routes) {
    for (const status of [200, 400, 500, 503]) metrics.request({ route, method, status, durationMs: 1 });
  }
  for (const outcome of ['ok', 'absent', 'aborted', ...FAILURE_REASONS]) {
    metrics.upstreamCall({ provider: 'coingecko', outcome, ms: 1 });
  }
  metrics.watchQuotas(() => [
    { publicName: 'coingecko', windows: [{ window: 'month', limit: 10_000, forecast: 6_800 }] },
  ]);
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
  for (const outcome of ['ok', ...Object.keys(ERROR_CODES)]) metrics.build('leverage open', outcome);
  metrics.toolCall('list_strategies', 'ok');
  metrics.swapQuote({ chainId: 1, venue: 'AggregatorOne', outcome: 'quoted' });
  metrics.subscription({ field: 'strategyChanged', change: 'opened' });
  metrics.cacheFill('answers', { bytes: 1, maxBytes: 2, entries: 1 });
  metrics.slowReader();
  metrics.brokenAnswer('/v1/ops/portfolios');
  metrics.insuredCharge();
  metrics.connectionRefused();
  metrics.watchEdge({ connections: () => 1, unreadBytes: () => 1 });
  metrics.watchWaits(() => 1);
  const alerts = alertMetrics(metrics.registers, () => NOW_MS);
  alerts.watchOutbox(() => ({ pending: 1, dead: 1, oldestPendingMs: NOW_MS, dueSinceMs: NOW_MS, readMs: NOW_MS }));
  alerts.alertsEvaluated({ chainId: 1, workMs: 1, events: [{ condition: 'stale', type: 'fired' }] });
  alerts.deliveryAttempt({ outcome: 'delivered', reason: null });
  metrics.blockWait('included');
  metrics.requestedRefresh('prices', 'refreshed');
  metrics.rememberedHistory();
  metrics.publish(1, 'price');
  metrics.historyRun({
    chainId: 1,
    requests: 1,
    logs: 1,
    rewoundBlocks: 1,
    correctedBlocks: 1,
    blocksBehind: 1,
    secondsBehind: 1,
    fromBlock: 1,
    isWhole: true,
  });
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
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url: string };
}
const { groups } = parse(read('ops/alerts.yml')) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alarms = rules.map(({ alert: name, expr }) => ({ name, expr, legend: '' }));

interface Case {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly object[] }[];
}
const written = parse(read('ops/alerts.test.yml')) as { readonly tests: readonly Case[] };

/**
 * Write each alarm and its cases into files of their own, and return those of the cases: for every case, promtool evaluates all
 * alarms of a file at every minute.
 */
async function casesByAlarm(folder: string): Promise<string[]> {
  const ofAlarm = (name: string) =>
    written.tests.filter(({ alert_rule_test }) => alert_rule_test.every(({ alertname }) => alertname === name));
  expect(rules.flatMap(({ alert }) => ofAlarm(alert))).toHaveLength(written.tests.length);
  return Promise.all(
    rules.map(async (rule) => {
      const [alarm, cases] = [`${rule.alert}.json`, join(folder, `${rule.alert}.test.json`)];
      const alone = groups.map((group) => ({ ...group, rules: group.rules.filter((one) => one === rule) }));
      await writeFile(join(folder, alarm), JSON.stringify({ groups: alone }));
      await writeFile(cases, JSON.stringify({ ...written, rule_files: [alarm], tests: ofAlarm(rule.alert) }));
      return cases;
    }),
  );
}

describe('queries of the dashboard and the alarms', () => {
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
      const remaining = new Set([...groupings, ...ADDED]);
      for (const [, label = ''] of legend.matchAll(/\{\{\s*(\w+)\s*\}\}/g)) {
        if (groupings.length > 0 && !remaining.has(label)) unknown.push(`${name}: legend ${label}`);
      }
    }
    expect(unknown).toEqual([]);
  });

  test('behavior: a value that does not exist is not printed as zero, which would be an alarm', async () => {
    const series = await printed({ replicaUsed: () => undefined, clockSkewMs: () => undefined });
    expect([series.has('spiral_database_replica_used'), series.has('spiral_clock_skew_seconds')]).toEqual([
      false,
      false,
    ]);
    expect(series.has('spiral_snapshot_persisted')).toBe(true);
  });

  test('behavior: the guide has a row for every alarm, with its severity, and each alarm links to its row', () => {
    const guide = read('docs/monitoring.md');
    const section = guide.slice(guide.indexOf('## Alarms'), guide.indexOf('## Warnings about values'));
    const rows = [...section.matchAll(/^\| <a id="([a-z]+)"><\/a>([A-Z]\w+) \| (critical|warning|info) \|/gm)];
    expect(
      rows.map(([, anchor, name, severity]) => [
        `{{ $externalLabels.runbooks }}/docs/monitoring.md#${anchor}`,
        name,
        severity,
      ]),
    ).toEqual(rules.map(({ alert, labels, annotations }) => [annotations.runbook_url, alert, labels.severity]));
  });

  test('behavior: every alarm has a firing and a non-firing case', () => {
    const cases = written.tests.flatMap(({ alert_rule_test }) =>
      alert_rule_test.map(({ alertname, exp_alerts = [] }) => `${alertname} ${exp_alerts.length > 0}`),
    );
    expect([...new Set(cases)].sort()).toEqual(
      rules.flatMap(({ alert }) => [`${alert} false`, `${alert} true`]).sort(),
    );
  });

  test.runIf(hasPromtool)('behavior: Prometheus accepts the rules, and they fire as expected', async () => {
    const output = await run('promtool', ['check', 'rules', 'ops/alerts.yml']);
    expect(output.stdout).toContain(`SUCCESS: ${rules.length} rules found`);
    const folder = await mkdtemp(join(tmpdir(), 'alarms-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { stdout } = await run('promtool', ['test', 'rules', ...(await casesByAlarm(folder))]);
    expect(stdout.match(/SUCCESS/g)).toHaveLength(rules.length);
  });
});
