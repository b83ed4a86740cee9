import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { expectEnvelope, SUSDE_PYUSD } from '../known.ts';
import { differences, observe } from '../observe.ts';

/*
 * Data dated in the future: a chain whose blocks are a day ahead for a while, a provider with a row dated years ahead. It is
 * not shown, current data is not refused because of it, and all recovers with the source.
 */

const READS = ['/v1/strategies', '/v1/app/markets'];
const HISTORY = `/v1/collateral/${SUSDE_PYUSD}/apy-history`;
const DAY_SEC = 86_400;
let service: TestService;

beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

const chain = () => service.world.chains.on(1);
const simulate = () =>
  service.post(
    '/v1/partner/leverage/simulate',
    { strategyId: SUSDE_PYUSD, payToken: chain().market(SUSDE_PYUSD).collateral.address, amount: '1000', leverage: 2 },
    PARTNER,
  );

describe('a block a day ahead of our clock', () => {
  test('is not published, refuses builds, does not survive a restart, and does not block present blocks', async () => {
    service.clock.advance(60_000);
    await service.refresh('lending-state:1', 'lending-state:4663');
    expect((await simulate()).status).toBe(200);
    const before = await observe(service, READS);
    const now = await chain().snapshot();

    await chain().increaseTime(DAY_SEC);
    service.clock.advance(60_000);
    await service.refresh('lending-state:1', 'collateral-apy-onchain:1', 'tvl:1');
    const during = await observe(service, READS);
    expect(during.statuses).toEqual([200, 200]);
    expect(differences(before.answers, during.answers)).toEqual([]);
    for (const group of ['1 lendingState', '1 oracle']) {
      const row = during.groups.get(group);
      expect([group, row?.asOf, row?.status]).toEqual([group, before.groups.get(group)?.asOf, 'FAILING']);
      expect(row?.failing[0]?.reason).toBe('implausible');
    }
    const refused = expectEnvelope(await simulate(), 503, 'upstream_unavailable');
    expect(refused.details).toMatchObject({ provider: 'chain', reason: 'implausible' });

    await service.restart();
    const restarted = await observe(service, READS);
    for (const group of ['1 lendingState', '1 oracle']) {
      expect([group, restarted.groups.get(group)?.asOf]).toEqual([group, before.groups.get(group)?.asOf]);
    }
    const ofBlock = (line: string) =>
      /\.(borrowApyPct|liquidityUsd|utilizationPct|freshness\.borrow\.asOf): /.test(line);
    expect(differences(before.answers, restarted.answers).filter(ofBlock)).toEqual([]);

    await chain().revert(now);
    await chain().increaseTime(60);
    await service.refresh('lending-state:1', 'collateral-apy-onchain:1', 'tvl:1');
    const after = await observe(service, READS);
    for (const group of ['1 lendingState', '1 oracle']) {
      const row = after.groups.get(group);
      expect([group, row?.status, row?.failing]).toEqual([group, 'FRESH', []]);
      expect(Date.parse(row?.asOf ?? '')).toBeLessThanOrEqual(service.clock.now());
      expect(Date.parse(row?.asOf ?? '')).toBeGreaterThan(Date.parse(before.groups.get(group)?.asOf ?? ''));
    }
    expect((await service.get('/ready')).status).toBe(200);
    expect((await simulate()).status).toBe(200);
  });
});

describe('a clock that is set back by an hour', () => {
  test('is not ready and refuses builds until the next measurement', async () => {
    await service.refresh('lending-state');
    expect((await service.get('/ready')).status).toBe(200);
    service.clock.advance(-3_600_000);
    const ready = await service.get('/ready');
    expect([ready.status, ready.body.chains[0].waitingFor]).toEqual([503, ['lendingState', 'oracle']]);
    expectEnvelope(await simulate(), 503, 'not_ready');
    service.clock.advance(3_600_000);
    expect((await service.get('/ready')).status).toBe(200);
  });
});

describe('a row of the future in a chart', () => {
  test.each([
    ['defillama-yields', 'collateral-apy-aggregator:1'],
    ['stablewatch', 'stable-index'],
    ['royco', 'collateral-apy-incentivemarket'],
    ['morpho', 'borrow-history'],
  ] as const)('%s: the history continues without it', async (provider, warmer) => {
    await service.refresh(warmer);
    const before = await observe(service, ['/v1/strategies', HISTORY]);
    service.world.upstreams.faults.set(provider, { kind: 'future' });
    await service.refresh(warmer);
    const during = await observe(service, ['/v1/strategies', HISTORY]);
    expect(differences(before.answers, during.answers).filter((line) => !line.includes('.asOf: '))).toEqual([]);
    service.world.upstreams.faults.clear();
    await service.refresh(warmer);
    const after = await observe(service, ['/v1/strategies', HISTORY]);
    expect(differences(before.answers, after.answers).filter((line) => !line.includes('.asOf: '))).toEqual([]);
  });
});

describe('prices that their providers no longer update', () => {
  test('age at every refresh, and are current again with the first new one', async () => {
    await service.refresh('lending-state:1', 'prices');
    const before = await service.get('/v1/prices');
    expect(before.body.stale).toBe(false);
    const lastReadMs = service.clock.now();
    const frozen = { kind: 'frozen' } as const;
    service.world.upstreams.faults.set('coingecko', frozen);
    service.world.upstreams.faults.set('defillama-coins', frozen);
    service.clock.advance(20 * 60_000);
    await chain().increaseTime(20 * 60);
    await service.refresh('lending-state:1', 'prices');
    const during = await service.get('/v1/prices');
    expect([during.status, during.body.stale]).toEqual([200, true]);
    expect(Date.parse(during.body.asOf)).toBeLessThanOrEqual(lastReadMs);
    const strategies = await service.get('/v1/strategies');
    expect(strategies.body.strategies[0].inputFreshness.prices.staleForSec).toBeGreaterThan(0);

    service.world.upstreams.faults.clear();
    service.clock.advance(60_000);
    await service.refresh('prices');
    const after = await service.get('/v1/prices');
    expect(after.body.stale).toBe(false);
    expect(Date.parse(after.body.asOf)).toBeGreaterThan(Date.parse(before.body.asOf));
  });
});
