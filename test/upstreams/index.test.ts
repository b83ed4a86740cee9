import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/shared/logger.ts';
import { createUpstreams, PROVIDERS, UPSTREAM_DEFAULTS, upstreamsConfig } from '../../src/upstreams/index.ts';

describe('createUpstreams', () => {
  it('behavior: sends nothing before a port is called', () => {
    const fetch = () => {
      throw new Error('sent');
    };
    const upstreams = createUpstreams({
      config: UPSTREAM_DEFAULTS,
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
    const config = upstreamsConfig({ royco: { apiKey: 'k' }, merkl: { baseUrl: 'http://127.0.0.1:1', timeoutMs: 5 } });
    expect(Object.keys(config)).toEqual([...PROVIDERS]);
    expect(config.royco).toEqual({ ...UPSTREAM_DEFAULTS.royco, apiKey: 'k' });
    expect(config.merkl).toMatchObject({ baseUrl: 'http://127.0.0.1:1', timeoutMs: 5, requestsPerMinute: 120 });
    expect(config.pendle).toEqual(UPSTREAM_DEFAULTS.pendle);
  });
});
