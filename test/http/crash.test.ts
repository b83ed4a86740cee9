import { afterEach, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startTestGateway } from './test-gateway.ts';

let front: Front | undefined;
afterEach(async () => {
  await front?.stop();
  front = undefined;
});

const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const SECRET = `sg_partner_abcdefgh_${'S'.repeat(49)}`;
const crash = () => {
  throw new TypeError(`boom for ${WALLET} from 203.0.113.7 with Bearer ${SECRET} at postgres://user:pass@db/x`, {
    cause: new Error(`deeper: ${SECRET}`),
  });
};

describe('an unexpected exception', () => {
  test('error: internal, masked, the same on REST and GraphQL, and logged under its correlation id', async () => {
    front = await startTestGateway({ services: { composed: crash, facts: crash } });
    const headers = { 'x-correlation-id': 'my-request-1' };
    const rest = await front.send('/v1/strategies', { headers });
    expect(rest.status).toBe(500);
    expect(rest.body).toEqual({
      error: { code: 'internal', message: expect.any(String), correlationId: 'my-request-1' },
    });
    const gql = await front.graphql('{strategies{totalCount}}', { headers });
    expect(gql.body.errors[0].extensions).toEqual({
      code: 'internal',
      status: 500,
      retryable: false,
      correlationId: 'my-request-1',
    });
    expect(gql.body.data).toEqual({ strategies: null });
    for (const { text } of [rest, gql]) expect(text).not.toMatch(/boom|TypeError|\.ts|90F79|pass/);

    const lines = front.logs.take();
    const failures = lines.filter((line) => line.startsWith('error'));
    expect(failures).toHaveLength(2);
    for (const line of failures) {
      expect(line).toContain('"correlationId":"my-request-1"');
      expect(line).toMatch(/boom for 0x\[address\] from \[ip\] with Bearer \[key\]/);
      expect(line).toContain('crash.test.ts');
    }
    for (const line of lines) expect(line).not.toMatch(/90F79|203\.0\.113|SSSS|user:pass/);
  });

  test('behavior: unaffected requests continue', async () => {
    front = await startTestGateway({ services: { composed: crash } });
    const { body } = await front.graphql('{chains{name} stableIndex{freshness{status}} strategies{totalCount}}');
    expect(body.errors).toHaveLength(1);
    expect((await front.send('/v1/prices')).status).toBe(200);
  });
});

describe('log lines of requests', () => {
  test('default: every line of a request has its id, and none has a key, an address or a client', async () => {
    front = await startTestGateway({ env: { TRUSTED_PROXIES: '1', RATE_LIMIT_ANONYMOUS: '40' } });
    const { send, graphql } = front;
    const wallet = `0x${'ab'.repeat(20)}`;
    const own = { 'x-forwarded-for': '198.51.100.23' };
    const requested: (readonly [path: string, headers: Record<string, string>])[] = [
      [`/v1/partner/positions/${wallet}`, PARTNER_KEY],
      [`/v1/partner/positions/${wallet}`, { authorization: `Bearer ${SECRET}` }],
      [`/v1/partner/positions/${wallet}zz`, PARTNER_KEY],
      [`/v1/prices/ohlcv?token=${wallet}`, {}],
      [`/v1/nowhere/${wallet}?key=${SECRET}`, {}],
      [`/graphql?query={wallet(address:"${wallet}" chainIds:[1]){chainIds}}`, PARTNER_KEY],
      [`/graphql?query={token(address:"${wallet}" chainId:1){name}}`, {}],
      [`/graphql?query={nothing(of:"${SECRET}")}`, {}],
      ['/v1/prices', { authorization: `Basic ${SECRET}` }],
    ];
    for (const [path, headers] of requested) await send(path, { headers: { ...own, ...headers } });
    await graphql(`mutation{${SECRET}}`, { headers: own });
    for (let i = 0; i < 50; i += 1) await send('/v1/prices', { headers: own });
    const lines = front.logs.take();
    expect(lines.length).toBeGreaterThan(requested.length);
    for (const line of lines) {
      expect(line).toMatch(/"correlationId":"[\w-]{8,64}"/);
      expect(line).not.toMatch(/(?:ab){6}|SSSS|front-partner|198\.51\.100|127\.0\.0\.1/i);
    }
  });
});
