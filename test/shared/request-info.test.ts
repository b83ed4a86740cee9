import { describe, expect, test } from 'vitest';
import { addressOf, bearerOf, clientIpOf } from '../../src/shared/request-info.ts';

describe('addressOf', () => {
  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['198.51.100.7:443', '198.51.100.7'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['[::ffff:198.51.100.7]:80', '198.51.100.7'],
    ['::ffff:c633:6407', '198.51.100.7'],
  ])('default: %s is %s', (text, address) => {
    expect(addressOf(text)).toBe(address);
  });

  test.each([
    '',
    'deadbeef',
    'unknown',
    '_hidden',
    '1.2.3',
    '999.1.1.1',
    '1.2.3.4:port',
    '2001:db8::1:443:x',
    '[]',
    '::1]',
  ])('error: %j is not an address', (text) => {
    expect(addressOf(text)).toBeUndefined();
  });
});

describe('clientIpOf', () => {
  test('behavior: ignores the port, and uses the proxy for an invalid address', () => {
    expect(clientIpOf('10.0.0.1', '198.51.100.7:1024', 1)).toBe('198.51.100.7');
    expect(clientIpOf('10.0.0.1', '6.6.6.6, [2001:db8::1]:443', 1)).toBe('2001:db8::1');
    expect(clientIpOf('10.0.0.1', 'deadbeef', 1)).toBe('10.0.0.1');
    expect(clientIpOf('::ffff:10.0.0.1', undefined, 1)).toBe('10.0.0.1');
    expect(clientIpOf(undefined, undefined, 0)).toBe('unknown');
  });
});

describe('bearerOf', () => {
  test.each(['Bearer x', 'bearer x', 'Bearer', 'Bearer '])('default: %j is a key or a malformed key', (header) => {
    expect(bearerOf(header)).toBe(header);
  });

  test.each([undefined, '', 'Basic abc', 'Bearerx', 'null'])('behavior: %j is not a key', (header) => {
    expect(bearerOf(header)).toBeUndefined();
  });
});
