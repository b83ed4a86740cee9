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
    expect(read(tried(FACT_GROUPS))).toEqual({ primed: true, ready: true, waitingFor: [], missing: [] });
  });

  test('behavior: a first start waits for the other groups for at most a minute, and names the missing ones', () => {
    const facts = tried(['lendingState', 'oracle', 'price']);
    const missing = FACT_GROUPS.filter((group) => !['lendingState', 'oracle', 'price'].includes(group));
    expect(read(facts)).toEqual({ primed: true, ready: false, waitingFor: missing, missing });
    expect(read(facts, NOW_MS + MINUTE_MS)).toEqual({ primed: true, ready: true, waitingFor: [], missing });
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
});
