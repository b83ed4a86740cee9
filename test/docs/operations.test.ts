import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { blocksOf, relocated } from '../../scripts/walk/chapter.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { envSchema } from '../../src/config/env.ts';
import { emptyChainFacts } from '../../src/domain/facts.ts';
import { WARNING_CODES } from '../../src/domain/plausibility/types.ts';
import { alertMetrics } from '../../src/features/alerts/metrics.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { BUDGETS } from '../domain/world.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
/** The pages for operators. */
const PAGES = ['operations', 'installation', 'settings', 'stores', 'upstreams', 'monitoring'];
const guide = PAGES.map((name) => read(`docs/${name}.md`)).join('\n');
const dashboard = read('ops/grafana-dashboard.json');

const folder = new URL('../../src/', import.meta.url);
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(new URL(path, folder), 'utf8'))
  .join('\n');

/** Every table that a migration makes. */
const TABLES = [...sources.matchAll(/create table (?:if not exists )?(\w+)/g)].map(([, name]) => name as string);

const metrics = createMetrics();
metrics.watchFacts({
  catalog: createCatalog(curatedChains),
  budgets: BUDGETS,
  facts: emptyChainFacts,
  ready: () => true,
  warnings: () => [],
  persisted: () => true,
  clockSkewMs: () => 0,
  replicaUsed: () => true,
  redisFailing: () => [],
  nodes: () => [],
  jobs: () => ({ held: [], standby: [] }),
  now: () => 0,
});
metrics.watchEdge({ connections: () => 0, unreadBytes: () => 0 });
metrics.watchWaits(() => 0);
alertMetrics(metrics.registers, () => 0).watchOutbox(() => undefined);
const names = new Set(metrics.names());
metrics.close();
const metricsIn = (text: string): string[] => [
  ...new Set(
    [...text.matchAll(/\b(?:spiral|process|nodejs)_[a-z0-9_]+/g)].map(([name]) =>
      names.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''),
    ),
  ),
];

describe('ops/grafana-dashboard.json', () => {
  test('behavior: uses only existing metrics, and shows each of ours', () => {
    const shown = metricsIn(dashboard);
    expect(shown.filter((name) => !names.has(name))).toEqual([]);
    const own = [...names].filter((name) => name.startsWith('spiral_'));
    expect(own.filter((name) => !shown.includes(name))).toEqual([]);
  });

  test('behavior: tiles with thresholds come first, then a row for each question', () => {
    const { panels } = JSON.parse(dashboard) as {
      readonly panels: readonly {
        readonly type: string;
        readonly title: string;
        readonly fieldConfig?: { readonly defaults: { readonly thresholds?: { readonly steps: readonly object[] } } };
      }[];
    };
    const rows = panels.flatMap(({ type, title }) => (type === 'row' ? [title] : []));
    expect(rows).toEqual([
      'At a glance',
      'Is it up?',
      'Is it fresh?',
      'Is it fast?',
      'Who is failing?',
      'Are the values right?',
    ]);
    const secondRow = panels.findIndex(({ title }) => title === 'Is it up?');
    const tiles = panels.slice(1, secondRow);
    expect(tiles.length).toBeGreaterThan(4);
    for (const { type, title, fieldConfig } of tiles) {
      expect([title, type, (fieldConfig?.defaults.thresholds?.steps.length ?? 0) > 1]).toEqual([title, 'stat', true]);
    }
  });

  test('behavior: every alarm that a panel names is in the guide', () => {
    const alarms = [...dashboard.matchAll(/Alarm (\w+)\./g)].map(([, name]) => name as string);
    expect(alarms.length).toBeGreaterThan(5);
    expect(alarms.filter((name) => !guide.includes(`</a>${name} |`))).toEqual([]);
  });
});

describe('the pages for operators', () => {
  test('behavior: names only existing metrics, and explains each of ours', () => {
    const named = metricsIn(guide);
    expect(named.filter((name) => !names.has(name))).toEqual([]);
    const own = [...names].filter((name) => name.startsWith('spiral_'));
    expect(own.filter((name) => !named.includes(name))).toEqual([]);
  });

  test('behavior: has every warning about values, every table and every setting', () => {
    const expected = [...WARNING_CODES, ...TABLES, ...Object.keys(envSchema.shape)];
    expect(TABLES.length).toBeGreaterThan(7);
    expect(expected.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
  });

  test('behavior: has every warning and error of the log', () => {
    const calls = [...sources.matchAll(/\blogger\??\.(?:warn|error)\(/g)].map(
      ({ index }) => sources.slice(index, index + 300).split(';')[0],
    );
    /** The last argument: a text, or one of two. */
    const reported = calls.map((call) => /,\s*(?:\w+ \? '([^']+)' : )?'([^']+)',?\s*\)/.exec(call ?? ''));
    expect(calls.filter((_, i) => reported[i] === null)).toEqual([]);
    const lines = reported.flatMap((found) => [found?.[1], found?.[2]]).filter((line) => line !== undefined);
    expect(lines.length).toBeGreaterThan(25);
    expect(lines.filter((line) => !guide.includes(`\`${line}\``))).toEqual([]);
  });

  test('behavior: every setting that it names exists', () => {
    const settings = [...guide.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[a-z]+)?`/g)].map(
      ([, name]) => name as string,
    );
    expect(settings.length).toBeGreaterThan(20);
    expect(settings.filter((name) => !Object.hasOwn(envSchema.shape, name))).toEqual([]);
  });

  test('behavior: the chapter that npm run walk executes is valid shell, and ends with the replacement of a process', () => {
    const blocks = blocksOf(guide);
    expect(blocks.length).toBeGreaterThan(8);
    for (const { name, text } of blocks) {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: text });
      expect([name, status, String(stderr)]).toEqual([name, 0, '']);
    }
    expect(blocks.at(-1)?.text).toContain('kill -TERM');
    const moved = relocated(blocks, () => 1, { code: '/code', data: '/data' });
    expect(moved.filter(({ text }) => /:(?!1\b)\d{4,5}\b|\/opt\/|\/srv\//.test(text))).toEqual([]);
  });

  test('behavior: quotes only log messages of the code', () => {
    const section = guide.slice(guide.indexOf('## Logs'), guide.indexOf('## Traces'));
    const messages = [...section.matchAll(/`([a-z]+(?: [a-z]+)+|stopping)`/g)].map(([, text]) => text as string);
    expect(messages.length).toBeGreaterThan(10);
    expect(messages.filter((message) => !sources.includes(`'${message}'`))).toEqual([]);
  });
});

describe('docs/reliability.md', () => {
  const report = read('docs/reliability.md');

  test('behavior: its commands and the tests that it names exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const commands = [...report.matchAll(/npm run ([a-z:]+)/g)].map(([, name]) => name as string);
    expect(commands.filter((name) => scripts[name] === undefined)).toEqual([]);
    for (const [, path] of report.matchAll(/`(test\/e2e\/[\w.-]+)`/g)) expect(read(path as string)).not.toBe('');
  });
});
