import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyWebhook } from '../../../../../packages/client/src/verify-webhook.ts';
import { type Json, OPS, PARTNER, startService, type TestService } from '../../../../../test/support/service.ts';
import { MARKET } from './refused-inputs.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** More than a test leaves at any time, and few enough to reach it. */
const ALERTS_PER_KEY = 20;
const UNKNOWN_ID = '00000000-0000-4000-8000-0000000000ff';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { ALERTS_PER_KEY: String(ALERTS_PER_KEY) } });
});
afterAll(() => service?.stop());

const bodyOf = (over: object = {}) => ({
  chainId: 1,
  strategyId: MARKET,
  condition: 'apy_below',
  threshold: '-1000',
  webhookUrl: `${service.world.receiver.url}/hook`,
  ...over,
});
const create = (over: object = {}, headers: Record<string, string> = {}) =>
  service.post('/v1/partner/alerts', bodyOf(over), { ...PARTNER, ...headers });
const remove = (id: string) => fetch(`${service.url}/v1/partner/alerts/${id}`, { method: 'DELETE', headers: PARTNER });
const count = async () => (await service.get('/v1/partner/alerts', PARTNER)).body.count;
/** Send a test event; returns its webhook. */
const ping = async (id: string) => {
  const { body } = await service.post(`/v1/partner/alerts/${id}/ping`, {}, PARTNER);
  await service.refresh('alert-deliveries');
  const webhook = service.world.receiver
    .received()
    .find(({ headers }) => headers['x-spiral-event-id'] === body.delivery.id);
  if (!webhook) throw new Error('the webhook was not received');
  return webhook;
};

describe('the rotation of a secret', () => {
  const rotate = (id: string, query = '', headers = PARTNER) =>
    service.post(`/v1/partner/alerts/${id}/rotate-secret${query}`, {}, headers);
  /** Which of these secrets verify a webhook of the alert now. */
  const accepted = async (id: string, secrets: readonly string[]) => {
    const webhook = await ping(id);
    const input = { body: webhook.body, signature: webhook.headers['x-spiral-signature'], nowMs: service.clock.now() };
    const verdicts = await Promise.all(
      secrets.map((secret) =>
        verifyWebhook({ ...input, secret }).then(
          () => true,
          () => false,
        ),
      ),
    );
    return { verdicts, versions: webhook.headers['x-spiral-signature']?.match(/k=\d+/g) };
  };

  test('default: both secrets sign until the overlap is over, then the new one only', async () => {
    const { alert, secret } = (await create()).body;
    expect([alert.secretVersion, alert.earlierSecretsEndAt]).toEqual([1, null]);
    expect(await accepted(alert.id, [secret])).toEqual({ verdicts: [true], versions: ['k=1'] });
    const { status, body } = await rotate(alert.id, '?overlapSec=3600');
    const until = new Date(service.clock.now() + HOUR_MS).toISOString();
    expect([status, body.alert.secretVersion, body.alert.earlierSecretsEndAt]).toEqual([200, 2, until]);
    expect(body.secret).toMatch(/^whsec_[\w-]{43}$/);
    const both = [secret, body.secret];
    expect(await accepted(alert.id, both)).toEqual({ verdicts: [true, true], versions: ['k=2', 'k=1'] });
    service.clock.advance(HOUR_MS - 1_000);
    expect((await accepted(alert.id, both)).verdicts).toEqual([true, true]);
    service.clock.advance(1_000);
    expect(await accepted(alert.id, both)).toEqual({ verdicts: [false, true], versions: ['k=2'] });
    const { body: after } = await service.get(`/v1/partner/alerts/${alert.id}`, PARTNER);
    expect(after.alert).toMatchObject({ secretVersion: 2, earlierSecretsEndAt: null });
    expect(JSON.stringify(after)).not.toContain('whsec_');
    await remove(alert.id);
  });

  test('behavior: a repeated rotation keeps the secret that the receiver has, and 0 ends all earlier ones', async () => {
    const { alert, secret } = (await create()).body;
    // The answer of the first rotation was lost.
    await rotate(alert.id);
    const again = (await rotate(alert.id)).body;
    expect((await accepted(alert.id, [secret, again.secret])).verdicts).toEqual([true, true]);
    const last = (await rotate(alert.id, '?overlapSec=0')).body;
    expect(await accepted(alert.id, [secret, again.secret, last.secret])).toEqual({
      verdicts: [false, false, true],
      versions: ['k=4'],
    });
    await remove(alert.id);
  });

  test('behavior: an event that waits for its next attempt is signed with the secrets of that time', async () => {
    const { alert } = (await create()).body;
    const { body } = await service.post(`/v1/partner/alerts/${alert.id}/ping`, {}, PARTNER);
    const rotated = (await rotate(alert.id, '?overlapSec=0')).body;
    await service.refresh('alert-deliveries');
    const webhook = service.world.receiver
      .received()
      .find(({ headers }) => headers['x-spiral-event-id'] === body.delivery.id);
    expect(webhook?.headers['x-spiral-signature']).toMatch(/^t=\d+,k=2,v1=[0-9a-f]{64}$/);
    expect(rotated.alert.secretVersion).toBe(2);
    await remove(alert.id);
  });

  test('default: GraphQL takes a day unless told otherwise', async () => {
    const { alert } = (await create()).body;
    const { body } = await service.graphql(
      'mutation ($id: String!) { rotateAlertSecret(alertId: $id) { secret alert { secretVersion earlierSecretsEndAt } } }',
      { id: alert.id },
      PARTNER,
    );
    expect(body.data.rotateAlertSecret).toEqual({
      secret: expect.stringMatching(/^whsec_/),
      alert: { secretVersion: 2, earlierSecretsEndAt: new Date(service.clock.now() + DAY_MS).toISOString() },
    });
    await remove(alert.id);
  });

  test('error: an unknown alert, one of another key, an overlap out of its range, and too many secrets', async () => {
    const { alert } = (await create()).body;
    expect((await rotate(UNKNOWN_ID)).status).toBe(404);
    expect((await rotate(alert.id, '', OPS)).status).toBe(404);
    for (const overlapSec of ['-1', '604801', '1.5', 'x']) {
      const { status, body } = await rotate(alert.id, `?overlapSec=${overlapSec}`);
      expect([status, body.error.details.field]).toEqual([400, 'query.overlapSec']);
    }
    for (let i = 0; i < 4; i += 1) expect((await rotate(alert.id)).status).toBe(200);
    const { status, body } = await rotate(alert.id);
    expect([status, body.error.details]).toEqual([
      400,
      { field: 'query.overlapSec', value: '5', limit: { maxSecrets: 5 } },
    ]);
    expect((await rotate(alert.id, '?overlapSec=0')).status).toBe(200);
    await remove(alert.id);
  });
});

describe('a registration under an idempotency key', () => {
  const keyed = (key: string) => ({ 'idempotency-key': key });

  test('default: a repeated request has the same alert and secret, and makes no second alert', async () => {
    const before = await count();
    const first = (await create({}, keyed('key-1'))).body;
    // The same registration in other words.
    const again = await create({ threshold: '-1000.0', label: ' ' }, keyed('key-1'));
    expect([again.status, again.body]).toEqual([200, first]);
    const { body } = await service.graphql(
      'mutation ($chainId: ChainId!, $input: CreateAlertInput!) { createAlert(chainId: $chainId, input: $input) { secret alert { alertId } } }',
      { chainId: 1, input: { ...bodyOf(), chainId: undefined, condition: 'APY_BELOW', idempotencyKey: 'key-1' } },
      PARTNER,
    );
    expect(body.data.createAlert).toEqual({ secret: first.secret, alert: { alertId: first.alert.id } });
    expect(await count()).toBe(before + 1);
    await remove(first.alert.id);
  });

  test('behavior: the state of the alert is the one of the repeated request', async () => {
    const stale = { condition: 'stale', threshold: undefined };
    const first = (await create(stale, keyed('key-0'))).body.alert;
    // Facts grow old.
    service.clock.advance(HOUR_MS);
    await service.refresh('alerts');
    const again = (await create(stale, keyed('key-0'))).body.alert;
    expect([first.status, again.status, again.id]).toEqual(['unknown', 'firing', first.id]);
    await remove(first.id);
  });

  test('behavior: many requests at once make one alert', async () => {
    const before = await count();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({}, keyed('key-2'))));
    expect(new Set(answers.map(({ body }) => `${body.alert.id} ${body.secret}`)).size).toBe(1);
    expect(await count()).toBe(before + 1);
    await remove(answers[0]?.body.alert.id);
  });

  test('behavior: another key of a partner has keys of its own, and without one each request makes an alert', async () => {
    const [one, other] = [
      (await create({}, keyed('key-3'))).body.alert.id,
      (await create({}, { ...keyed('key-3'), ...OPS })).body.alert.id,
    ];
    const plain = [(await create()).body.alert.id, (await create()).body.alert.id];
    expect(new Set([one, other, ...plain]).size).toBe(4);
    for (const id of [one, ...plain]) await remove(id);
    await fetch(`${service.url}/v1/partner/alerts/${other}`, { method: 'DELETE', headers: OPS });
  });

  const refusal = async (over: object, key: string) => {
    const { status, body } = await create(over, keyed(key));
    return { status, code: body.error?.code, details: body.error?.details };
  };
  const conflict = (key: string, id: string, reason: string) => ({
    status: 409,
    code: 'conflict',
    details: { field: 'headers.idempotency-key', value: key, resource: 'alert', id, reason },
  });

  test.each<[string, object]>([
    ['another threshold', { threshold: '-1001' }],
    ['another label', { label: 'other' }],
    ['another receiver', { webhookUrl: 'http://127.0.0.1:1/other' }],
    ['another condition', { condition: 'paused', threshold: undefined }],
  ])('error: conflict for %s under the same key', async (_name, over) => {
    const { id } = (await create({}, keyed('key-4'))).body.alert;
    expect(await refusal(over, 'key-4')).toEqual(conflict('key-4', id, 'other_request'));
    await remove(id);
    // A deleted alert is not made again by a late repetition.
    expect(await refusal({}, 'key-4')).toEqual(conflict('key-4', id, 'deleted'));
    service.clock.advance(DAY_MS + 1_000);
    await service.refresh('housekeeping');
  });

  test('error: conflict after a rotation, and a day later, because the secret is shown no more', async () => {
    const rotated = (await create({}, keyed('key-5'))).body.alert.id;
    await service.post(`/v1/partner/alerts/${rotated}/rotate-secret`, {}, PARTNER);
    expect(await refusal({}, 'key-5')).toEqual(conflict('key-5', rotated, 'secret_shown'));
    const old = (await create({}, keyed('key-6'))).body.alert.id;
    service.clock.advance(DAY_MS - 1_000);
    expect((await create({}, keyed('key-6'))).body.alert.id).toBe(old);
    service.clock.advance(1_000);
    expect(await refusal({}, 'key-6')).toEqual(conflict('key-6', old, 'secret_shown'));
    for (const id of [rotated, old]) await remove(id);
  });

  test('behavior: at the limit of alerts a repeated request is answered all the same', async () => {
    const first = (await create({}, keyed('key-7'))).body;
    const others: string[] = [];
    for (let left = ALERTS_PER_KEY - (await count()); left > 0; left -= 1) others.push((await create()).body.alert.id);
    expect((await create()).status).toBe(400);
    expect((await create({}, keyed('key-7'))).body).toEqual(first);
    for (const id of [first.alert.id, ...others]) await remove(id);
  });

  test.each(['', ' ', 'a b', 'a'.repeat(256)])('error: the key "%s"', async (key) => {
    const { status, body } = await create({}, keyed(key));
    const { field } = body.error?.details ?? {};
    expect([status, field]).toEqual([400, 'headers.idempotency-key']);
  });

  test('error: a key with other characters in GraphQL', async () => {
    const { body } = await service.graphql(
      'mutation ($chainId: ChainId!, $input: CreateAlertInput!) { createAlert(chainId: $chainId, input: $input) { secret } }',
      { chainId: 1, input: { ...bodyOf(), chainId: undefined, condition: 'APY_BELOW', idempotencyKey: 'ü' } },
      PARTNER,
    );
    const [error] = body.errors as Json[];
    expect(error?.extensions).toMatchObject({ code: 'bad_request', details: { field: 'input.idempotencyKey' } });
  });
});
