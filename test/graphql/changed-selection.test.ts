import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createChangedSelection } from '../../src/graphql/streams/changed-selection.ts';
import { readEventId, writeEventId } from '../../src/graphql/streams/event-id.ts';
import { selectionOf } from '../../src/graphql/streams/selection.ts';

const streamOf = (fields: string, lastEventId?: string) =>
  createChangedSelection(
    selectionOf({ document: parse(`subscription { strategyChanged { ${fields} } }`), operationName: null }),
    readEventId(lastEventId),
  );
const change = (version: number, changed: readonly object[], complete = false) => ({
  data: { strategyChanged: { version, complete, changed } },
});
const about = (version: number, entries: readonly string[], more: object = {}) => ({
  chainId: 1,
  version,
  entries,
  ...more,
});
const A = { liquidityUsd: '1', freshness: { borrow: { asOf: '2026-01-01' } } };
const B = { liquidityUsd: '2', freshness: { borrow: { asOf: '2026-01-01' } } };
const FIELDS = 'version complete changed { liquidityUsd freshness { borrow { asOf } } }';

describe('createChangedSelection', () => {
  test('default: everything first, then only the entries that differ', () => {
    const stream = streamOf(FIELDS);
    expect(stream.next(change(1, [A, B], true), about(1, ['a', 'b']))?.result).toEqual(change(1, [A, B], true));
    const later = { liquidityUsd: '3', freshness: { borrow: { asOf: '2026-01-02' } } };
    expect(stream.next(change(2, [A, later]), about(2, ['a', 'b']))?.result).toEqual(change(2, [later]));
  });

  test('behavior: other versions and times alone are no event', () => {
    const stream = streamOf(FIELDS);
    stream.next(change(1, [A], true), about(1, ['a']));
    const aged = { ...A, freshness: { borrow: { asOf: '2026-01-02' } } };
    expect(stream.next(change(2, [aged]), about(2, ['a']))).toBeNull();
  });

  test('behavior: a value under an alias of a time counts', () => {
    const stream = streamOf('changed { asOf: liquidityUsd }');
    stream.next(change(1, [{ asOf: '1' }], true), about(1, ['a']));
    expect(stream.next(change(2, [{ asOf: '2' }]), about(2, ['a']))).not.toBeNull();
  });

  test('behavior: a removed entry is an event, and is new when it returns', () => {
    const stream = streamOf(FIELDS);
    stream.next(change(1, [A, B], true), about(1, ['a', 'b']));
    expect(stream.next(change(2, []), about(2, [], { removed: ['b'] }))).not.toBeNull();
    expect(stream.next(change(3, [B]), about(3, ['b']))?.result).toEqual(change(3, [B]));
  });

  test('behavior: the id of the last event resumes: nothing when nothing differs, else the differences', () => {
    const first = streamOf(FIELDS);
    const { id } = first.next(change(1, [A, B], true), about(1, ['a', 'b'])) ?? {};
    const same = streamOf(FIELDS, id);
    expect(same.next(change(5, [B, A], true), about(5, ['b', 'a']))).toBeNull();
    expect(same.next(change(6, [B]), about(6, ['b']))).toBeNull();
    const known = streamOf(FIELDS, id);
    const news = { ...B, liquidityUsd: '9' };
    const subject = about(5, ['a', 'b'], { mayDiffer: new Set(['b']) });
    expect(known.next(change(5, [A, news]), subject)?.result).toEqual(change(5, [news]));
    const unknown = streamOf(FIELDS, id);
    expect(unknown.next(change(5, [A, news], true), about(5, ['a', 'b']))?.result).toEqual(change(5, [A, news], true));
  });

  test('behavior: an event with errors is sent, and the next one is compared with nothing', () => {
    const stream = streamOf(FIELDS);
    stream.next(change(1, [A], true), about(1, ['a']));
    expect(stream.next({ errors: [] as never, data: null }, about(2, ['a']))).not.toBeNull();
    expect(stream.next(change(3, [A]), about(3, ['a']))).not.toBeNull();
  });

  test('behavior: the id of an event with errors does not resume its chain, however the client has come to it', () => {
    const failed = { errors: [] as never, data: null };
    const stream = streamOf(FIELDS);
    const { id } = stream.next(change(1, [A], true), about(1, ['a'])) ?? {};
    expect(readEventId(stream.next(failed, about(2, ['a']))?.id).has(1)).toBe(false);
    const resumed = streamOf(FIELDS, id);
    expect(readEventId(resumed.next(failed, about(2, ['a']))?.id).has(1)).toBe(false);
    expect(resumed.next(change(3, [A]), about(3, ['a']))).not.toBeNull();
  });

  test('behavior: a list that a directive leaves out', () => {
    const stream = streamOf('version changed @skip(if: true) { liquidityUsd }');
    const event = (version: number) => ({ data: { strategyChanged: { version } } });
    for (const version of [1, 2]) {
      expect(stream.next(event(version), about(version, ['a']))?.result).toEqual(event(version));
    }
  });

  test('behavior: a client that selects versions only gets each', () => {
    const stream = streamOf('version chain { chainId }');
    const event = (version: number) => ({ data: { strategyChanged: { version, chain: { chainId: 1 } } } });
    for (const version of [1, 2, 3]) expect(stream.next(event(version), about(version, ['a']))).not.toBeNull();
  });
});

describe('event ids', () => {
  test('default: are read as they were written', () => {
    const seen = new Map([
      [1, { version: 7, publishedMs: 1_763_000_000_000, digest: 'AAAAAAAAAAAAAAA_' }],
      [4663, { version: 0, publishedMs: 0, digest: '-AAAAAAAAAAAAAAA' }],
    ]);
    expect(readEventId(writeEventId(seen))).toEqual(seen);
  });

  test.each(['', 'x', '1.2.short', '1.2.AAAAAAAAAAAAAAAA', '1.2.3.AAAAAAAAAAAAAAAA~x', 'a'.repeat(2_000)])(
    'error: %s tells nothing',
    (id) => {
      expect(readEventId(id).size).toBe(0);
    },
  );
});
