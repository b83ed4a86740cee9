import { describe, expect, test } from 'vitest';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { type ChainFacts, emptyChainFacts, FACT_GROUPS } from '../../src/domain/facts.ts';
import { createKeyedMutex } from '../../src/snapshot/keyed-mutex.ts';
import { createLocalFacts } from '../../src/snapshot/local.ts';
import { mergePublications } from '../../src/snapshot/merge.ts';
import { admit } from '../../src/snapshot/restore.ts';
import { keepCatalogItems } from '../../src/snapshot/retention.ts';
import { keepAll, price, publication } from './facts.ts';
import { rememberingLogger } from './logs.ts';

const NOW_MS = 1_000_000;
/** The first time that is in the future. */
const AHEAD_MS = NOW_MS + 120_001;

describe('admit', () => {
  const known = mergePublications(
    emptyChainFacts(1),
    { price: publication(NOW_MS, { a: price('2', NOW_MS), b: price('3', NOW_MS) }, { c: 'timeout' }) },
    NOW_MS,
  );

  test('behavior: facts of now and of the catalog are the same object', () => {
    expect(admit(known, keepAll, NOW_MS)).toBe(known);
  });

  test('behavior: facts published ahead of our clock count as published now, with the same version', () => {
    const early = admit(known, keepAll, NOW_MS - 1);
    expect([early.publishedMs, early.version, early.groups]).toEqual([NOW_MS - 1, 1, known.groups]);
  });

  test('behavior: values and attempts from the future are removed, of their group alone', () => {
    const ahead = mergePublications(known, { price: publication(AHEAD_MS, { a: price('9', AHEAD_MS) }) }, AHEAD_MS);
    const { groups, version, publishedMs } = admit(ahead, keepAll, NOW_MS);
    expect([...groups.price.items]).toEqual([['b', price('3', NOW_MS)]]);
    expect([groups.price.lastAttemptMs, groups.price.lastSuccessMs, version, publishedMs]).toEqual([
      null,
      null,
      2,
      NOW_MS,
    ]);
    expect(groups.oracle).toBe(ahead.groups.oracle);
  });

  test('behavior: items and failures outside of the catalog are removed', () => {
    const { price: remaining } = admit(known, (_group, key) => key === 'a', NOW_MS).groups;
    expect([[...remaining.items.keys()], remaining.failures.size]).toEqual([['a'], 0]);
  });
});

describe('keepCatalogItems', () => {
  const catalog = createCatalog(curatedChains);
  const [market] = catalog.chain(1)?.markets ?? [];
  const [token] = catalog.chain(1)?.tokens ?? [];
  if (!market || !token) throw new Error('chain 1 is curated');
  /** Keys of the groups; the others have keys of their own and stay. */
  const KEYS: Readonly<Record<string, string>> = {
    lendingState: market.id,
    incentives: market.id,
    incentiveHistory: market.id,
    sharedLiquidity: market.id,
    borrowHistory: market.id,
    marketSupport: market.id,
    collateralApy: token.address,
    price: token.address,
    exitLiquidity: token.address,
    tokenContract: token.address,
    oracle: market.oracle,
  };

  test.each(FACT_GROUPS)('behavior: %s', (group) => {
    const keep = keepCatalogItems(catalog, 1);
    const key = KEYS[group];
    expect(keep(group, key ?? 'any')).toBe(true);
    expect(keep(group, 'gone')).toBe(key === undefined);
    expect(keepCatalogItems(catalog, 5)(group, key ?? 'any')).toBe(key === undefined);
  });
});

describe('createKeyedMutex', () => {
  test('behavior: a task waits for the one before it on its chain, also if that one fails, and for no other chain', async () => {
    const mutex = createKeyedMutex();
    const order: string[] = [];
    let fail = (_reason: Error): void => {};
    const first = mutex(1, () => new Promise<void>((_resolve, reject) => (fail = reject)));
    const failed = first.catch((error: Error) => order.push(error.message));
    const second = mutex(1, async () => order.push('second'));
    await mutex(4663, async () => order.push('other chain'));
    const settled = mutex.settled().then(() => order.push('settled'));
    expect(order).toEqual(['other chain']);
    fail(new Error('first'));
    await Promise.all([failed, second, settled]);
    expect(order).toEqual(['other chain', 'first', 'second', 'settled']);
  });
});

describe('createLocalFacts', () => {
  test('behavior: listeners learn of every changed group, with the error of one of them in the log', () => {
    const logger = rememberingLogger();
    const local = createLocalFacts({ logger });
    const reported: [string, number][] = [];
    local.subscribe((_facts, group) => {
      if (group === 'oracle') throw new Error('a defect');
    });
    const leave = local.subscribe(({ version }, group) => reported.push([group, version]));
    const next: ChainFacts = { ...emptyChainFacts(1), version: 7 };
    local.set(next, ['price', 'oracle']);
    expect([reported, logger.messages]).toEqual([
      [
        ['price', 7],
        ['oracle', 7],
      ],
      ['snapshot listener failed'],
    ]);
    expect([local.facts(1), local.chainIds()]).toEqual([next, [1]]);
    leave();
    local.set({ ...next, version: 8 }, ['price']);
    local.set({ ...next, version: 9 }, []);
    expect([reported.length, local.facts(1).version]).toEqual([2, 9]);
  });
});
