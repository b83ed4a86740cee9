import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemTimers } from '../../src/shared/timers.ts';
import { createFileSnapshot } from '../../src/snapshot/file.ts';
import type { KeepItem } from '../../src/snapshot/merge.ts';
import type { SnapshotStore } from '../../src/snapshot/types.ts';
import { describeStore } from './conformance.ts';
import { keepAll, price, publication } from './facts.ts';
import { rememberingLogger } from './logs.ts';

let folder: string;
let path: string;
let logger = rememberingLogger();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snapshot-'));
  path = join(folder, 'data', 'snapshot.json');
  logger = rememberingLogger();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (nowMs = 50_000, keep: KeepItem = keepAll): SnapshotStore =>
  createFileSnapshot({ path, clock: { now: () => nowMs }, timers: systemTimers, logger, keep: () => keep });
const saved = async (): Promise<void> => {
  const store = open();
  await store.publish(1, 'price', publication(10, { a: price('2', 10), b: price('3', 10) }));
  await store.close();
};

describeStore('file', { persists: true, create: async () => open() });

describe('createFileSnapshot', () => {
  test('behavior: publishes are gathered into one write, and nothing is left beside the file', async () => {
    const timers: (() => void)[] = [];
    const store = createFileSnapshot({
      path,
      clock: { now: () => 0 },
      timers: { setTimeout: (callback) => timers.push(callback), clearTimeout: () => {} },
      logger,
      keep: () => keepAll,
    });
    for (let at = 1; at <= 5; at++) await store.publish(1, 'price', publication(at, { a: price('2', at) }));
    expect(timers).toHaveLength(1);
    timers[0]?.();
    await store.close();
    expect(await readdir(join(folder, 'data'))).toEqual(['snapshot.json']);
  });

  test('behavior: a file from before a group of facts existed is read, and that group is empty', async () => {
    await saved();
    const [head = '', ...rest] = (await readFile(path, 'utf8')).split('\n');
    const chains = JSON.parse(rest.join('\n'));
    for (const chain of chains) delete chain.groups.deployment;
    const body = JSON.stringify(chains);
    const sha256 = createHash('sha256').update(body).digest('hex');
    await writeFile(path, `${JSON.stringify({ ...JSON.parse(head), sha256 })}\n${body}\n`);
    const store = open();
    await store.restore();
    const { deployment, price: prices } = store.facts(1).groups;
    expect([deployment.items.size, deployment.lastAttemptMs, prices.items.size]).toEqual([0, null, 2]);
    await store.close();
  });

  test.each([
    ['cut short', (text: string) => text.slice(0, -20)],
    ['changed by one digit', (text: string) => text.replace('"$decimal":"2"', '"$decimal":"9"')],
    ['empty', () => ''],
    ['of another version', (text: string) => text.replace(/"v":\d+/, '"v":0')],
  ])('behavior: a file %s is set aside and named, and the store starts empty', async (_what, damage) => {
    await saved();
    await writeFile(path, damage(await readFile(path, 'utf8')));
    const store = open();
    await store.restore();
    expect(store.facts(1).version).toBe(0);
    expect(logger.messages).toEqual(['snapshot file set aside']);
    expect(await readdir(join(folder, 'data'))).toEqual([
      expect.stringMatching(/^snapshot\.json\.damaged-1970-01-01T/),
    ]);
    await store.publish(1, 'price', publication(60, { a: price('4', 60) }));
    await store.close();
    const next = open();
    await next.restore();
    expect(next.facts(1).groups.price.items.get('a')).toEqual(price('4', 60));
    await next.close();
  });

  test('behavior: a place that cannot be written is told once, served from memory, and told again when it works', async () => {
    await writeFile(join(folder, 'data'), 'a file where the folder should be');
    const timers: (() => void)[] = [];
    const store = createFileSnapshot({
      path,
      clock: { now: () => 0 },
      timers: { setTimeout: (callback) => timers.push(callback), clearTimeout: () => {} },
      logger,
      keep: () => keepAll,
    });
    await store.publish(1, 'price', publication(10, { a: price('2', 10) }));
    await store.close();
    await store.close();
    expect(logger.messages).toEqual(['snapshot file cannot be written']);
    expect(store.facts(1).groups.price.items.size).toBe(1);
    expect(store.place()).toEqual({ kind: 'file', ok: false });
    await rm(join(folder, 'data'));
    await mkdir(join(folder, 'data'));
    await store.close();
    expect(logger.messages).toEqual(['snapshot file cannot be written', 'snapshot file written again']);
    expect(store.place().ok).toBe(true);
    expect(await readdir(join(folder, 'data'))).toEqual(['snapshot.json']);
  });

  test('behavior: items that left the catalog are not brought back', async () => {
    await saved();
    const store = open(50_000, (_group, key) => key !== 'a');
    await store.restore();
    expect([...store.facts(1).groups.price.items.keys()]).toEqual(['b']);
    await store.close();
  });

  test('behavior: measurements from the future are not brought back', async () => {
    const store = open(10_000_000);
    await store.publish(1, 'price', publication(10, { a: price('2', 10_000_000), b: price('3', 10) }));
    await store.close();
    const earlier = open(1_000);
    await earlier.restore();
    expect([...earlier.facts(1).groups.price.items.keys()]).toEqual(['b']);
    expect(earlier.facts(1).publishedMs).toBe(1_000);
    await earlier.close();
  });
});
