import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { marketParams, tokenContract } from '../../../../../devnet/chain/deploy.ts';
import { untouchedAccounts } from '../../../../../devnet/seed/accounts.ts';
import { makeCertificates } from '../../../../../test/redis/certificates.ts';
import { type Json, OPS, PARTNER, startService, type TestService } from '../../../../../test/support/service.ts';
import { morphoBlueAbi } from '../../../../abi/morpho-blue.ts';
import { MARKET, OWNER, REFUSED_INPUTS } from './refused-inputs.ts';

const LIQUIDATOR = untouchedAccounts[0]?.address ?? OWNER;
const UNKNOWN_ID = '00000000-0000-4000-8000-0000000000ff';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const create = async (body: object, headers: Record<string, string> = PARTNER) =>
  service.post(
    '/v1/partner/alerts',
    { chainId: 1, webhookUrl: `${service.world.receiver.url}/hook`, ...body },
    headers,
  );
const alertOf = async (id: string): Promise<Json> =>
  (await service.get(`/v1/partner/alerts/${id}`, PARTNER)).body.alert;
const remove = (id: string) =>
  fetch(`${service.url}/v1/partner/alerts/${id}`, { method: 'DELETE', headers: PARTNER }).then((answer) =>
    answer.json(),
  );
const eventsOf = async (id: string): Promise<Json[]> =>
  (await service.get(`/v1/partner/alerts/deliveries?alertId=${id}`, PARTNER)).body.deliveries;
/** Webhooks of an alert that the receiver of the world has taken. */
const webhooksOf = (id: string) =>
  service.world.receiver.received().filter(({ headers }) => headers['x-spiral-alert-id'] === id);
const positionOf = async (): Promise<Json> =>
  (await service.get(`/v1/partner/positions/${OWNER}?chainId=1`, PARTNER)).body.positions.find(
    ({ status }: Json) => status === 'open',
  );

describe('the local world', () => {
  test('two seeded alerts have fired and were delivered, others are armed, and one event was given up', async () => {
    await service.refresh('alerts', 'alert-deliveries');
    const { body } = await service.get('/v1/partner/alerts', PARTNER);
    expect(body).toMatchObject({ count: 4, next: null });
    expect(body.alerts.map(({ condition, status }: Json) => [condition, status])).toEqual([
      ['headroom_below', 'firing'],
      ['paused', 'armed'],
      ['liquidity_below', 'armed'],
      ['apy_below', 'firing'],
    ]);
    const firing = body.alerts.at(-1);
    expect(webhooksOf(body.alerts[0].id)).toHaveLength(1);
    expect(webhooksOf(firing.id)).toHaveLength(1);
    const dead = await service.get('/v1/partner/alerts/deliveries?status=dead', PARTNER);
    expect(dead.body.deliveries).toMatchObject([{ alertId: firing.id, status: 'dead', failure: 'unreachable' }]);
  });
});

describe('an alert on a position', () => {
  test('fires when the oracle falls, is over when it has recovered, and each webhook is signed', async () => {
    const { positionId, ltvHeadroomPct } = await positionOf();
    const positionIndex = Number(positionId.split('-')[2]);
    const threshold = (Number(ltvHeadroomPct) - 1).toFixed(2);
    const { body, status } = await create({ wallet: OWNER, positionIndex, condition: 'headroom_below', threshold });
    expect(status).toBe(200);
    const { id } = body.alert;
    expect(body.secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(body.alert).toMatchObject({ subject: 'position', positionIndex, status: 'unknown', value: null });
    await service.refresh('alerts');
    expect(await alertOf(id)).toMatchObject({ status: 'armed', value: ltvHeadroomPct });

    const chain = service.world.chains.on(1);
    const market = chain.chain.markets.find((one) => one.id === positionId.split('-')[1]);
    if (!market) throw new Error('the position has no market');
    const price = await chain.oraclePrice(market);
    await chain.moveOracle(market, '-2');
    service.clock.advance(1_000);
    await service.refresh('lending-state:1', 'alerts', 'alert-deliveries');
    const below = (await positionOf()).ltvHeadroomPct;
    expect(await alertOf(id)).toMatchObject({ status: 'firing', value: below });
    // A further evaluation of the same values sends nothing.
    await service.refresh('lending-state:1', 'alerts', 'alert-deliveries');
    await chain.setOraclePrice(market, price);
    service.clock.advance(1_000);
    await service.refresh('lending-state:1', 'alerts', 'alert-deliveries');

    const received = webhooksOf(id);
    expect(received.map(({ headers }) => headers['x-spiral-event-type'])).toEqual(['alert.fired', 'alert.cleared']);
    for (const webhook of received) {
      const [, timestamp, version, signature] =
        /^t=(\d+),k=(\d+),v1=([0-9a-f]{64})$/.exec(webhook.headers['x-spiral-signature'] ?? '') ?? [];
      const expected = createHmac('sha256', body.secret).update(`${timestamp}.${webhook.body}`).digest('hex');
      expect([version, signature]).toEqual(['1', expected]);
    }
    const [fired] = received.map((webhook) => JSON.parse(webhook.body));
    expect(fired).toMatchObject({
      type: 'alert.fired',
      value: below,
      status: 'firing',
      alert: { id, condition: 'headroom_below', wallet: OWNER, positionIndex, threshold, unit: 'pct' },
    });
    expect(fired.id).toBe(received[0]?.headers['x-spiral-event-id']);
  });

  test('of a wallet fires for its smallest headroom', async () => {
    const { body } = await create({ wallet: OWNER, condition: 'headroom_below', threshold: '100' });
    await service.refresh('alerts');
    const { body: positions } = await service.get(`/v1/partner/positions/${OWNER}?chainId=1`, PARTNER);
    const headrooms = positions.positions.flatMap(({ status, ltvHeadroomPct }: Json) =>
      status === 'open' ? [Number(ltvHeadroomPct)] : [],
    );
    expect(Number((await alertOf(body.alert.id)).value)).toBe(Math.min(...headrooms));
    await remove(body.alert.id);
  });
});

describe('stale values', () => {
  test('fire the condition "stale" and no threshold', async () => {
    const on = { strategyId: MARKET };
    const stale = (await create({ ...on, condition: 'stale' })).body.alert.id;
    const apy = (await create({ ...on, condition: 'apy_below', threshold: '-1000' })).body.alert.id;
    await service.refresh('lending-state:1', 'prices', 'deployment:1', 'alerts');
    expect([(await alertOf(stale)).status, (await alertOf(apy)).status]).toEqual(['armed', 'armed']);
    const late = (await create({ ...on, condition: 'liquidity_below', threshold: '1000000000' })).body.alert.id;
    service.clock.advance(901_000);
    await service.refresh('alerts');
    expect([(await alertOf(stale)).status, (await alertOf(late)).status]).toEqual(['firing', 'unknown']);
    await service.world.chains.on(1).increaseTime(901);
    await service.refresh('lending-state:1', 'prices', 'deployment:1', 'alerts');
    expect([(await alertOf(stale)).status, (await alertOf(late)).status]).toEqual(['armed', 'firing']);
    for (const id of [stale, apy, late]) await remove(id);
  });
});

describe('managing alerts', () => {
  test('the secret is shown once, and lists have pages', async () => {
    const ids: string[] = [];
    for (const threshold of ['1', '2', '3']) {
      ids.unshift(
        (await create({ strategyId: MARKET, condition: 'apy_below', threshold, label: threshold })).body.alert.id,
      );
    }
    const first = (await service.get('/v1/partner/alerts?limit=2', PARTNER)).body;
    expect(first.alerts.map(({ id }: Json) => id)).toEqual(ids.slice(0, 2));
    expect(JSON.stringify(first)).not.toContain('whsec_');
    const second = (await service.get(`/v1/partner/alerts?limit=2&after=${first.next}`, PARTNER)).body;
    expect(second.alerts[0].id).toBe(ids[2]);
    expect(await remove(ids[0] ?? '')).toEqual({ id: ids[0], deleted: true });
    expect(await remove(ids[0] ?? '')).toEqual({ id: ids[0], deleted: false });
    expect((await service.get(`/v1/partner/alerts/${ids[0]}`, PARTNER)).status).toBe(404);
    for (const id of ids) await remove(id);
  });

  test('alerts of another key are not there', async () => {
    const { id } = (await create({ strategyId: MARKET, condition: 'paused' })).body.alert;
    for (const [path, method] of [
      [`/v1/partner/alerts/${id}`, 'GET'],
      [`/v1/partner/alerts/${id}/ping`, 'POST'],
    ] as const) {
      expect((await fetch(`${service.url}${path}`, { method, headers: OPS })).status).toBe(404);
    }
    const gone = await fetch(`${service.url}/v1/partner/alerts/${id}`, { method: 'DELETE', headers: OPS });
    expect(await gone.json()).toEqual({ id, deleted: false });
    expect((await service.get('/v1/partner/alerts', OPS)).body.count).toBe(0);
    expect((await service.get('/v1/partner/alerts')).status).toBe(401);
    await remove(id);
  });

  test('a ping is delivered, and an event can be delivered again', async () => {
    const { id } = (await create({ strategyId: MARKET, condition: 'paused' })).body.alert;
    const { body } = await service.post(`/v1/partner/alerts/${id}/ping`, {}, PARTNER);
    expect(body.delivery).toMatchObject({ alertId: id, type: 'ping', status: 'pending', attempts: 0 });
    await service.refresh('alert-deliveries');
    expect(await eventsOf(id)).toMatchObject([{ id: body.delivery.id, status: 'delivered', httpStatus: 204 }]);
    const again = await service.post(`/v1/partner/alerts/deliveries/${body.delivery.id}/redeliver`, {}, PARTNER);
    expect(again.body.delivery).toMatchObject({ id: body.delivery.id, status: 'pending', attempts: 0 });
    await service.refresh('alert-deliveries');
    const sent = webhooksOf(id);
    expect(sent.map(({ body: text }) => text)).toEqual([sent[0]?.body, sent[0]?.body]);
    await remove(id);
  });
});

describe('a receiver with a wrong certificate', () => {
  test('error: the record of the attempt names it, and the event waits for its next one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spiral-gateway-receiver-'));
    const { path } = makeCertificates(folder);
    const receiver = createServer({ cert: readFileSync(path('ca.pem')), key: readFileSync(path('ca.key')) });
    receiver.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = receiver.address() as AddressInfo;
      const webhookUrl = `https://127.0.0.1:${port}/hook`;
      const { id } = (await create({ strategyId: MARKET, condition: 'paused', webhookUrl })).body.alert;
      await service.post(`/v1/partner/alerts/${id}/ping`, {}, PARTNER);
      await service.refresh('alert-deliveries');
      expect(await eventsOf(id)).toMatchObject([
        { type: 'ping', status: 'pending', attempts: 1, httpStatus: null, failure: 'certificate_self_signed' },
      ]);
      await remove(id);
    } finally {
      await new Promise((resolve) => receiver.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('input', () => {
  test.each(REFUSED_INPUTS)('error: %s', async (_name, body, field, message) => {
    const { status, body: answer } = await create({ condition: 'paused', ...body });
    expect([status, answer.error.details.field]).toEqual([400, field]);
    expect(answer.error.message).toMatch(message);
    expect(answer.error.message).not.toContain('a:b');
  });

  test('error: ids that are not there', async () => {
    expect((await service.get(`/v1/partner/alerts/${UNKNOWN_ID}`, PARTNER)).status).toBe(404);
    expect((await service.get('/v1/partner/alerts/x', PARTNER)).status).toBe(400);
    const again = await service.post(`/v1/partner/alerts/deliveries/${UNKNOWN_ID}/redeliver`, {}, PARTNER);
    expect([again.status, again.body.error.details.resource]).toEqual([404, 'alertEvent']);
  });

  test('error: more alerts than the limit', async () => {
    await service.restart({ ALERTS_PER_KEY: '3' });
    const { status, body } = await create({ strategyId: MARKET, condition: 'paused' });
    expect([status, body.error.details.limit]).toEqual([400, { maxAlerts: 3 }]);
    await service.restart();
  });
});

describe('a position that is liquidated', () => {
  test('of a part fires and of the rest again, and its headroom ends and is not over', async () => {
    const { positionId, explorerLinks } = await positionOf();
    const proxy = explorerLinks.proxy.split('/').at(-1);
    const [, marketId, index] = positionId.split('-');
    const positionIndex = Number(index);
    const liquidated = (await create({ wallet: OWNER, condition: 'liquidated' })).body.alert.id;
    const on = { wallet: OWNER, positionIndex };
    const headroom = (await create({ ...on, condition: 'headroom_below', threshold: '100' })).body.alert.id;
    await service.refresh('lending-state:1', 'position-history:1', 'alerts');
    expect(await alertOf(headroom)).toMatchObject({ status: 'firing' });
    const { status, value } = await alertOf(liquidated);
    expect([status, value]).toEqual(['armed', '0']);

    const chain = service.world.chains.on(1);
    const market = chain.chain.markets.find(({ id }) => id === marketId);
    if (!market) throw new Error('the position has no market');
    const { morphoBlue } = chain.chain.contracts;
    await chain.mint(market.loan, LIQUIDATOR, 10n ** 30n);
    const token = tokenContract(chain.chain, market.loan);
    await chain.call(LIQUIDATOR, market.loan.address, token, 'approve', [morphoBlue, 10n ** 30n]);
    const collateralOf = async () => {
      const read = { address: morphoBlue, abi: morphoBlueAbi, functionName: 'position' } as const;
      return (await chain.client.readContract({ ...read, args: [market.id, proxy] }))[2];
    };
    /** Let the oracle fall, and have a part of the collateral seized. */
    const liquidate = async (movePercent: string, divisor: bigint) => {
      await chain.moveOracle(market, movePercent);
      const seized = (await collateralOf()) / divisor;
      await chain.call(LIQUIDATOR, morphoBlue, 'Morpho', 'liquidate', [marketParams(market), proxy, seized, 0n, '0x']);
      service.clock.advance(1_000);
      await service.refresh('lending-state:1', 'position-history:1', 'alerts', 'alert-deliveries');
    };
    const bodiesOf = (id: string): Json[] => webhooksOf(id).map(({ body }) => JSON.parse(body));
    await liquidate('-15', 4n);
    expect(await alertOf(liquidated)).toMatchObject({ status: 'firing', value: '1' });
    expect((await positionOf()).positionId).toBe(positionId);
    await liquidate('-60', 1n);
    expect(await alertOf(liquidated)).toMatchObject({ status: 'firing', value: '2' });
    const liquidations = bodiesOf(liquidated);
    expect(liquidations).toMatchObject([
      { type: 'alert.fired', value: '1', liquidation: { positionIndex, basis: 'event' } },
      { type: 'alert.fired', value: '2', liquidation: { positionIndex, basis: 'event' } },
    ]);
    const { body: history } = await service.get(`/v1/partner/positions/${OWNER}/${positionIndex}/history`, PARTNER);
    const seizures = history.events.filter(({ kind }: Json) => kind === 'liquidated');
    expect(liquidations.map(({ liquidation }) => liquidation.txHash)).toEqual(
      seizures.map(({ txHash }: Json) => txHash),
    );
    expect(await alertOf(headroom)).toMatchObject({ status: 'not_applicable', value: null });
    expect(bodiesOf(headroom).map(({ type }) => type)).toEqual(['alert.fired', 'alert.ended']);
    for (const id of [liquidated, headroom]) await remove(id);
  });
});
