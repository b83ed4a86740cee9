import { afterAll, beforeAll, expect, test } from 'vitest';
import { captureLogs } from '../../support/log-capture.ts';
import { startService, type TestService } from '../../support/service.ts';

const logs = captureLogs();
let service: TestService;
beforeAll(async () => {
  // Every turn takes longer than this.
  service = await startService({ env: { MAX_TURN_WAIT_MS: '1' }, logger: logs.logger });
});
afterAll(() => service.stop());

/** A page that was never asked for, so that no cache has it. */
const page = (i: number) =>
  service.graphql(`{ strategies(first: 20, filter: { minApyPct: "-${50 + i}" }) { nodes { strategyId apyPct } } }`);

/** Many requests over some time: how long a turn takes is known from the first ones. */
async function flood<T>(send: (i: number) => Promise<T>): Promise<T[]> {
  const sent: Promise<T>[] = [];
  for (let i = 0; i < 300; i += 1) {
    sent.push(send(i));
    if (i % 30 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return Promise.all(sent);
}

test('behavior: above the knee new work is refused with the next step, cached answers and status are given, and then all is well', async () => {
  await service.get('/v1/strategies');
  const cached = await service.get('/v1/strategies');
  await page(2_000);
  const flooded = flood(page);
  const meanwhile = await Promise.all([
    service.get('/v1/strategies'),
    service.get('/ready'),
    service.get('/health'),
    ...Array.from({ length: 20 }, () => page(2_000)),
  ]);
  expect(meanwhile.map(({ status }) => status)).toEqual(meanwhile.map(() => 200));
  expect(meanwhile[0]?.text).toBe(cached.text);
  const answers = await flooded;
  const refused = answers.filter(({ status }) => status === 503);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  expect(refused.length).toBeGreaterThan(0);
  for (const { body, headers } of refused) {
    expect(headers.get('retry-after')).toBe('1');
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'not_ready', details: { waitingFor: ['turn'] } });
  }
  expect((await page(1_000)).status).toBe(200);
  const text = logs.take().join('\n');
  expect(text).toContain('warn more requests than can be answered in time: new ones are refused');
  expect(text).toContain('info requests are answered in time again');
});

test('behavior: a refused row of /v1 is the error of the envelope', async () => {
  const strategy = '/v1/strategies/0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
  const rows = await flood((i) => service.get(`${strategy}/stress?equityUsd=${1_000 + i}`));
  const refused = rows.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, body, headers } of refused)
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'not_ready', '1']);
});
