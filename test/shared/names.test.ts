import { describe, expect, test } from 'vitest';
import { NotFoundError, UpstreamUnavailableError } from '../../src/shared/errors.ts';
import { NAMES, type Names, REST_NAMES, spell } from '../../src/shared/names.ts';
import { AmbiguousYieldLoopsError } from '../../src/transactions/equity/errors.ts';

const OTHER: Names = {
  ...REST_NAMES,
  input: (name) => `${name}!`,
  slippage: { name: 'bps', value: (ratio) => String(Number(ratio) * 10_000) },
  places: { ...REST_NAMES.places, positions: (wallet, chainId) => `wallet(${wallet}, ${chainId})` },
};

describe('references to names', () => {
  test('behavior: every name has a reference, which each surface spells for itself', () => {
    const pathsOf = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(pathsOf) : [value];
    const texts = (names: Names) =>
      pathsOf(names).map((name) => (typeof name === 'function' ? name('0.01', '1') : name));
    expect(texts(NAMES).map((text) => spell(text, REST_NAMES))).toEqual(texts(REST_NAMES));
    expect(texts(NAMES).map((text) => spell(text, OTHER))).toEqual(texts(OTHER));
  });

  test('behavior: texts in lists and records are spelled, and a value without references is the same object', () => {
    const wallet = '0xAb';
    const issue = { kind: 'X', message: `${NAMES.slippage.name} ${NAMES.slippage.value('0.01')}`, list: [1n, null] };
    expect(spell([issue], OTHER)).toEqual([{ ...issue, message: 'bps 100' }]);
    expect(spell(NAMES.places.positions(wallet, 1), OTHER)).toBe('wallet(0xAb, 1)');
    const plain = { field: 'a', limit: { oneOf: ['b', 2] }, at: new Date(0) };
    expect(spell(plain, OTHER)).toBe(plain);
  });

  test.each(['constructor', 'places', 'places.nothing', 'toString', '__proto__', ''])(
    'error: a text that looks like a reference to %j stays as it is',
    (path) => {
      const text = `a ${NAMES.repayAll.replace('repayAll', path)} b`;
      expect(spell(text, REST_NAMES)).toBe(text);
    },
  );
});

test('behavior: an error has the names of REST, and a copy those of another surface', () => {
  const error = new AmbiguousYieldLoopsError({ field: 'f', vaultId: 'equity-a' as never, yieldPositionIds: [1, 2] });
  expect(error.message).toContain('Send f with those of 1, 2');
  const copy = error.spelled(OTHER);
  expect(copy).toBeInstanceOf(AmbiguousYieldLoopsError);
  expect([copy.message, copy.code, copy.details]).toEqual([
    error.message.replace('Send f', 'Send f!'),
    error.code,
    error.details,
  ]);
  expect(copy.spelled(REST_NAMES).message).toBe(error.message);
  expect(Object.keys(error)).not.toContain('written');
  const plain = new UpstreamUnavailableError('chain', 'timeout', { retryAfterSec: 7 }).spelled(OTHER);
  expect([plain.requestedWaitSec, plain.retryAfterSec]).toEqual([7, 7]);
  expect(new NotFoundError('m', { resource: 'r', id: 'i' }).spelled(OTHER).details).toEqual({ resource: 'r', id: 'i' });
});
