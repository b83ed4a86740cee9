import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { expectEnvelope } from '../known.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const STRATEGY = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const ask = (path: string, init: RequestInit = {}) => fetch(`${service.url}${path}`, { redirect: 'manual', ...init });

describe('misspelt paths', () => {
  test.each([
    ['/docs/', '/docs'],
    ['/ops/', '/ops'],
    ['/openapi.json/', '/openapi.json'],
    ['/health/', '/health'],
    ['/ready/', '/ready'],
    ['/v1/strategies/', '/v1/strategies'],
    ['/v1/strategies/?chainId=4663', '/v1/strategies?chainId=4663'],
    ['/v1/app/markets/', '/v1/app/markets'],
    [`/v1/strategies/${STRATEGY}/`, `/v1/strategies/${STRATEGY}`],
    ['/graphql/?query={chains{chainId}}', '/graphql?query={chains{chainId}}'],
  ])('%s leads to %s', async (path, page) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await ask(path, { method });
      expect(response.status).toBe(308);
      expect(new URL(response.headers.get('location') ?? '', response.url).href).toBe(new URL(page, service.url).href);
    }
    expect((await fetch(`${service.url}${path}`)).status).toBe(200);
  });

  test.each([
    '/docs//',
    '//docs',
    '//evil.example/',
    '/doc',
    '/Docs',
    '/v1',
    '/v1/',
    '/v1/strategies//',
    '/v1/nothing/',
    '/V1/strategies',
  ])('404 %s with suggestions', async (path) => {
    const answer = await service.get(path);
    expectEnvelope(answer, 404, 'not_found');
    expect(answer.headers.get('location')).toBeNull();
    expect(answer.body.error.message).toContain('/docs');
  });
});

test.each(['/', '/docs', '/docs/start.js', '/docs/viewer.js', '/favicon.ico', '/openapi.json', '/ops', '/ops/main.js'])(
  'HEAD %s has the headers of GET without a body',
  async (path) => {
    const [whole, head] = [await ask(path), await ask(path, { method: 'HEAD' })];
    expect([whole.status, head.status]).toEqual([200, 200]);
    expect(await head.text()).toBe('');
    for (const name of ['content-type', 'content-length', 'cache-control', 'content-security-policy']) {
      expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)]);
    }
    const posted = await ask(path, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  },
);

test.each(['/health', '/ready'])('%s takes no parameters, and names those that were sent', async (path) => {
  const answer = await ask(`${path}?chainId=4663&verbose`);
  expect([answer.status, answer.headers.get('ignored-parameters')]).toEqual([200, 'chainId, verbose']);
  expect((await ask(path)).headers.get('ignored-parameters')).toBeNull();
});
