import { describe, expect, test } from 'vitest';
import { loggedError, scrub } from '../../src/shared/scrub.ts';

describe('scrub', () => {
  test.each([
    ['Authorization: Bearer abc.def', 'Authorization: Bearer [key]'],
    [`key sg_partner_abcdefgh_${'x'.repeat(49)} used`, 'key sg_partner_[key] used'],
    ['wallet 0x90F79bf6EB2c4f870365E785982E1f101E93b906!', 'wallet 0x[address]!'],
    ['from 203.0.113.7', 'from [ip]'],
    ['postgres://user:pass@db:5432/x', 'postgres://[credentials]@db:5432/x'],
    [`market 0x${'a'.repeat(64)} stays`, `market 0x${'a'.repeat(64)} stays`],
    ['version 1.2.3 stays', 'version 1.2.3 stays'],
  ])('default: %s', (text, clean) => {
    expect(scrub(text)).toBe(clean);
  });
});

describe('loggedError', () => {
  test('default: type, message, stack and causes, all clean', () => {
    const error = new RangeError('for 203.0.113.7', { cause: new Error('Bearer x') });
    expect(loggedError(error)).toEqual({
      type: 'RangeError',
      message: 'for [ip]',
      stack: expect.stringContaining('scrub.test.ts'),
      cause: { type: 'Error', message: 'Bearer [key]', stack: expect.any(String) },
    });
  });

  test('behavior: accepts thrown non-errors and circular causes', () => {
    expect(loggedError('Bearer x')).toEqual({ type: 'string', message: 'Bearer [key]' });
    const error = new Error('a');
    error.cause = error;
    expect(JSON.stringify(loggedError(error))).toBeDefined();
  });
});
