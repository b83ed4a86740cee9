import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, open as openFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FACT_GROUPS } from '../../src/domain/facts.ts';
import { systemTimers, type Timers } from '../../src/shared/timers.ts';
import { CODEC_VERSION, CodecVersionError } from '../../src/snapshot/codec.ts';
import { createFileSnapshot } from '../../src/snapshot/file.ts';
import type { KeepItem } from '../../src/snapshot/merge.ts';
import { setAside } from '../../src/snapshot/quarantined-files.ts';
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
type Json = Record<string, Record<string, unknown>> & { groups: Record<string, Record<string, unknown>> };
const big = (digits: string) => ({ $bigint: digits });
/** Make the group hold one fact of that value. */
const set = (group: Record<string, unknown> | undefined, value: unknown): void => {
  const fact = value === null ? null : { value, asOfMs: 10, source: 'chain' };
  Object.assign(group ?? {}, { items: { $map: [['a', fact]] } });
};
/** Change the first chain of the file, with a checksum that fits. */
const rewrite = async (change: (chain: Json) => void): Promise<void> => {
  const [head = '', ...rest] = (await readFile(path, 'utf8')).split('\n');
  const chains = JSON.parse(rest.join('\n'));
  change(chains[0]);
  const body = JSON.stringify(chains);
  const sha256 = createHash('sha256').update(body).digest('hex');
  await writeFile(path, `${JSON.stringify({ ...JSON.parse(head), sha256 })}\n${body}\n`);
};
const asides = (): Promise<readonly string[]> => readdir(join(folder, 'data'));
const saved = async (): Promise<void> => {
  const store = open();
  await store.publish(1, 'price', publication(10, { a: price('2', 10), b: price('3', 10) }));
  await store.close();
};

describeStore('file', { persists: true, create: async () => open() });

/** Timers that a test fires. */
function manualTimers() {
  const pending: { readonly fire: () => void; readonly ms: number }[] = [];
  const timers: Timers = {
    setTimeout: (fire, ms) => {
      const one = { fire, ms };
      pending.push(one);
      return one;
    },
    clearTimeout: (handle) => {
      const at = pending.indexOf(handle as never);
      if (at >= 0) pending.splice(at, 1);
    },
  };
  const store = createFileSnapshot({ path, clock: { now: () => 0 }, timers, logger, keep: () => keepAll });
  return { store, pending };
}
const onDisk = () => readFile(path, 'utf8').catch(() => '');

describe('createFileSnapshot', () => {
  test('behavior: writes a second after the first of several publishes, and again after the next one', async () => {
    const { store, pending } = manualTimers();
    await store.publish(1, 'price', publication(1, { a: price('2', 1) }));
    await store.publish(1, 'price', publication(2, { a: price('3', 2) }));
    expect(pending.map(({ ms }) => ms)).toEqual([1_000]);
    expect(await onDisk()).toBe('');
    for (const { fire } of pending.splice(0)) fire();
    await vi.waitFor(async () => expect(await onDisk()).toContain('"$decimal":"3"'));
    await store.publish(1, 'price', publication(3, { a: price('4', 3) }));
    expect(pending.map(({ ms }) => ms)).toEqual([1_000]);
    for (const { fire } of pending.splice(0)) fire();
    await vi.waitFor(async () => expect(await onDisk()).toContain('"$decimal":"4"'));
    // Closed without a change, it writes nothing and leaves no timer.
    await rm(path);
    await store.close();
    expect([await onDisk(), pending]).toEqual(['', []]);
  });

  test('behavior: a close writes pending data, and its timer never fires', async () => {
    const { store, pending } = manualTimers();
    await store.publish(1, 'price', publication(1, { a: price('2', 1) }));
    await store.publish(4663, 'price', publication(1, { z: price('7', 1) }));
    await store.close();
    expect(pending).toEqual([]);
    const next = open();
    await next.restore();
    const restored = [1, 4663].flatMap((chainId) => [...next.facts(chainId).groups.price.items.keys()]);
    expect(restored).toEqual(['a', 'z']);
    await next.close();
  });

  test('behavior: the file is synced before it is in place, and readable for its owner alone', async () => {
    const handle = await openFile(folder);
    const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync');
    await handle.close();
    try {
      await saved();
      expect([sync.mock.calls.length, (await stat(path)).mode & 0o777]).toEqual([1, 0o600]);
    } finally {
      sync.mockRestore();
    }
  });

  test('behavior: a write that fails at its end leaves no part of the file', async () => {
    await mkdir(path, { recursive: true });
    await saved();
    expect(await readdir(join(folder, 'data'))).toEqual(['snapshot.json']);
    expect(logger.messages).toEqual(['snapshot file cannot be written']);
  });

  test('behavior: listeners learn of every restored group', async () => {
    await saved();
    const store = open();
    const groups: string[] = [];
    store.subscribe((_facts, group) => groups.push(group));
    await store.restore();
    await store.close();
    expect(groups).toEqual([...FACT_GROUPS]);
    expect(logger.messages).toEqual([]);
  });

  test('behavior: starts where the file cannot be read, and reports it', async () => {
    await writeFile(join(folder, 'data'), 'a file where the folder should be');
    const store = open();
    await store.restore();
    expect(logger.messages).toEqual(['snapshot file cannot be read']);
    await store.close();
  });

  test('behavior: collects publishes into one write, without leftover files', async () => {
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

  test('behavior: reads a file without a newer group of facts, with that group empty', async () => {
    await saved();
    await rewrite((chain) => delete chain.groups.deployment);
    const store = open();
    await store.restore();
    const { deployment, price: prices } = store.facts(1).groups;
    expect([deployment.items.size, deployment.lastAttemptMs, prices.items.size]).toEqual([0, null, 2]);
    await store.close();
  });

  test('behavior: zero is a chain, a version and a time', async () => {
    await saved();
    await rewrite((chain) => Object.assign(chain, { chainId: 0, version: 0, publishedMs: 0 }));
    const store = open();
    await store.restore();
    expect([store.facts(0).groups.price.items.size, logger.messages]).toEqual([2, []]);
    await store.close();
  });

  test.each([
    ['without a list of chains', '{}'],
    ['with a chain that is none', '[5]'],
  ])('behavior: sets a file %s under a valid checksum aside', async (_what, body) => {
    await mkdir(join(folder, 'data'));
    const sha256 = createHash('sha256').update(body).digest('hex');
    await writeFile(path, `${JSON.stringify({ v: CODEC_VERSION, sha256 })}\n${body}\n`);
    const store = open();
    await store.restore();
    expect([await asides(), logger.messages]).toEqual([
      [expect.stringMatching(/^snapshot\.json\.damaged-/)],
      ['snapshot file set aside'],
    ]);
    await store.close();
  });

  test('behavior: a file is set aside under a name with its fault; null where it cannot be renamed', async () => {
    const rename = async (error: unknown) => {
      await writeFile(join(folder, 'x'), '');
      return setAside(join(folder, 'x'), error, Date.UTC(2026, 0, 2, 3, 4, 5, 6));
    };
    expect(await rename(new CodecVersionError('It is', null))).toBe(
      join(folder, 'x.version-unknown-2026-01-02T03-04-05.006Z'),
    );
    expect(await rename(new Error('any'))).toBe(join(folder, 'x.damaged-2026-01-02T03-04-05.006Z'));
    expect(await setAside(join(folder, 'missing'), new Error('any'), 0)).toBeNull();
  });

  test.each([
    ['cut short', (text: string) => text.slice(0, -20)],
    ['changed by one digit', (text: string) => text.replace('"$decimal":"2"', '"$decimal":"9"')],
    ['empty', () => ''],
    ['without a header', (text: string) => text.split('\n').slice(1).join('\n')],
  ])('behavior: sets a file %s aside, names it, and starts empty', async (_what, damage) => {
    await saved();
    await writeFile(path, damage(await readFile(path, 'utf8')));
    const store = open();
    await store.restore();
    expect(store.facts(1).version).toBe(0);
    expect(logger.messages).toEqual(['snapshot file set aside']);
    expect(await asides()).toEqual([expect.stringMatching(/^snapshot\.json\.damaged-1970-01-01T/)]);
    await store.publish(1, 'price', publication(60, { a: price('4', 60) }));
    await store.close();
    const next = open();
    await next.restore();
    expect(next.facts(1).groups.price.items.get('a')).toEqual(price('4', 60));
    await next.close();
  });

  test('behavior: a file of another version is set aside under that version', async () => {
    await saved();
    await writeFile(path, (await readFile(path, 'utf8')).replace(/"v":\d+/, '"v":3'));
    const store = open();
    await store.restore();
    expect(store.facts(1).version).toBe(0);
    expect(await asides()).toEqual([expect.stringMatching(/^snapshot\.json\.version-3-1970-01-01T/)]);
    await store.close();
  });

  test.each([
    ['a price that is a number', (chain: Json) => set(chain.groups.price, { usd: 2 })],
    ['a price that is absent', (chain: Json) => set(chain.groups.price, {})],
    ['a fact that is null', (chain: Json) => set(chain.groups.price, null)],
    [
      'an oracle value below zero',
      (chain: Json) => set(chain.groups.oracle, { price: big('-1'), blockNumber: big('1') }),
    ],
    ['a market state of one field', (chain: Json) => set(chain.groups.lendingState, { totalSupplyAssets: big('1') })],
    ['campaigns that are no list', (chain: Json) => set(chain.groups.incentives, { borrow: {}, collateral: [] })],
    ['a TVL without wallets', (chain: Json) => set(chain.groups.tvl, { chainId: 1 })],
    ['a version that is not a number of publishes', (chain: Json) => Object.assign(chain, { version: -1 })],
    ['a time that is text', (chain: Json) => Object.assign(chain, { publishedMs: 'now' })],
    [
      'a number without end',
      (chain: Json) => set(chain.groups.tokenContract, { hasCode: true, decimals: big('9'.repeat(5_000)) }),
    ],
    ['no groups', (chain: Json) => Object.assign(chain, { groups: [] })],
    ['a chain id that is none', (chain: Json) => Object.assign(chain, { chainId: -1 })],
    ['a version between two', (chain: Json) => Object.assign(chain, { version: 0.5 })],
    ['a time that is no exact number', (chain: Json) => Object.assign(chain, { publishedMs: 2 ** 53 })],
    ['a group of another version', (chain: Json) => Object.assign(chain.groups.price ?? {}, { v: 4 })],
  ])('behavior: %s under a valid checksum is set aside, and the store starts empty', async (_what, damage) => {
    await saved();
    await rewrite(damage);
    const store = open();
    await store.restore();
    expect(store.facts(1).version).toBe(0);
    expect(logger.messages).toEqual(['snapshot file set aside']);
    await store.close();
  });

  test('behavior: files set aside are removed after a week, and so is a part of a file whose writer was killed', async () => {
    await saved();
    const data = join(folder, 'data');
    const old = ['snapshot.json.damaged-2026-01-01T00-00-00.999Z', 'snapshot.json.version-4-2026-01-01T00-00-00.000Z'];
    const remaining = [
      'snapshot.json.damaged-2026-01-01T00-00-01.000Z', // a week old, to the millisecond
      'snapshot.json.damaged-2026-13-01T00-00-00.000Z', // no date
      'snapshot.json.mine',
      'other.json.123.tmp',
    ];
    for (const name of [...old, ...remaining, 'snapshot.json.4711.tmp']) await writeFile(join(data, name), 'x');
    const store = open(Date.parse('2026-01-08T00:00:01Z'));
    await store.restore();
    await store.close();
    expect((await readdir(data)).sort()).toEqual([...remaining, 'snapshot.json'].sort());
    expect(store.facts(1).version).toBe(1);
  });
});

describe('writing', () => {
  test('behavior: logs an unwritable file once, serves from memory, and logs the recovery', async () => {
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

  test('behavior: of two processes with one file the file is always whole, and the latest one that wrote is read', async () => {
    const [first, second] = [open(), open()];
    for (let at = 1; at <= 20; at++) {
      await Promise.all([
        first.publish(1, 'price', publication(at, { a: price('2', at) })),
        second.publish(1, 'price', publication(at, { a: price('3', at) })),
      ]);
      await Promise.all([first.close(), second.close()]);
      const reader = open();
      await reader.restore();
      expect(reader.facts(1).groups.price.items.get('a')?.asOfMs).toBe(at);
    }
    expect([await readdir(join(folder, 'data')), logger.messages]).toEqual([['snapshot.json'], []]);
  });

  test('behavior: does not restore items that left the catalog', async () => {
    await saved();
    const store = open(50_000, (_group, key) => key !== 'a');
    await store.restore();
    expect([...store.facts(1).groups.price.items.keys()]).toEqual(['b']);
    await store.close();
  });

  test('behavior: does not restore future measurements', async () => {
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
