import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../../src/database/client.ts';
import { createKeyAdmin } from '../../../src/keys/admin.ts';
import { runKeysCli } from '../../../src/keys/cli.ts';
import { VERDICT_TTL_MS } from '../../../src/keys/verify-key.ts';
import { captureLogs } from '../../support/log-capture.ts';
import { type Answer, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';

const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const PATH = `/v1/partner/positions/${WALLET}`;
const QUERY = `{wallet(address:"${WALLET}" chainIds:[1]){chainIds}}`;
const DAY_MS = 86_400_000;

let service: TestService;
let db: Database;
const logs = captureLogs();
beforeAll(async () => {
  service = await startService({ logger: logs.logger });
  const url = service.world.overrides.env.DATABASE_URL ?? '';
  db = createDatabase({ url, poolSize: 2, statementTimeoutMs: 5_000 });
});
afterAll(async () => {
  await db?.destroy();
  await service?.stop();
});

/** Run the command as an operator does, beside the running service. @returns the key that it shows, if any */
async function keys(...argv: string[]): Promise<string> {
  let out = '';
  const code = await runKeysCli(argv, {
    open: async () => ({ admin: createKeyAdmin({ db, clock: service.clock }), close: async () => {} }),
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      throw new Error(text);
    },
  });
  expect(code).toBe(0);
  return /sg_\w+/.exec(out)?.[0] ?? '';
}
const prefixOf = (key: string) => key.split('_')[2] ?? '';
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const rest = (key: string) => service.get(PATH, bearer(key));
const gql = (key: string) => service.graphql(QUERY, {}, bearer(key));
const statuses = async (key: string) => [(await rest(key)).status, (await gql(key)).status];
const forget = () => service.clock.advance(VERDICT_TTL_MS + 1);

describe('a key from its issue to its end, over HTTP', () => {
  test('default: issues, rotates with an overlap, revokes', async () => {
    const first = await keys('issue', '--tier', 'partner', '--label', 'Acme');
    expect(await statuses(first)).toEqual([200, 200]);
    const second = await keys('rotate', prefixOf(first), '--overlap', '1h');
    expect([await statuses(first), await statuses(second)]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    service.clock.advance(3_600_001);
    expect([await statuses(first), await statuses(second)]).toEqual([
      [401, 401],
      [200, 200],
    ]);
    await keys('revoke', prefixOf(second));
    forget();
    expect(await statuses(second)).toEqual([401, 401]);
  });

  test('default: a key ends at its expiry', async () => {
    const key = await keys('issue', '--tier', 'partner', '--label', 'Trial', '--expires', '1d');
    expect(await statuses(key)).toEqual([200, 200]);
    service.clock.advance(DAY_MS);
    expect(await statuses(key)).toEqual([401, 401]);
  });

  test('behavior: missing, unknown, malformed, revoked, expired and wrong-tier keys get the same refusal', async () => {
    const revoked = await keys('issue', '--tier', 'partner', '--label', 'Revoked');
    await keys('revoke', prefixOf(revoked));
    const expired = await keys('issue', '--tier', 'partner', '--label', 'Expired', '--expires', '1h');
    service.clock.advance(3_600_001);
    forget();
    const unknown = `${revoked.slice(0, -1)}${revoked.endsWith('0') ? '1' : '0'}`;
    const shown = ({ status, headers, body }: Answer) => {
      const id = (body.error ?? body.errors[0].extensions).correlationId;
      const own = [...headers].filter(([name]) => !['date', 'x-correlation-id'].includes(name));
      return JSON.stringify({ status, own, body }).replaceAll(id, 'ID');
    };
    const refusals = [{}, bearer(''), bearer('x'), bearer(unknown), bearer(revoked), bearer(expired)];
    for (const ask of [
      (headers: Record<string, string>) => service.get(PATH, headers),
      (headers: Record<string, string>) => service.graphql(QUERY, {}, headers),
    ]) {
      const answers = await Promise.all(
        refusals.map(async (headers) => shown(await ask(headers as Record<string, string>))),
      );
      expect([...new Set(answers)].slice(1)).toEqual([]);
      expect(answers[0]).toContain('"status":401');
    }
    // The wrong tier, where there is an ops surface.
    const ops = ['/v1/ops/portfolios'];
    for (const path of ops) {
      const wrongTier = await service.get(path, PARTNER);
      if (wrongTier.status === 404) continue;
      expect(shown(wrongTier)).toBe(shown(await service.get(path, bearer(revoked))));
      expect((await service.get(path, OPS)).status).not.toBe(401);
    }
  });

  test('behavior: logs no key', () => {
    for (const line of logs.take()) expect(line).not.toMatch(/sg_(partner|ops)_[0-9a-z]{8}_|local-partner|local-ops/);
  });
});

test('behavior: /health and /ready have no limit, also with a used-up budget and after 1,400 requests', async () => {
  await service.restart({ RATE_LIMIT_ANONYMOUS: '1' });
  await service.get('/v1/prices');
  expect((await service.get('/v1/prices')).status).toBe(429);
  const ready = (await service.get('/ready')).status;
  const seen = new Set<string>();
  for (let i = 0; i < 700; i += 1) {
    for (const path of ['/health', '/ready']) seen.add(`${path} ${(await service.get(path)).status}`);
  }
  expect([...seen]).toEqual(['/health 200', `/ready ${ready}`]);
});
