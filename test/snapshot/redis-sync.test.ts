import { beforeEach, describe, expect, test } from 'vitest';
import { emptyGroup, type FactGroup, type GroupState, type UsdPrice } from '../../src/domain/facts.ts';
import { decodeGroup, encodeGroup } from '../../src/snapshot/codec.ts';
import { createLocalFacts } from '../../src/snapshot/local.ts';
import { mergeGroup } from '../../src/snapshot/merge.ts';
import type { RemoteFacts, RemoteGroup } from '../../src/snapshot/redis-remote.ts';
import { createSync, pull, push, restoreToRedis, type Sync } from '../../src/snapshot/redis-sync.ts';
import { keepAll, price, publication } from './facts.ts';
import { rememberingLogger } from './logs.ts';

const NOW_MS = 1_000_000;
const AHEAD_MS = NOW_MS + 120_001;

/** The shared facts of chain 1 as Redis would keep them, with a hand to interfere before a write. */
function sharedFacts() {
  const groups = new Map<FactGroup, RemoteGroup>();
  let [version, publishedMs, writes] = [0, 0, 0];
  const state = {
    groups,
    /** Fails every command. */
    isAway: false,
    /** Runs before a write is looked at. */
    beforeWrite: () => {},
    version: () => version,
    publishedMs: () => publishedMs,
    writes: () => writes,
    /** Write as another process would. */
    put(group: FactGroup, written: GroupState<unknown> | string, revision: string) {
      const payload = typeof written === 'string' ? written : [...encodeGroup(group, written)].join('');
      groups.set(group, { revision, payload });
      version += 1;
    },
    clear() {
      groups.clear();
      version = 0;
    },
    setPublishedMs: (ms: number) => {
      publishedMs = ms;
    },
    async stored(group: 'price') {
      return decodeGroup(group, groups.get(group)?.payload ?? '');
    },
  };
  const need = () => {
    if (state.isAway) throw new Error('away');
  };
  const remote: RemoteFacts = {
    async write(_chainId, write) {
      need();
      state.beforeWrite();
      if (write.groups.some(({ group, expected }) => (groups.get(group)?.revision ?? '') !== expected)) return false;
      for (const { group, revision, payload } of write.groups) groups.set(group, { revision, payload });
      version = Math.max(version, write.floor) + 1;
      publishedMs = write.publishedMs;
      writes += 1;
      return true;
    },
    async group(_chainId, group) {
      need();
      return groups.get(group) ?? { revision: '', payload: null };
    },
    async changedSince(_chainId, known) {
      need();
      const changed = [...known].flatMap(([group, revision]) => {
        const found = groups.get(group) ?? { revision: '', payload: null };
        return found.revision === revision ? [] : [[group, found] as const];
      });
      return { version, publishedMs, groups: new Map(changed), isOtherType: false };
    },
  };
  return { ...state, state, remote };
}

let shared: ReturnType<typeof sharedFacts>;
let logger = rememberingLogger();
beforeEach(() => {
  shared = sharedFacts();
  logger = rememberingLogger();
});

const process = (nowMs = NOW_MS): Sync =>
  createSync({
    remote: shared.remote,
    local: createLocalFacts({ logger }),
    clock: { now: () => nowMs },
    logger,
    keep: () => keepAll,
  });
type Prices = GroupState<UsdPrice>;
const prices = (items: Readonly<Record<string, number>>, at = NOW_MS, failed: readonly string[] = []): Prices =>
  mergeGroup(
    'price',
    emptyGroup(),
    publication(
      at,
      Object.fromEntries(Object.entries(items).map(([key, asOfMs]) => [key, price('1', asOfMs)])),
      Object.fromEntries(failed.map((key) => [key, 'timeout' as const])),
    ),
    at,
  );
const local = ({ local: facts }: Sync) => facts.facts(1).groups.price;
const times = ({ items }: Prices) => Object.fromEntries([...items].map(([key, { asOfMs }]) => [key, asOfMs]));
const lacking = ({ unshared, missingInRedis }: Sync) => [[...unshared], [...missingInRedis]];

describe('push', () => {
  test('default: writes the groups as one version, which the process has too', async () => {
    const sync = process();
    const changed: FactGroup[] = [];
    sync.local.subscribe((_facts, group) => changed.push(group));
    const facts = await push(sync, 1, { price: prices({ a: 10 }), oracle: emptyGroup() });
    expect([facts.version, facts.publishedMs, shared.version(), changed]).toEqual([1, NOW_MS, 1, ['oracle', 'price']]);
    expect(times(await shared.stored('price'))).toEqual({ a: 10 });
    expect(lacking(sync)).toEqual([[], []]);
    await push(sync, 1, { price: prices({ a: 20 }) });
    expect([shared.version(), sync.local.facts(1).version]).toEqual([2, 2]);
  });

  test('behavior: facts that Redis takes later are no longer lacking there', async () => {
    const sync = process();
    shared.state.isAway = true;
    const alone = await push(sync, 1, { price: prices({ a: 10 }) });
    expect([alone.version, times(local(sync)), lacking(sync)]).toEqual([1, { a: 10 }, [['1:price'], []]]);
    shared.state.isAway = false;
    sync.missingInRedis.add('1:price');
    const both = await push(sync, 1, { price: prices({ a: 20 }) });
    expect([both.version, lacking(sync)]).toEqual([2, [[], []]]);
    // Its version is above the one that the process had alone.
    expect(shared.version()).toBe(2);
  });

  test('behavior: the newer measurement of each item counts when another process has written first', async () => {
    const sync = process();
    shared.put('price', prices({ a: 30, b: 5 }), 'theirs');
    await push(sync, 1, { price: prices({ a: 10, b: 20, c: 1 }) });
    const united = { a: 30, b: 20, c: 1 };
    expect([times(await shared.stored('price')), times(local(sync)), shared.writes()]).toEqual([united, united, 1]);
    expect(lacking(sync)).toEqual([[], []]);
  });

  test('behavior: a collision in one group leaves the other as it was meant', async () => {
    const sync = process();
    await push(sync, 1, { oracle: emptyGroup() });
    shared.put('price', prices({ a: 30 }), 'theirs');
    await push(sync, 1, { price: prices({ b: 10 }), oracle: { ...emptyGroup(), lastAttemptMs: 7 } });
    expect(times(await shared.stored('price'))).toEqual({ a: 30, b: 10 });
    expect(sync.local.facts(1).groups.oracle.lastAttemptMs).toBe(7);
  });

  test('behavior: unreadable data is replaced', async () => {
    const sync = process();
    shared.put('price', 'damaged', 'theirs');
    await push(sync, 1, { price: prices({ a: 10 }) });
    expect(times(await shared.stored('price'))).toEqual({ a: 10 });
    expect(logger.messages).toEqual(['shared facts cannot be read']);
  });

  test('error: after eight collisions the facts stay local and are reported as contended', async () => {
    const sync = process();
    let writes = 0;
    shared.state.beforeWrite = () => shared.put('price', prices({ b: writes }), `theirs ${writes++}`);
    const { version } = await push(sync, 1, { price: prices({ a: 10 }) });
    expect([writes, version, shared.writes()]).toEqual([8, 1, 0]);
    expect(times(local(sync))).toEqual({ a: 10, b: 7 });
    expect([lacking(sync), logger.messages]).toEqual([[['1:price'], []], ['shared facts are contended']]);
  });

  test('behavior: seven collisions are not too many', async () => {
    const sync = process();
    let left = 7;
    shared.state.beforeWrite = () => {
      if (left > 0) shared.put('price', prices({ b: 8 - left }), `theirs ${left--}`);
    };
    await push(sync, 1, { price: prices({ a: 10 }) });
    expect([times(await shared.stored('price')), lacking(sync), logger.messages]).toEqual([
      { a: 10, b: 7 },
      [[], []],
      [],
    ]);
  });
});

describe('pull', () => {
  test('behavior: follows the writes of others, with their version and failures', async () => {
    const [writer, reader] = [process(), process()];
    await push(writer, 1, { price: prices({ a: 10 }, 50, ['b']) });
    await push(writer, 1, { price: prices({ a: 20 }, 60) });
    const facts = await pull(reader, 1);
    expect([facts.version, facts.publishedMs, facts.groups.price]).toEqual([2, NOW_MS, prices({ a: 20 }, 60)]);
    expect(await pull(reader, 1)).toBe(facts);
    expect(lacking(reader)).toEqual([[], []]);
  });

  test('behavior: its version never goes back, and is never the same for other facts', async () => {
    const sync = process();
    for (const at of [10, 20, 30]) await push(sync, 1, { price: prices({ a: at }) });
    shared.clear();
    shared.put('price', prices({ a: 40 }), 'of a new Redis');
    expect([(await pull(sync, 1)).version, times(local(sync))]).toEqual([4, { a: 40 }]);
  });

  test.each([
    ['later than ours', 900, 950, 950],
    ['earlier than ours', 900, 100, 900],
    ['ahead of our clock', 900, NOW_MS + 1, NOW_MS],
  ])('behavior: the time of the latest publish is %s', async (_, ours, theirs, expected) => {
    const sync = process();
    shared.put('price', prices({ a: 1 }), 'first');
    shared.setPublishedMs(ours);
    await pull(sync, 1);
    shared.put('price', prices({ a: 2 }), 'second');
    shared.setPublishedMs(theirs);
    expect((await pull(sync, 1)).publishedMs).toBe(expected);
  });

  test('behavior: data that Redis lost counts as missing if this process has it', async () => {
    const [writer, stranger] = [process(), process()];
    await push(writer, 1, { price: prices({ a: 10 }) });
    const before = writer.local.facts(1);
    shared.clear();
    expect([await pull(writer, 1), lacking(writer)]).toEqual([before, [[], ['1:price']]]);
    await restoreToRedis(writer, 1);
    expect([times(await shared.stored('price')), lacking(writer)]).toEqual([{ a: 10 }, [[], []]]);
    stranger.revisions.set('1:price', 'known once');
    shared.clear();
    await pull(stranger, 1);
    expect([lacking(stranger), [...stranger.revisions]]).toEqual([[[], []], []]);
  });

  test.each([
    ['an item less', { a: 10 }, { a: 10, b: 10 }, true],
    ['an older measurement', { a: 9, b: 10 }, { a: 10, b: 10 }, true],
    ['one item more and one less', { a: 10, c: 10 }, { a: 10, b: 10 }, true],
    ['the same', { a: 10, b: 10 }, { a: 10, b: 10 }, false],
    ['newer ones', { a: 11, b: 11, c: 1 }, { a: 10, b: 10 }, false],
  ] as const)('behavior: Redis lacks something when it comes back with %s', async (_, theirs, ours, isLacking) => {
    const sync = process();
    await push(sync, 1, { price: prices(ours) });
    shared.put('price', prices(theirs), 'older');
    await pull(sync, 1);
    expect(sync.missingInRedis.has('1:price')).toBe(isLacking);
    for (const [key, asOfMs] of Object.entries(ours)) {
      expect(local(sync).items.get(key)?.asOfMs).toBeGreaterThanOrEqual(asOfMs);
    }
    shared.put('price', prices({ a: 20, b: 20, c: 20 }), 'newest');
    await pull(sync, 1);
    expect(lacking(sync)).toEqual([[], []]);
  });

  test('behavior: facts from the future in Redis are not followed, and lack the present ones', async () => {
    const sync = process();
    await push(sync, 1, { price: prices({ a: 10 }) });
    shared.put('price', prices({ a: AHEAD_MS }, AHEAD_MS), 'of a clock ahead');
    await pull(sync, 1);
    expect([times(local(sync)), lacking(sync)]).toEqual([{ a: 10 }, [[], ['1:price']]]);
    await restoreToRedis(sync, 1);
    expect([times(await shared.stored('price')), lacking(sync)]).toEqual([{ a: 10 }, [[], []]]);
  });

  test('behavior: unshared failures are united with those of others instead of being replaced', async () => {
    const sync = process();
    shared.state.isAway = true;
    await push(sync, 1, { price: prices({}, 50, ['b']) });
    shared.state.isAway = false;
    shared.put('price', prices({ a: 10 }, 60), 'theirs');
    await pull(sync, 1);
    expect([times(local(sync)), [...local(sync).failures.keys()]]).toEqual([{ a: 10 }, ['b']]);
  });

  test('behavior: unreadable data changes no facts', async () => {
    const sync = process();
    await push(sync, 1, { price: prices({ a: 10 }) });
    const before = sync.local.facts(1);
    shared.put('price', 'damaged', 'theirs');
    expect(await pull(sync, 1)).toBe(before);
    expect(logger.messages).toEqual(['shared facts cannot be read']);
    shared.groups.set('price', { revision: 'without content', payload: null });
    expect([await pull(sync, 1), logger.messages.length]).toEqual([before, 2]);
  });

  test('behavior: unreadable data is named, and restored by a process that has read its facts', async () => {
    const [owner, stranger] = [process(), process()];
    await push(owner, 1, { price: prices({ a: 10 }) });
    shared.put('price', 'damaged', 'theirs');
    await Promise.all([pull(owner, 1), pull(stranger, 1)]);
    const named = [{ chainId: 1, group: 'price', reason: 'damaged' }];
    expect([[...owner.unreadable.values()], [...stranger.unreadable.values()]]).toEqual([named, named]);
    expect([lacking(owner), lacking(stranger)]).toEqual([
      [[], ['1:price']],
      [[], []],
    ]);
    await restoreToRedis(stranger, 1);
    expect(shared.groups.get('price')?.revision).toBe('theirs');
    await restoreToRedis(owner, 1);
    await pull(stranger, 1);
    expect([times(local(stranger)), owner.unreadable.size, stranger.unreadable.size]).toEqual([{ a: 10 }, 0, 0]);
  });

  test('behavior: unreadable data that another process has replaced meanwhile is followed, and not replaced', async () => {
    const sync = process();
    await push(sync, 1, { price: prices({ a: 10 }) });
    shared.put('price', 'damaged', 'theirs');
    await pull(sync, 1);
    shared.put('price', prices({ a: 20 }), 'newer');
    await restoreToRedis(sync, 1);
    expect([shared.groups.get('price')?.revision, times(local(sync)), lacking(sync)]).toEqual([
      'newer',
      { a: 20 },
      [[], []],
    ]);
    expect(sync.unreadable.size).toBe(0);
  });

  test('behavior: data of another version of the format is never overwritten, and the own stays local', async () => {
    const sync = process();
    const later = [...encodeGroup('price', prices({ b: 1 }))].join('').replace(/"v":\d+/, '"v":999');
    await push(sync, 1, { price: prices({ a: 10 }) });
    shared.put('price', later, 'of a later version');
    await pull(sync, 1);
    await restoreToRedis(sync, 1);
    await push(sync, 1, { price: prices({ a: 20 }), oracle: { ...emptyGroup(), lastAttemptMs: 7 } });
    expect(shared.groups.get('price')).toEqual({ revision: 'of a later version', payload: later });
    expect(shared.groups.has('oracle')).toBe(true);
    expect([times(local(sync)), [...sync.unreadable.values()]]).toEqual([
      { a: 20 },
      [{ chainId: 1, group: 'price', reason: 'other_version' }],
    ]);
    // A process that meets it only when it writes keeps it too.
    const writer = process();
    await push(writer, 1, { price: prices({ a: 30 }) });
    expect([shared.groups.get('price')?.revision, times(local(writer))]).toEqual(['of a later version', { a: 30 }]);
    shared.put('price', prices({ a: 40 }), 'readable again');
    await pull(sync, 1);
    expect([times(local(sync)), sync.unreadable.size]).toEqual([{ a: 40 }, 0]);
  });

  test('behavior: items outside of the catalog are left out', async () => {
    const sync = createSync({ ...process(), keep: () => (_group, key) => key !== 'gone' });
    shared.put('price', prices({ a: 10, gone: 10 }), 'theirs');
    await pull(sync, 1);
    expect(times(local(sync))).toEqual({ a: 10 });
  });
});

describe('restoreToRedis', () => {
  test('behavior: writes only unshared or missing groups', async () => {
    const sync = process();
    await push(sync, 1, { price: prices({ a: 10 }), oracle: { ...emptyGroup(), lastAttemptMs: 7 } });
    const written = shared.version();
    await restoreToRedis(sync, 1);
    expect(shared.version()).toBe(written);
    shared.clear();
    await pull(sync, 1);
    await restoreToRedis(sync, 1);
    expect([...shared.groups.keys()]).toEqual(['oracle', 'price']);
    shared.state.isAway = true;
    await push(sync, 1, { price: prices({ a: 20 }) });
    shared.state.isAway = false;
    await restoreToRedis(sync, 1);
    expect([times(await shared.stored('price')), lacking(sync)]).toEqual([{ a: 20 }, [[], []]]);
  });

  test('behavior: does not write data again that another process has restored meanwhile', async () => {
    const sync = process();
    await push(sync, 1, { price: prices({ a: 10 }), oracle: { ...emptyGroup(), lastAttemptMs: 7 } });
    shared.clear();
    await pull(sync, 1);
    shared.put('price', prices({ a: 10, b: 20 }), 'theirs');
    const before = shared.writes();
    await restoreToRedis(sync, 1);
    // The oracles alone are left to write.
    expect([shared.writes() - before, shared.groups.get('price')?.revision]).toEqual([1, 'theirs']);
    expect([times(local(sync)), lacking(sync)]).toEqual([{ a: 10, b: 20 }, [[], []]]);
  });

  test('behavior: writes nothing when another process has restored everything', async () => {
    const sync = process();
    await push(sync, 1, { price: prices({ a: 10 }) });
    shared.clear();
    await pull(sync, 1);
    shared.put('price', prices({ a: 10 }), 'theirs');
    const before = shared.writes();
    await restoreToRedis(sync, 1);
    expect([shared.writes() - before, lacking(sync), logger.messages]).toEqual([0, [[], []], []]);
  });
});
