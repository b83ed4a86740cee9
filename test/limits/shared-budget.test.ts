import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startTestGateway } from '../http/test-gateway.ts';
import { startRedis, type TestRedis, whyNoRedis } from '../snapshot/redis-server.ts';

const reason = whyNoRedis();

describe.skipIf(reason !== null)(`budgets shared through Redis${reason === null ? '' : ` (${reason})`}`, () => {
  let redis: TestRedis;
  let one: Front;
  let two: Front;
  beforeAll(async () => {
    redis = await startRedis();
    const env = { REDIS_URL: redis.url, RATE_LIMIT_PARTNER: '1000', RATE_LIMIT_ANONYMOUS: '1000' };
    one = await startTestGateway({ env });
    two = await startTestGateway({ env });
    for (const front of [one, two]) await until(async () => (await keyed(front)).status === 200);
    await redis.flush();
  });
  afterAll(async () => {
    await one?.stop();
    await two?.stop();
    await redis?.close();
  });

  const keyed = (front: Front) => front.graphql('{chains{chainId}}', { headers: PARTNER_KEY });
  const remainingOf = ({ headers }: { headers: Headers }) =>
    Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  const until = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  test('default: a key has one budget over all processes', async () => {
    const before = remainingOf(await keyed(one));
    expect(remainingOf(await keyed(two))).toBe(before - 1);
    expect(remainingOf(await keyed(one))).toBe(before - 2);
  });

  test('behavior: loses no charge of concurrent requests to both', async () => {
    const before = remainingOf(await keyed(one));
    await Promise.all(Array.from({ length: 50 }, (_, i) => keyed(i % 2 ? one : two)));
    expect(remainingOf(await keyed(two))).toBe(before - 51);
  });

  test('error: upstream_unavailable on keyed surfaces while the store is away; public reads stay open', async (context) => {
    if (redis.stop === undefined || redis.start === undefined) return context.skip('a given Redis is not ours to stop');
    await redis.stop();
    const refused = await keyed(one);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(refused.body.errors[0].extensions).toMatchObject({ code: 'upstream_unavailable', retryable: true });
    const partner = await one.send(`/v1/partner/positions/0x${'1'.repeat(40)}`, { headers: PARTNER_KEY });
    expect([partner.status, partner.body.error.code]).toEqual([503, 'upstream_unavailable']);
    expect((await one.send('/v1/prices', { headers: PARTNER_KEY })).status).toBe(200);
    expect((await one.send('/v1/prices')).status).toBe(200);
    expect((await one.graphql('{chains{chainId}}')).status).toBe(200);
    await redis.start();
    await until(async () => (await keyed(one)).status === 200);
  });
});
