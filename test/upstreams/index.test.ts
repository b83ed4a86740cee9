import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/shared/logger.ts';
import { createUpstreams, PROVIDERS, upstreamsConfig } from '../../src/upstreams/index.ts';

describe('createUpstreams', () => {
  it('behavior: sends nothing before a port is called', () => {
    const fetch = () => {
      throw new Error('sent');
    };
    const upstreams = createUpstreams({
      config: upstreamsConfig(),
      fetch,
      clock: { now: () => 0 },
      logger: silentLogger,
    });
    expect(upstreams.prices.map(({ name }) => name)).toEqual(['coingecko', 'defillama']);
    expect(upstreams.quotes.map(({ source }) => source)).toEqual(['AggregatorOne', 'AggregatorTwo', 'YieldMarket']);
    expect([upstreams.yieldmarket, upstreams.aggregator, upstreams.incentivemarket].map(({ name }) => name)).toEqual([
      'yieldmarket',
      'aggregator',
      'incentivemarket',
    ]);
  });
});

describe('upstreamsConfig', () => {
  it('behavior: completes given settings', () => {
    const merkl = { baseUrl: 'http://127.0.0.1:1', timeoutMs: 5 };
    const defaults = upstreamsConfig();
    const config = upstreamsConfig({
      royco: { apiKey: 'k' },
      merkl,
      coingecko: { apiKey: 'k' },
      pendle: { limits: { minute: 500 } },
    });
    expect(Object.keys(config)).toEqual([...PROVIDERS]);
    expect(config.royco).toEqual({ ...defaults.royco, apiKey: 'k' });
    expect(config.merkl).toEqual({ ...defaults.merkl, ...merkl });
    expect(config.coingecko.rules.limits).toEqual({ minute: 100, month: 10_000 });
    expect(defaults.coingecko.rules.limits.minute).toBeLessThan(100);
    expect(config.pendle.rules).toEqual({ ...defaults.pendle.rules, limits: { minute: 500 }, isSet: true });
  });
});
