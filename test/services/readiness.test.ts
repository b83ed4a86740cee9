import { describe, expect, test } from 'vitest';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { emptyChainFacts, FACT_GROUPS, type FactGroup, type GroupState } from '../../src/domain/facts.ts';
import { createReadiness } from '../../src/services/readiness.ts';
import { withGroups } from '../../src/snapshot/merge.ts';
import { BUDGETS as budgets } from '../domain/world.ts';

const NOW_MS = 1_795_176_000_000;
const MINUTE_MS = 60_000;
const catalog = createCatalog(curatedChains);
const chain = catalog.chain(1);
if (!chain) throw new Error('no chain 1');

/** Groups as after one attempt that measured one item, or of the given time. */
const tried = (groups: readonly FactGroup[], asOfMs = NOW_MS) => {
  const state: GroupState<unknown> = {
    items: new Map([
      ['one', { value: {}, asOfMs, source: 'chain' }],
      ...chain.tokens.map(({ address }) => [address, { value: {}, asOfMs, source: 'x' }] as const),
    ]),
    failures: new Map(),
    lastAttemptMs: asOfMs,
    lastSuccessMs: asOfMs,
  };
  return withGroups(emptyChainFacts(1), Object.fromEntries(groups.map((group) => [group, state])), 1, asOfMs);
};
const read = (facts: ReturnType<typeof tried>, nowMs = NOW_MS) =>
  createReadiness({
    catalog,
    snapshot: { facts: () => facts, subscribe: () => () => {} },
    budgets,
    ceilingSec: 900,
    startedMs: NOW_MS,
  }).readiness(1, nowMs);

describe('createReadiness', () => {
  test('default: ready when every group was read', () => {
    expect(read(tried(FACT_GROUPS))).toEqual({ primed: true, open: true, ready: true, waitingFor: [], missing: [] });
  });

  test('behavior: a first start waits for the other groups for at most a minute, and names the missing ones', () => {
    const facts = tried(['lendingState', 'oracle', 'price']);
    const missing = FACT_GROUPS.filter((group) => !['lendingState', 'oracle', 'price'].includes(group));
    expect(read(facts)).toEqual({ primed: true, open: false, ready: false, waitingFor: missing, missing });
    expect(read(facts, NOW_MS + MINUTE_MS)).toEqual({ primed: true, open: true, ready: true, waitingFor: [], missing });
  });

  test('behavior: waits for required groups without limit', () => {
    const { primed, ready, waitingFor } = read(tried(['price']), NOW_MS + 60 * MINUTE_MS);
    expect({ primed, ready, waitingFor }).toEqual({
      primed: false,
      ready: false,
      waitingFor: ['lendingState', 'oracle'],
    });
  });

  test('behavior: future measurements do not count', () => {
    expect(read(tried(FACT_GROUPS, NOW_MS + 2 * MINUTE_MS)).ready).toBe(true);
    expect(read(tried(FACT_GROUPS, NOW_MS + 2 * MINUTE_MS + 1))).toMatchObject({
      ready: false,
      waitingFor: ['lendingState', 'oracle'],
    });
  });

  /** One process whose facts change. */
  const process = (startedMs = NOW_MS) => {
    let facts = tried([]);
    const port = createReadiness({
      catalog,
      snapshot: { facts: () => facts, subscribe: () => () => {} },
      budgets,
      ceilingSec: 900,
      startedMs,
    });
    return (next: ReturnType<typeof tried>, nowMs: number) => {
      facts = next;
      const { open, ready } = port.readiness(1, nowMs);
      return [open, ready];
    };
  };
  const REQUIRED = ['lendingState', 'oracle'] as const;

  test('behavior: opens and becomes ready at the same moment, and stays open whatever becomes old or is lost', () => {
    const at = process();
    expect(at(tried(REQUIRED), NOW_MS)).toEqual([false, false]);
    expect(at(tried(REQUIRED), NOW_MS + MINUTE_MS - 1)).toEqual([false, false]);
    expect(at(tried(REQUIRED), NOW_MS + MINUTE_MS)).toEqual([true, true]);
    expect(at(tried(REQUIRED), NOW_MS + 60 * MINUTE_MS)).toEqual([true, false]);
    expect(at(tried(REQUIRED), NOW_MS)).toEqual([true, true]);
    expect(at(tried([]), NOW_MS + MINUTE_MS)).toEqual([true, false]);
  });

  test('behavior: opens late when the required groups are measured late, then without a further wait', () => {
    const at = process();
    expect(at(tried(['oracle', 'price']), NOW_MS + 10 * MINUTE_MS)).toEqual([false, false]);
    expect(at(tried(REQUIRED, NOW_MS + 10 * MINUTE_MS), NOW_MS + 10 * MINUTE_MS)).toEqual([true, true]);
  });

  test('behavior: restored facts open at once, however old, and only readiness knows of their age', () => {
    const at = process(NOW_MS + 60 * MINUTE_MS);
    expect(at(tried(FACT_GROUPS), NOW_MS + 60 * MINUTE_MS)).toEqual([true, false]);
  });
});
