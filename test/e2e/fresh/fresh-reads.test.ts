import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { bodyViolation } from '../../support/row-body.ts';
import { type Json, noSleep, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';

const HOLDER = seededWallet('looper').account.address;
const POSITIONS = `/v1/partner/positions/${HOLDER}`;
const UNKNOWN = `0x${'ab'.repeat(32)}`;

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep, env: { READ_WAIT_SEC: '1', MAX_WAITS_PER_CLIENT: '2' } });
});
afterAll(() => service?.stop());
const chain = (chainId = 1) => service.world.chains.on(chainId);
afterEach(() => chain().client.setAutomine(true));

/** Send a transaction that a later block includes. */
async function send(more: object = {}, chainId = 1): Promise<Hex> {
  const { client } = chain(chainId);
  await chain(chainId).impersonate(HOLDER);
  const tx = { from: HOLDER, to: HOLDER, gas: '0x186a0', ...more };
  return client.request({ method: 'eth_sendTransaction', params: [tx] } as never) as Promise<Hex>;
}
const blockOf = async (hash: Hex) => (await chain().client.getTransactionReceipt({ hash })).blockNumber;
const positions = (query: string, headers = PARTNER) => service.get(`${POSITIONS}?${query}`, headers);
const head = () => chain().client.getBlockNumber();

describe('afterTx', () => {
  it('default: answers at the block of the transaction or a later one, and states it', async () => {
    const hash = await send();
    await chain().mine(3);
    const { status, body, headers } = await positions(`afterTx=${hash}`);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(bodyViolation('walletPositions', body)).toBeNull();
    expect(body.meta.readAfter).toMatchObject({
      afterTx: hash,
      minBlock: null,
      status: 'included',
      reached: true,
      chainId: 1,
      targetBlock: String(await blockOf(hash)),
      answeredAtBlock: String(await head()),
      pointsCharged: 5,
    });
    for (const { readAt } of body.positions) expect(readAt.blockNumber).toBe(body.meta.readAfter.answeredAtBlock);
    expect((await positions('chainId=1')).body.meta).toBeUndefined();
  });

  it('behavior: waits for a pending transaction, and the P&L is of the same block', async () => {
    await chain().client.setAutomine(false);
    const hash = await send();
    const asked = service.graphql(
      `query ($address: Address!, $hash: HexData) {
        wallet(address: $address, afterTx: $hash) {
          onChains { chainId readAt { blockNumber } }
          positions(first: 2) { nodes { readAt { blockNumber } pnl { totalUsd } } }
        }
      }`,
      { address: HOLDER, hash },
      PARTNER,
    );
    await chain().client.mine({ blocks: 1 });
    const { body } = await asked;
    expect(body.errors).toBeUndefined();
    const included = String(await blockOf(hash));
    expect(body.extensions?.reads).toEqual([
      {
        field: 'wallet',
        readAfter: expect.objectContaining({ status: 'included', reached: true, targetBlock: included }),
      },
    ]);
    const { onChains } = body.data.wallet;
    expect(onChains.find(({ chainId }: Json) => chainId === 1).readAt.blockNumber).toBe(included);
  });

  it('behavior: a reverted transaction is answered with its status', async () => {
    const morpho = chain().chain.contracts.morphoBlue;
    const hash = await send({ to: morpho, data: '0xdeadbeef' });
    const { status, body } = await positions(`afterTx=${hash}`);
    expect([status, body.meta.readAfter.status, body.meta.readAfter.reached]).toEqual([200, 'reverted', true]);
  });

  it('behavior: a transaction that is replaced, pending or unknown is answered from the newest block, with its status', async () => {
    const unknown = await positions(`afterTx=${UNKNOWN}`);
    const newest = String(await head());
    expect(unknown.body.meta.readAfter).toMatchObject({ status: 'unknown', reached: false, answeredAtBlock: newest });
    await chain().client.setAutomine(false);
    const nonce = `0x${(await chain().client.getTransactionCount({ address: HOLDER })).toString(16)}`;
    const hash = await send({ nonce, maxFeePerGas: '0xb2d05e00', maxPriorityFeePerGas: '0xb2d05e00' });
    const pending = await positions(`afterTx=${hash}`);
    expect(pending.body.meta.readAfter).toMatchObject({ status: 'pending', reached: false, targetBlock: null });
    expect(pending.body.positions.length).toBeGreaterThan(0);
    await chain().client.dropTransaction({ hash });
    expect((await positions(`afterTx=${hash}`)).body.meta.readAfter.status).toBe('unknown');
  });

  it('error: BadRequest for a transaction of another chain, a malformed hash, both arguments, and a block of two chains', async () => {
    const other = await send({}, 4663);
    const refused = async (query: string) => {
      const { status, body } = await positions(query);
      return [status, body.error.code, body.error.details.field];
    };
    expect(await refused(`afterTx=${other}`)).toEqual([400, 'bad_request', 'query.afterTx']);
    expect(await refused('afterTx=0x12')).toEqual([400, 'bad_request', 'query.afterTx']);
    expect(await refused(`afterTx=${UNKNOWN}&minBlock=1`)).toEqual([400, 'bad_request', 'query.minBlock']);
    expect((await positions(`afterTx=${other}&chainId=4663`)).body.meta.readAfter.status).toBe('included');
    const both = await service.graphql(`{ wallet(address: "${HOLDER}", minBlock: "1") { address } }`, {}, PARTNER);
    expect(both.body.errors?.[0].extensions).toMatchObject({ code: 'bad_request', details: { field: 'minBlock' } });
  });
});

describe('minBlock', () => {
  it('default: a portfolio of ops is read at the block', async () => {
    const path = `/v1/ops/portfolio/${HOLDER}?minBlock=${await head()}`;
    const { status, body } = await service.get(path, OPS);
    expect([status, body.meta.readAfter.status, body.meta.readAfter.reached]).toEqual([200, 'reached', true]);
  });

  it('error: BadRequest names the newest block and the limit when it is too far ahead', async () => {
    const newest = await head();
    const { status, body } = await positions(`minBlock=${newest + 101n}`);
    expect([status, body.error.details.limit]).toEqual([400, { head: String(newest), max: String(newest + 100n) }]);
    const near = await positions(`minBlock=${newest + 100n}`);
    expect(near.body.meta.readAfter).toMatchObject({ status: 'not_reached', reached: false });
  });
});

describe('prices after a block', () => {
  it('default: market state is measured again when it is of an earlier block', async () => {
    await chain().increaseTime(12);
    service.clock.advance(12_000);
    const newest = await head();
    const { status, body, headers } = await service.get(`/v1/prices?minBlock=${newest}`);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(bodyViolation('prices', body)).toBeNull();
    expect(body.meta.readAfter).toMatchObject({ status: 'reached', reached: true, answeredAtBlock: String(newest) });
    expect(body.meta.freshness).toMatchObject([{ group: 'market_state', refreshed: true, pointsCharged: 10 }]);
    const again = await service.get(`/v1/prices?minBlock=${newest}`);
    expect(again.body.meta.freshness).toMatchObject([{ group: 'market_state', outcome: 'fresh', pointsCharged: 0 }]);
  });
});

describe('maxAge', () => {
  it('behavior: beside a transaction of one chain, the facts of every other chain are measured as well', async () => {
    const hash = await send();
    service.clock.advance(120_000);
    for (const chainId of [1, 4663]) await chain(chainId).increaseTime(120);
    const { body } = await service.graphql(
      'query ($hash: HexData) { tokens(afterTx: $hash, maxAge: 60) { totalCount } }',
      { hash },
      PARTNER,
    );
    expect(body.errors).toBeUndefined();
    const [{ freshness }] = (body.extensions?.reads ?? []) as [Json];
    expect(freshness.map(({ chainId, group }: Json) => [chainId, group])).toEqual([
      [1, 'market_state'],
      [1, 'prices'],
      [4663, 'market_state'],
      [4663, 'prices'],
    ]);
    for (const { ageSec } of freshness) expect(ageSec).toBeLessThan(60);
  });

  it('default: facts that are older are measured again once for all that ask, and the receipt says so', async () => {
    service.clock.advance(120_000);
    await chain().increaseTime(120);
    const ask = () => service.get('/v1/strategies?maxAge=60', PARTNER);
    const answers = await Promise.all([ask(), ask(), ask()]);
    for (const { status, body, headers } of answers) {
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(body.meta.freshness).toMatchObject([
        { chainId: 1, group: 'market_state', refreshed: true, outcome: 'refreshed', pointsCharged: 10 },
        { chainId: 1, group: 'prices', refreshed: true, outcome: 'refreshed', pointsCharged: 10 },
      ]);
      for (const { ageSec } of body.meta.freshness) expect(ageSec).toBeLessThan(60);
    }
    const { body } = await ask();
    expect(body.meta.freshness.map(({ outcome }: Json) => outcome)).toEqual(['fresh', 'fresh']);
  });

  it('behavior: without a key prices are not measured, and the last good value is answered with its age', async () => {
    service.clock.advance(100_000);
    await chain().increaseTime(100);
    const { status, body } = await service.get('/v1/prices?maxAge=30');
    expect(status).toBe(200);
    expect(body.meta.freshness[1]).toMatchObject({ group: 'prices', outcome: 'key_required', refreshed: false });
    expect(body.meta.freshness[1].ageSec).toBeGreaterThanOrEqual(100);
    expect(Object.keys(body.prices).length).toBeGreaterThan(5);
  });

  it('behavior: measured just before, facts are not measured again; a provider that fails leaves the last good value', async () => {
    await service.refresh('prices');
    service.clock.advance(20_000);
    const recent = await service.get('/v1/prices?maxAge=10', PARTNER);
    expect(recent.body.meta.freshness[1]).toMatchObject({ outcome: 'too_recent', pointsCharged: 0 });
    expect(recent.body.meta.freshness[1].ageSec).toBeGreaterThanOrEqual(20);
    service.clock.advance(100_000);
    await chain().increaseTime(120);
    for (const source of ['defillama-coins', 'coingecko'] as const) {
      service.world.upstreams.faults.set(source, { kind: 'status', status: 500 });
    }
    const failed = await service.get('/v1/prices?maxAge=60', PARTNER);
    service.world.upstreams.faults.clear();
    expect(failed.status).toBe(200);
    expect(failed.body.meta.freshness[1]).toMatchObject({ outcome: 'failed', refreshed: false, pointsCharged: 0 });
    expect(failed.body.prices).toEqual(recent.body.prices);
  });

  it.each([4, 86_401, -1])('error: BadRequest for %i seconds', async (maxAge) => {
    const rest = await service.get(`/v1/prices?maxAge=${maxAge}`);
    expect([rest.status, rest.body.error.details.field]).toEqual([400, 'query.maxAge']);
    const { body } = await service.graphql(`{ markets(maxAge: ${maxAge}) { totalCount } }`);
    expect(body.errors?.[0].extensions.details).toMatchObject({ field: 'maxAge', limit: { min: 5, max: 86_400 } });
  });
});

describe('the report over all wallets', () => {
  it.each(['afterTx', 'minBlock', 'maxAge'])(
    'error: BadRequest for %s, with the reason and the row that takes it',
    async (name) => {
      const { status, body } = await service.get(`/v1/ops/portfolios?${name}=1`, OPS);
      expect([status, body.error.code, body.error.details]).toEqual([
        400,
        'bad_request',
        { field: `query.${name}`, value: '1', limit: { oneOf: ['chainId'] } },
      ]);
      expect(body.error.message).toMatch(
        /one reading for all callers, once a minute.*\/v1\/ops\/portfolio\/\{address\}/,
      );
    },
  );

  it('error: any other parameter is refused as before', async () => {
    const { status, body } = await service.get('/v1/ops/portfolios?wallet=1', OPS);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('takes chainId: leave it out')]);
  });
});

describe('the points of measurements', () => {
  it('behavior: one that fails gives its points back', async () => {
    await service.restart({ READ_WAIT_SEC: '1', MAX_WAITS_PER_CLIENT: '2', RATE_LIMIT_PARTNER: '100' });
    service.clock.advance(120_000);
    await chain().increaseTime(120);
    for (const source of ['defillama-coins', 'coingecko'] as const) {
      service.world.upstreams.faults.set(source, { kind: 'status', status: 500 });
    }
    const { body, headers } = await service.get('/v1/prices?maxAge=60', PARTNER);
    service.world.upstreams.faults.clear();
    expect(body.meta.freshness).toMatchObject([
      { group: 'market_state', outcome: 'refreshed', pointsCharged: 10 },
      { group: 'prices', outcome: 'failed', pointsCharged: 0 },
    ]);
    // One point for the row, and ten for the measurement that was made.
    expect(headers.get('ratelimit')).toMatch(/;r=89;/);
    await service.restart();
  });
});

describe('a used-up budget', () => {
  it('behavior: a value that the budget does not pay is not measured, its last good one is answered, and nothing is charged for it', async () => {
    // One point for the row, and ten for one of the two measurements.
    await service.restart({ READ_WAIT_SEC: '1', MAX_WAITS_PER_CLIENT: '2', RATE_LIMIT_PARTNER: '15' });
    service.clock.advance(120_000);
    await chain().increaseTime(120);
    const before = (await service.get('/v1/strategies')).body;
    const { status, body, headers } = await service.get('/v1/strategies?maxAge=60', PARTNER);
    expect(status).toBe(200);
    const [refused, ...others] = body.meta.freshness.filter(({ outcome }: Json) => outcome === 'budget');
    expect([others, refused]).toEqual([[], expect.objectContaining({ refreshed: false, pointsCharged: 0 })]);
    expect(refused.ageSec).toBeGreaterThanOrEqual(120);
    expect(body.meta.freshness.filter(({ outcome }: Json) => outcome === 'refreshed')).toMatchObject([
      { refreshed: true, pointsCharged: 10 },
    ]);
    expect(body.strategies.length).toBe(before.strategies.length);
    expect(headers.get('ratelimit')).toMatch(/;r=4;/);
    // The row itself still has points.
    expect((await service.get('/v1/strategies?maxAge=60', PARTNER)).status).toBe(200);
    await service.restart();
  });
});

describe('waits of one client', () => {
  it.each([
    ['MAX_WAITS_PER_CLIENT', '2'],
    // Of which partner keys have two fifths.
    ['MAX_WAITS', '5'],
  ])('error: RateLimited for one too many by %s; clients that disconnect free theirs', async (name, value) => {
    // Long enough that none of them ends by itself.
    await service.restart({ READ_WAIT_SEC: '30', [name]: value });
    const url = `${service.url}${POSITIONS}?minBlock=${(await head()) + 5n}`;
    const leaving = new AbortController();
    const refusal = new Promise<Json>((resolve) => {
      for (let i = 0; i < 3; i += 1) {
        fetch(url, { headers: PARTNER, signal: leaving.signal }).then(
          async (answer) => resolve(await answer.json()),
          () => {},
        );
      }
    });
    expect((await refusal).error).toMatchObject({ code: 'rate_limited', details: { scope: 'waits', limit: 2 } });
    leaving.abort();
    let last = 429;
    while (last === 429) last = (await positions(`minBlock=${await head()}`)).status;
    expect(last).toBe(200);
  });
});
