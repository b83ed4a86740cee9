import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFaults } from './faults.ts';
import { type Front, startTestGateway, UNLIMITED } from './test-gateway.ts';

const faults = createFaults();
let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED, faults });
});
afterAll(() => front.stop());

const json = { 'content-type': 'application/json' };
const post = (query: string, headers: Record<string, string> = {}) => ({
  path: '/graphql',
  init: { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify({ query }) },
});

/** Every way to an answer. */
const WAYS = [
  { name: 'cached bytes of REST', path: '/v1/prices', init: {}, before: 2 },
  { name: 'execution of REST', path: '/v1/stable-apy', init: { headers: { authorization: 'Bearer front-partner' } } },
  { name: 'a refusal of REST', path: '/v1/strategies/0x1', init: {} },
  { name: 'cached bytes of GraphQL', ...post('{chains{chainId}}'), before: 4 },
  { name: 'execution of GraphQL', ...post('{chains{name}}', { authorization: 'Bearer front-partner' }) },
  {
    name: 'a body of REST',
    path: '/v1/partner/leverage/build',
    init: { method: 'POST', headers: { ...json, authorization: 'Bearer front-partner' }, body: '{}' },
  },
  { name: 'a refusal of GraphQL', ...post('{nothing}') },
  {
    name: 'a batch',
    path: '/graphql',
    init: { method: 'POST', headers: json, body: '[{"query":"{chains{name}}"},{"query":"{prices{stale}}"}]' },
  },
  { name: 'introspection', ...post('{__schema{queryType{name}}}') },
  { name: 'a stream', ...post('subscription{freshnessChanged{__typename}}', { accept: 'text/event-stream' }) },
  { name: 'a page', path: '/graphql', init: { headers: { accept: 'text/html' } } },
  { name: 'a file', path: '/docs/start.js', init: {} },
  { name: 'a preflight', path: '/v1/prices', init: { method: 'OPTIONS' } },
] as const;

describe('an exception at any stage', () => {
  test.each(WAYS)('error: $name ends with the envelope, wherever it fails', async (way) => {
    const { path, init } = way;
    for (let i = 0; i < ('before' in way ? way.before : 1); i += 1) await front.send(path, init);
    const stages = await faults.countDuring(() => front.send(path, init));
    expect(stages.length).toBeGreaterThan(2);
    const answered = new Map<string, number[]>();
    for (const [at, stage] of stages.entries()) {
      const answer = await faults.failAt(at, () => front.send(path, init));
      answered.set(stage, [...(answered.get(stage) ?? []), answer.status]);
      const id = answer.headers.get('x-correlation-id');
      expect([stage, id]).toEqual([stage, expect.stringMatching(/^[\w.-]{8,64}$/)]);
      expect([stage, answer.text]).toEqual([stage, expect.not.stringContaining('fault at')]);
      if (answer.status < 500) continue;
      const error = answer.body.error ?? answer.body.errors?.[0]?.extensions;
      expect([stage, error]).toEqual([stage, expect.objectContaining({ code: 'internal', correlationId: id })]);
    }
    // Some stages are behind the answer, or are done without; most are not.
    const failed = [...answered.values()].flat().filter((status) => status >= 500);
    expect(failed.length).toBeGreaterThan(0);
    expect((await front.send(path, init)).status).toBeLessThan(500);
  });
});
