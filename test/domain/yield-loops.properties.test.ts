import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CandidateLoop,
  type LoopTags,
  MAX_TRIED_LOOPS,
  matchYieldLoops,
  type OpenVault,
} from '../../src/domain/equity/loops.ts';
import type { MarketId, StrategyId } from '../../src/shared/ids.ts';
import { manyRuns } from '../support/property-runs.ts';

const MARKET = `0x${'1'.repeat(64)}` as MarketId;
const OTHER = `0x${'2'.repeat(64)}` as MarketId;
const vault = (name: string, debt: bigint | null, yieldMarketId = MARKET): OpenVault => ({
  id: `equity-${name}` as StrategyId,
  yieldMarketId,
  debt,
});
const loop = (id: number, depositedAssets: bigint, over: Partial<CandidateLoop> = {}): CandidateLoop => ({
  id,
  marketId: MARKET,
  depositedAssets,
  live: true,
  ...over,
});
const tag = (...rows: [number, OpenVault, MarketId?][]): LoopTags =>
  new Map(rows.map(([id, { id: vaultId }, marketId = MARKET]) => [id, { vaultId, marketId }]));
const matchOne = (debt: bigint | null, loops: readonly CandidateLoop[], tags: LoopTags = new Map()) => {
  const one = vault('a', debt);
  return matchYieldLoops([one], loops, tags).get(one.id);
};
const NONE = { match: 'none', loopIds: [], candidateIds: [] };

describe('matchYieldLoops', () => {
  test('default: the only combination whose basis matches the debt', () => {
    const found = matchOne(1_000n, [loop(0, 600n), loop(1, 5_000n), loop(2, 350n)]);
    expect(found).toEqual({ match: 'basis', loopIds: [0, 2], candidateIds: [] });
  });

  test.each([
    [850n, 'none'],
    [851n, 'basis'],
    [1_020n, 'basis'],
    [1_021n, 'none'],
  ])('behavior: of a debt of 1000 a basis of %s is %s', (basis, match) => {
    expect(matchOne(1_000n, [loop(0, basis)])?.match).toBe(match);
  });

  test('behavior: several combinations are ambiguous, with the loops of all of them', () => {
    const loops = [loop(0, 1_000n), loop(1, 990n), loop(2, 400n), loop(3, 5_000n)];
    expect(matchOne(1_000n, loops)).toEqual({ match: 'ambiguous', loopIds: [], candidateIds: [0, 1] });
    const dust = [loop(0, 1_000n), loop(1, 1n)];
    expect(matchOne(1_000n, dust)).toEqual({ match: 'ambiguous', loopIds: [], candidateIds: [0, 1] });
  });

  test('behavior: only live loops of its yield market count', () => {
    const dead = loop(0, 1_000n, { live: false });
    const elsewhere = loop(1, 1_000n, { marketId: OTHER });
    expect(matchOne(1_000n, [dead, elsewhere, loop(2, 0n)])).toEqual(NONE);
    expect(matchOne(1_000n, [dead, elsewhere, loop(3, 990n)])?.loopIds).toEqual([3]);
  });

  test('behavior: no debt, and no loop', () => {
    expect(matchOne(0n, [loop(0, 1_000n)])).toEqual(NONE);
    expect(matchOne(1_000n, [])).toEqual(NONE);
    expect(matchOne(null, [])).toEqual(NONE);
  });

  test('behavior: a registration takes precedence over the basis', () => {
    const one = vault('a', 1_000n);
    const loops = [loop(0, 1_000n), loop(1, 3n), loop(2, 4n, { live: false })];
    expect(matchOne(1_000n, loops, tag([1, one], [2, one]))).toEqual({
      match: 'tagged',
      loopIds: [1, 2],
      candidateIds: [],
    });
  });

  test('behavior: ignores a registration of another market or vault', () => {
    const one = vault('a', 1_000n);
    expect(matchOne(1_000n, [loop(0, 1_000n)], tag([0, one, OTHER]))?.match).toBe('basis');
    expect(matchOne(1_000n, [loop(0, 1_000n)], tag([0, vault('gone', null)]))?.match).toBe('basis');
  });

  test('behavior: a loop tagged for one vault is not a candidate of another', () => {
    const [a, b] = [vault('a', 1_000n), vault('b', 1_000n)];
    const found = matchYieldLoops([a, b], [loop(0, 1_000n), loop(1, 1_000n)], tag([0, a]));
    expect(found.get(a.id)).toEqual({ match: 'tagged', loopIds: [0], candidateIds: [] });
    expect(found.get(b.id)).toEqual({ match: 'basis', loopIds: [1], candidateIds: [] });
  });

  test('behavior: two vaults that need the same loop are both ambiguous; a third is not', () => {
    const [a, b, c] = [vault('a', 1_000n), vault('b', 1_010n), vault('c', 9_000n)];
    const found = matchYieldLoops([a, b, c], [loop(0, 1_000n), loop(1, 9_000n)], new Map());
    for (const { id } of [a, b]) {
      expect(found.get(id)).toEqual({ match: 'ambiguous', loopIds: [], candidateIds: [0] });
    }
    expect(found.get(c.id)).toEqual({ match: 'basis', loopIds: [1], candidateIds: [] });
  });

  test('behavior: with an unknown debt every loop of the yield market is a candidate', () => {
    const loops = [loop(0, 1n), loop(1, 2n), loop(2, 2n, { marketId: OTHER })];
    expect(matchOne(null, loops)).toEqual({ match: 'ambiguous', loopIds: [], candidateIds: [0, 1] });
  });

  test('behavior: too many candidate loops are ambiguous; loops that cannot fit do not count', () => {
    const many = Array.from({ length: MAX_TRIED_LOOPS + 1 }, (_, id) => loop(id, 100n));
    expect(matchOne(1_000n, many)).toMatchObject({ match: 'ambiguous', candidateIds: many.map(({ id }) => id) });
    const large = many.map((entry) => ({ ...entry, depositedAssets: 1_021n }));
    expect(matchOne(1_000n, [...large, loop(99, 1_000n)])?.loopIds).toEqual([99]);
    const small = many.map((entry) => ({ ...entry, depositedAssets: 65n }));
    expect(matchOne(1_000n, small)).toEqual(NONE);
  });

  test('behavior: equals trying every combination', () => {
    const debts = fc.bigInt({ min: 1n, max: 2_000n });
    const bases = fc.array(fc.bigInt({ min: 0n, max: 1_200n }), { maxLength: 7 });
    fc.assert(
      fc.property(debts, bases, (debt, amounts) => {
        const loops = amounts.map((basis, id) => loop(id, basis)).filter(({ depositedAssets }) => depositedAssets > 0n);
        const fitting = Array.from({ length: 2 ** loops.length }, (_, mask) =>
          loops.filter((_loop, index) => mask & (1 << index)),
        ).filter((chosen) => {
          const basis = chosen.reduce((sum, { depositedAssets }) => sum + depositedAssets, 0n);
          return basis * 100n > debt * 85n && basis * 100n <= debt * 102n;
        });
        const ids = [...new Set(fitting.flat().map(({ id }) => id))].sort((x, y) => x - y);
        const found = matchOne(debt, loops);
        if (fitting.length === 0) expect(found).toEqual(NONE);
        else if (fitting.length === 1) expect(found).toEqual({ match: 'basis', loopIds: ids, candidateIds: [] });
        else expect(found).toEqual({ match: 'ambiguous', loopIds: [], candidateIds: ids });
      }),
      manyRuns(),
    );
  });

  test('behavior: attributes no loop twice, and no loop tagged for another vault', () => {
    const world = fc.record({
      debts: fc.array(fc.bigInt({ min: 0n, max: 1_500n }), { minLength: 1, maxLength: 4 }),
      bases: fc.array(fc.bigInt({ min: 0n, max: 1_500n }), { maxLength: 6 }),
      tags: fc.array(fc.option(fc.nat(4)), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(world, ({ debts, bases, tags }) => {
        const vaults = debts.map((debt, i) => vault(`v${i}`, debt));
        const loops = bases.map((basis, id) => loop(id, basis));
        const tagged = tags.flatMap((of, id) => {
          const owner = of === null ? undefined : vaults[of];
          return owner ? [[id, owner] as [number, OpenVault]] : [];
        });
        const found = matchYieldLoops(vaults, loops, tag(...tagged));
        expect([...found.keys()].sort()).toEqual(vaults.map(({ id }) => id).sort());
        const attributed = [...found.values()].flatMap(({ loopIds }) => loopIds);
        expect(new Set(attributed).size).toBe(attributed.length);
        for (const [id, owner] of tagged) {
          if (!loops.some((candidate) => candidate.id === id)) continue;
          expect(found.get(owner.id)?.loopIds).toContain(id);
        }
      }),
      manyRuns(),
    );
  });
});
