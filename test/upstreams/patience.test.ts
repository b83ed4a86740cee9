import { expect, it } from 'vitest';
import type { Timers } from '../../src/shared/timers.ts';
import { createHttp } from '../../src/upstreams/http.ts';
import { testDeps } from './support/world.ts';

it.each([
  [undefined, 4_000],
  [2_000, 2_000],
  [20_000, 20_000],
  [90_000, 30_000],
])('behavior: a request that grants %s ms ends after %s ms where a caller waits', async (patienceMs, expected) => {
  const base = testDeps('http://127.0.0.1:1');
  const fetch: typeof globalThis.fetch = async () => Response.json({});
  const waits: number[] = [];
  const timeouts: Timers = {
    setTimeout: (_callback, ms) => waits.push(ms),
    clearTimeout: () => {},
  };
  const config = { ...base.config, timeoutMs: 30_000 };
  const http = createHttp({
    ...base,
    fetch,
    config,
    timeouts,
    provider: 'test',
    publicName: 'tester',
    isWaitedFor: true,
  });
  await http.request({ path: '/things/:name', params: { name: 'a b' }, patienceMs });
  expect(waits).toEqual([expected]);
});
