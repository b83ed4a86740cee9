import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunks, gather, toBatch } from '../../src/upstreams/batch.ts';
import { UpstreamError } from '../../src/upstreams/errors.ts';

const self = (key: string) => [key];
const fine = (key: string) => toBatch([[key, { ok: true, value: key }]]);

describe('gather', () => {
  it('default', async () => {
    const { values, failures } = await gather(['a', 'b'], self, async (key) => fine(key));
    expect([...values.keys()].sort()).toEqual(['a', 'b']);
    expect(failures.size).toBe(0);
  });

  it('behavior: every key has either a value or a failure, for any failing requests', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.string(), { minLength: 1 }), fc.func(fc.boolean()), async (keys, fails) => {
        const everyFails = keys.every((key) => fails(key));
        const answer = gather(keys, self, async (key) => {
          if (fails(key)) throw new UpstreamError('tester', 'timeout');
          return fine(key);
        });
        if (everyFails) {
          await expect(answer).rejects.toBeInstanceOf(UpstreamError);
          return;
        }
        const { values, failures } = await answer;
        for (const key of keys)
          expect([values.has(key), failures.get(key)]).toEqual(fails(key) ? [false, 'timeout'] : [true, undefined]);
      }),
    );
  });

  it('behavior: a few at a time', async () => {
    let running = 0;
    let most = 0;
    await gather(
      ['a', 'b', 'c', 'd', 'e', 'f'],
      self,
      async (key) => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running -= 1;
        return fine(key);
      },
      2,
    );
    expect(most).toBe(2);
  });

  it('error: rethrows errors that are not the provider’s', async () => {
    const bug = new TypeError('bug');
    const answer = gather(['a', 'b'], self, async (key) => {
      if (key === 'b') throw bug;
      return fine(key);
    });
    await expect(answer).rejects.toBe(bug);
  });
});

describe('chunks', () => {
  it('default', () => {
    expect(chunks([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
    expect(chunks([], 2)).toEqual([]);
  });
});
