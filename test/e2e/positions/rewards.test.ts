import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';

/* What a position has earned is the record of the provider for the contract that holds it: zero, unknown and an age apart. */

const HOLDER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const QUERY = `query ($address: Address!) { wallet(address: $address) { positions(first: 10) { nodes { chainId proxy rewards {
  entries { tokenAddress symbol decimals accruedAmount claimedAmount pendingAmount } isCollectable freshness { asOf status } gaps { field reason message } } } } } }`;

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
afterAll(() => service?.stop());

async function positions(): Promise<Json[]> {
  const { body } = await service.graphql<Json>(QUERY, { address: HOLDER }, PARTNER);
  expect(body.errors).toBeUndefined();
  return body.data.wallet.positions.nodes;
}
const shown = (units: string) =>
  units
    .padStart(19, '0')
    .replace(/(\d{18})$/, '.$1')
    .replace(/\.?0+$/, '');

it('default: each position has the record of its own contract', async () => {
  const found = await positions();
  expect(found.length).toBeGreaterThan(2);
  for (const { chainId, proxy, rewards } of found) {
    const url = `${service.world.upstreams.urls.merkl}/users/${proxy.toLowerCase()}/rewards?chainId=${chainId}`;
    const recorded: Json[] = (await (await fetch(url)).json()).flatMap(({ rewards: of }: Json) => of);
    const expected = recorded.map(({ token, amount, claimed, pending }) => ({
      tokenAddress: token.address,
      symbol: token.symbol,
      decimals: token.decimals,
      accruedAmount: shown(amount),
      claimedAmount: shown(claimed),
      pendingAmount: shown(pending),
    }));
    expect(rewards.entries).toEqual(expected);
    expect(rewards).toMatchObject({ isCollectable: null, freshness: { status: 'FRESH' } });
    expect(rewards.gaps).toEqual([
      { field: 'isCollectable', reason: 'NOT_MEASURED', message: expect.stringMatching(/no function that collects/) },
    ]);
  }
});

it('behavior: the last record is served with its age while the provider fails, and then it is unknown', async () => {
  const [before] = await positions();
  service.world.upstreams.faults.set('merkl', { kind: 'status', status: 500 });
  service.clock.advance(400_000);
  const [stale] = await positions();
  expect(stale.rewards.entries).toEqual(before.rewards.entries);
  expect(stale.rewards.freshness.asOf).toBe(before.rewards.freshness.asOf);
  service.clock.advance(3_600_000);
  const [unknown] = await positions();
  expect(unknown.rewards).toMatchObject({ entries: null, freshness: null, isCollectable: null });
  expect(unknown.rewards.gaps.map(({ field, reason }: Json) => [field, reason])).toEqual([
    ['entries', 'SOURCE_FAILED'],
    ['freshness', 'SOURCE_FAILED'],
    ['isCollectable', 'NOT_MEASURED'],
  ]);
  service.world.upstreams.faults.clear();
});

it.each([
  ['more claimed than credited', [{ chain: { id: 1 }, rewards: [record({ claimed: '2' })] }]],
  ['an amount that is none', [{ chain: { id: 1 }, rewards: [record({ amount: '-1' })] }]],
  ['no pending amount', [{ chain: { id: 1 }, rewards: [record({ pending: undefined })] }]],
  [
    'a token without an address',
    [{ chain: { id: 1 }, rewards: [record({ token: { symbol: 'X', decimals: 18, address: 'x' } })] }],
  ],
  ['no list', { rewards: [] }],
] as const)('behavior: a record with %s is not believed', async (_what, body) => {
  service.clock.advance(8_000_000);
  service.world.upstreams.faults.set('merkl', { kind: 'answer', status: 200, body });
  const [{ rewards }] = (await positions()).filter(({ chainId }) => chainId === 1);
  expect(rewards.entries).toBeNull();
  service.world.upstreams.faults.clear();
});

it('behavior: rewards of another chain are not those of the position, and none is an empty list', async () => {
  service.clock.advance(8_000_000);
  service.world.upstreams.faults.set('merkl', {
    kind: 'answer',
    status: 200,
    body: [{ chain: { id: 10 }, rewards: [record({})] }],
  });
  for (const { rewards } of await positions()) expect(rewards.entries).toEqual([]);
  service.world.upstreams.faults.clear();
});

function record(change: object): object {
  const token = { address: `0x${'11'.repeat(20)}`, symbol: 'X', decimals: 18 };
  return { token, amount: '1', claimed: '0', pending: '0', ...change };
}
