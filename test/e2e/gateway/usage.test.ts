import { afterAll, beforeAll, expect, it } from 'vitest';
import { OPS, PARTNER, startService, type TestService } from '../../support/service.ts';

/* The holder of a key sees its own calls, points and refusals, and nobody else's. */

const PATH = '/v1/partner/usage';
const POSITIONS = '/v1/partner/positions/0x90F79bf6EB2c4f870365E785982E1f101E93b906';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_PARTNER: '45' } });
});
afterAll(() => service?.stop());

const usageOf = async (headers: Record<string, string>) => (await service.get(PATH, headers)).body;

it('behavior: a key without calls before this one sees this one', async () => {
  expect(await usageOf(OPS)).toMatchObject({ tier: 'ops', days: [{ calls: 1, points: 10, refusals: 0 }] });
});

it('behavior: calls and points add up, refused calls count, and a restart loses nothing', async () => {
  for (let i = 0; i < 4; i += 1) expect((await service.get(POSITIONS, PARTNER)).status).toBe(200);
  expect((await service.get(POSITIONS, PARTNER)).status).toBe(429);
  service.clock.advance(61_000);
  const day = new Date(service.clock.now()).toISOString().slice(0, 10);
  expect(await usageOf(PARTNER)).toMatchObject({
    tier: 'partner',
    days: [{ day, calls: 6, points: 50, refusals: 1 }],
  });
  await service.restart();
  expect((await usageOf(PARTNER)).days).toEqual([{ day, calls: 7, points: 60, refusals: 1 }]);
});

it('behavior: GraphQL answers the same, and days are apart', async () => {
  service.clock.advance(86_400_000);
  const query = '{ usage(days: 2) { tier fromAt usageDays { startAt callCount spentPoints refusalCount } } }';
  const { body } = await service.graphql<Record<string, { usageDays: unknown[] }>>(query, {}, PARTNER);
  expect(body.data.usage?.usageDays).toMatchObject([
    { callCount: 7, spentPoints: 60, refusalCount: 1 },
    { callCount: 1, refusalCount: 0 },
  ]);
});

it.each([
  ['unauthorized', `${PATH}`, {}, 401],
  ['bad_request', `${PATH}?days=401`, PARTNER, 400],
  ['bad_request', `${PATH}?days=0`, PARTNER, 400],
] as const)('error: %s for %s', async (code, path, headers, status) => {
  const answer = await service.get(path, headers);
  expect([answer.status, answer.body.error.code]).toEqual([status, code]);
});
