import { afterAll, beforeAll, expect, test } from 'vitest';
import { PARTNER, startService, type TestService } from '../../support/service.ts';

const HOUR_MS = 3_600_000;
const POSITIONS = '/v1/partner/positions/0x90F79bf6EB2c4f870365E785982E1f101E93b906';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_PARTNER: '100' } });
});
afterAll(() => service.stop());

/** Public reads, the status, and a keyed read of the chain. */
async function look() {
  const [list, health, ages] = await Promise.all([
    service.get('/v1/strategies'),
    service.get('/health'),
    service.graphql('{ freshness { groups { freshness { ageSec } } } }'),
  ]);
  const groups = ages.body.data.freshness.flatMap((chain: { groups: object[] }) => chain.groups);
  const known = groups.flatMap(
    (group: { freshness: { ageSec: number | null } | null }) => group.freshness?.ageSec ?? [],
  );
  return {
    statuses: [list.status, health.status, ages.status],
    count: list.body.strategies.length,
    youngestSec: Math.min(...known),
    positions: await service.get(POSITIONS, PARTNER),
  };
}

test.each([
  ['a day ahead', 24 * HOUR_MS, 200],
  // Blocks from the future are taken for those of a lying node: what is read from the chain at once is refused, and says so.
  ['an hour back', -HOUR_MS, 503],
  ['a day back', -24 * HOUR_MS, 503],
])(
  'behavior: a clock that jumps %s ends no public read, makes no age negative, and locks no key out',
  async (_name, jumpMs, ofChain) => {
    const before = await look();
    expect([...before.statuses, before.positions.status]).toEqual([200, 200, 200, 200]);
    // The budget of the key is used up before the jump, and free within its window after it.
    for (let i = 0; i < 12; i += 1) await service.get(POSITIONS, PARTNER);
    expect((await service.get(POSITIONS, PARTNER)).status).toBe(429);
    service.clock.advance(jumpMs);
    service.clock.advance(61_000);
    const after = await look();
    expect([...after.statuses, after.positions.status]).toEqual([200, 200, 200, ofChain]);
    if (ofChain === 503)
      expect(after.positions.body.error).toMatchObject({
        code: 'upstream_unavailable',
        details: { provider: 'chain' },
      });
    expect(after.count).toBe(before.count);
    expect(after.youngestSec).toBeGreaterThanOrEqual(0);
    // The clock is right again.
    service.clock.advance(-jumpMs + 61_000);
    await service.refresh();
    const right = await look();
    expect([...right.statuses, right.positions.status]).toEqual([200, 200, 200, 200]);
    expect(right.count).toBe(before.count);
  },
);
