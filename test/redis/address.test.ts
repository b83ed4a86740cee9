import { describe, expect, test } from 'vitest';
import { parseRedisUrl, RedisAddressError } from '../../src/config/redis-address.ts';

describe('parseRedisUrl', () => {
  test.each([
    ['redis://host', { mode: 'single', isTls: false, nodes: [{ host: 'host', port: 6379 }], db: 0 }],
    [
      'rediss://us%40er:p%2Fw@host:1234/7?family=6',
      {
        mode: 'single',
        isTls: true,
        nodes: [{ host: 'host', port: 1234 }],
        db: 7,
        username: 'us@er',
        password: 'p/w',
        family: 6,
      },
    ],
    ['redis://:p@w:x@[::1]:6380', { nodes: [{ host: '::1', port: 6380 }], password: 'p@w:x', username: undefined }],
    [
      'redis+sentinel://user:pw@a,b:5,[::2]/mymaster/3?sentinelPassword=s%26p&sentinelUsername=su',
      {
        mode: 'sentinel',
        isTls: false,
        primaryName: 'mymaster',
        db: 3,
        username: 'user',
        password: 'pw',
        sentinelUsername: 'su',
        sentinelPassword: 's&p',
        nodes: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 5 },
          { host: '::2', port: 26_379 },
        ],
      },
    ],
    [
      'rediss+cluster://a:1, b:2',
      {
        mode: 'cluster',
        isTls: true,
        nodes: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
      },
    ],
    ['REDIS+Cluster://a', { mode: 'cluster', nodes: [{ host: 'a', port: 6379 }] }],
  ])('default: %s', (url, expected) => {
    expect(parseRedisUrl(url)).toMatchObject(expected);
  });

  test.each([
    ['http://host', 'redis://, redis+sentinel://'],
    ['redis://', 'redis://, redis+sentinel://'],
    ['redis+mirror://host', 'redis://, redis+sentinel://'],
    ['redis://a,b', 'for several hosts'],
    ['redis://host/name', 'number of a database'],
    ['redis://host/1/2', 'at most the number'],
    ['redis://host:0', 'ports from 1'],
    ['redis://host:70000', 'ports from 1'],
    ['redis://ho st', 'host:port'],
    ['redis+cluster://a,', 'host:port'],
    ['redis+cluster://a/1', 'database 0'],
    ['redis+sentinel://a,b', 'the name of the primary'],
    ['redis://host?role=slave', 'only family after ?'],
    ['redis+cluster://host?sentinelPassword=x', 'only family after ?'],
    ['redis://host?family=5', 'a family of 0, 4 or 6'],
    ['redis://:100%@host', '%25'],
  ])('error: RedisAddressError for %s', (url, text) => {
    expect(() => parseRedisUrl(url)).toThrow(RedisAddressError);
    expect(() => parseRedisUrl(url)).toThrow(text);
    expect(() => parseRedisUrl(url.replace('//', '//u:hunter22@'))).not.toThrow('hunter22');
  });
});
