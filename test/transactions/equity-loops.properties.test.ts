import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LoopMatch } from '../../src/domain/equity/loops.ts';
import { withoutUndefined } from '../../src/shared/without-undefined.ts';
import { AmbiguousYieldLoopsError } from '../../src/transactions/equity/errors.ts';
import { leftLoopIssues, selectLoops } from '../../src/transactions/equity/select-loops.ts';
import { manyRuns } from '../support/property-runs.ts';
import { chain, loopOf, vaultOf } from './equity-world.ts';

const vault = vaultOf('TSLA');
const own = [
  loopOf(0, vault),
  loopOf(1, vault),
  loopOf(2, vault),
  { ...loopOf(3, vault), open: false },
  loopOf(4, vault, 0n),
];
const matched = (match: LoopMatch['match'], ids: readonly number[]): LoopMatch => ({
  match,
  loopIds: match === 'ambiguous' ? [] : ids,
  candidateIds: match === 'ambiguous' ? ids : [],
});
const select = (match: LoopMatch, requested?: readonly number[]) =>
  selectLoops({ vault, match, own, requested }).map(({ id }) => id);

describe('selectLoops', () => {
  test.each(['tagged', 'basis'] as const)('default: the loops of a %s match', (match) => {
    expect(select(matched(match, [0, 2]))).toEqual([0, 2]);
  });

  test('behavior: no match closes no loop', () => {
    expect(select(matched('none', []))).toEqual([]);
  });

  test('behavior: ignores a liquidated loop', () => {
    expect(select(matched('tagged', [1, 4]))).toEqual([1]);
  });

  test('behavior: closes only the named loops, in their order', () => {
    expect(select(matched('tagged', [0, 1, 2]), [2, 0])).toEqual([2, 0]);
    expect(select(matched('ambiguous', [0, 1]), [1])).toEqual([1]);
  });

  test('behavior: without a match any open loop of the yield market is allowed', () => {
    expect(select(matched('none', []), [1])).toEqual([1]);
  });

  test('error: AmbiguousYieldLoops lists the candidates', () => {
    const choice = { vault, match: matched('ambiguous', [0, 1]), own };
    expect(() => selectLoops(choice)).toThrow(AmbiguousYieldLoopsError);
    expect(() => selectLoops(choice)).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        status: 400,
        details: { field: 'yieldPositionIds', vaultId: vault.id, yieldPositionIds: [0, 1] },
      }),
    );
  });

  test.each([
    ['another loop than the matched ones', matched('basis', [0]), [1]],
    ['a loop beside the candidates', matched('ambiguous', [0, 1]), [2]],
    ['a closed position', matched('none', []), [3]],
    ['a liquidated position', matched('tagged', [4]), [4]],
    ['an id that the wallet does not have', matched('none', []), [9]],
    ['one id twice', matched('tagged', [0, 1]), [0, 0]],
    ['an empty list', matched('tagged', [0]), []],
  ])('error: bad_request for %s', (_what, match, requested) => {
    expect(() => select(match, requested)).toThrow(
      expect.objectContaining({ code: 'bad_request', details: expect.objectContaining({ field: 'yieldPositionIds' }) }),
    );
  });

  test('error: bad_request for a loop of another market', () => {
    const other = chain.markets.find(({ kind, id }) => kind === 'loop' && id !== vault.yieldMarket.id);
    const foreign = { ...loopOf(7, vault), marketId: other?.id ?? vault.yieldMarket.id };
    const choice = { vault, match: matched('none', []), own: [foreign], requested: [7] };
    expect(() => selectLoops(choice)).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });

  test('property: never closes a loop outside the list, the match and the open loops', () => {
    const ids = fc.uniqueArray(fc.nat({ max: 9 }), { maxLength: 6 });
    const held = fc.uniqueArray(
      fc.record({ id: fc.nat({ max: 9 }), open: fc.boolean(), empty: fc.boolean(), elsewhere: fc.boolean() }),
      { selector: ({ id }) => id },
    );
    const other = chain.markets.find(({ kind, id }) => kind === 'loop' && id !== vault.yieldMarket.id);
    const kinds = fc.constantFrom<LoopMatch['match']>('tagged', 'basis', 'ambiguous', 'none');
    fc.assert(
      fc.property(kinds, ids, fc.option(ids, { nil: undefined }), held, (kind, matches, requested, positions) => {
        const own = positions.map(({ id, open, empty, elsewhere }) => ({
          ...loopOf(id, vault, empty ? 0n : 1n),
          open,
          ...withoutUndefined({ marketId: elsewhere ? other?.id : undefined }),
        }));
        const match = matched(kind, kind === 'none' ? [] : matches);
        let closed: readonly number[];
        try {
          closed = selectLoops({ vault, match, own, requested }).map(({ id }) => id);
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad_request' });
          return;
        }
        if (requested) expect(closed).toEqual(requested);
        for (const id of closed) {
          const position = own.find((candidate) => candidate.id === id);
          expect(position).toMatchObject({ open: true, collateral: 1n, marketId: vault.yieldMarket.id });
          if (kind !== 'none') expect(matches).toContain(id);
        }
        if (kind === 'ambiguous') expect(requested).toBeDefined();
      }),
      manyRuns(),
    );
  });
});

describe('leftLoopIssues', () => {
  const left = (match: LoopMatch, requested?: readonly number[], held = own) =>
    leftLoopIssues({ vault, match, own: held, requested });

  test('default: names the open loops of the yield market where none is known to be its own', () => {
    expect(left(matched('none', []))).toEqual([
      {
        kind: 'LOOPS_STAY_OPEN',
        message: expect.stringContaining('leaves the open positions 0, 1, 2 on the yield market'),
      },
    ]);
  });

  test('behavior: nothing where loops are known, named, or none is open', () => {
    expect(left(matched('basis', [0]))).toEqual([]);
    expect(left(matched('none', []), [1])).toEqual([]);
    expect(left(matched('none', []), undefined, own.slice(3))).toEqual([]);
  });
});
