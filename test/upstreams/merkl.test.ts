import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMerkl } from '../../src/upstreams/merkl/client.ts';
import { type FakeProvider, type SeenRequest, startFakeProvider } from './support/server.ts';
import { ethereum, must, NOW_MS, plain, type TestDeps, testDeps } from './support/world.ts';

const market = must(ethereum.markets[0]).id;
const nowSec = NOW_MS / 1000;
const campaign = (id: string, over: object = {}) => ({
  id,
  apr: 1,
  startTimestamp: nowSec - 100,
  endTimestamp: nowSec + 100,
  params: { market },
  rewardToken: { symbol: 'X' },
  ...over,
});
/** `total` campaigns of other markets, then the given ones, in pages. */
const pages =
  (total: number, last: readonly object[]) =>
  ({ query }: SeenRequest) => {
    if (query.type === 'MORPHOCOLLATERAL') return [];
    const all = [
      ...Array.from({ length: total }, (_, i) => campaign(`o${i}`, { params: { market: '0xother' } })),
      ...last,
    ];
    return all.slice(Number(query.page) * 100, Number(query.page) * 100 + 100);
  };

let provider: FakeProvider;
let deps: TestDeps;
beforeEach(async () => {
  provider = await startFakeProvider();
  deps = testDeps(provider.url);
});
afterEach(async () => {
  await provider.close();
  expect(provider.unexpected).toEqual([]);
});
const live = () => createMerkl(deps).live(ethereum, [market]);
const ids = async () => (await live()).values.get(market)?.borrow.map(({ id }) => id);

describe('live', () => {
  it('behavior: reads all pages of both kinds, and keeps running campaigns of the chain', async () => {
    provider.respond({ 'GET /campaigns': pages(200, [campaign('late')]) });
    expect(await ids()).toEqual(['late']);
    expect(provider.requests.map(({ query }) => query)).toEqual([
      ...[0, 1, 2].map((page) => ({
        type: 'MORPHOBORROW',
        chainId: '1',
        items: '100',
        page: `${page}`,
        status: 'LIVE',
      })),
      { type: 'MORPHOCOLLATERAL', chainId: '1', items: '100', page: '0', status: 'LIVE' },
    ]);
  });

  it('behavior: an endless list fails every market', async () => {
    provider.respond({ 'GET /campaigns': pages(5_000, []) });
    const { values, failures } = await live();
    expect(values.size).toBe(0);
    expect(plain(failures)).toEqual({ [market]: 'missing' });
    expect(provider.requests).toHaveLength(20);
  });

  it('error: UpstreamError when a later page fails', async () => {
    provider.respond({ 'GET /campaigns': pages(200, [campaign('late')]) });
    provider.fault({ status: 500 }, ({ query }) => query.page === '1');
    await expect(live()).rejects.toMatchObject({ reason: 'server_error' });
  });

  it('behavior: a campaign that moved between two pages counts once', async () => {
    provider.respond({ 'GET /campaigns': pages(99, [campaign('moved'), campaign('moved'), campaign('b')]) });
    expect(await ids()).toEqual(['b', 'moved']);
  });

  it.each([
    ['over', { startTimestamp: nowSec - 100, endTimestamp: nowSec }],
    ['not begun', { startTimestamp: nowSec + 1, endTimestamp: nowSec + 100 }],
  ])('behavior: ignores a campaign that is %s', async (_, over) => {
    provider.respond({ 'GET /campaigns': pages(0, [campaign('a', over)]) });
    expect(await ids()).toEqual([]);
  });

  it.each([
    ['missing', { endTimestamp: undefined }],
    ['implausible', { endTimestamp: nowSec - 200 }],
    ['implausible', { startTimestamp: NOW_MS }],
    ['malformed', { rewardToken: {} }],
    ['missing', { apr: undefined }],
    ['implausible', { apr: 5_000 }],
    ['implausible', { apr: 'NaN' }],
  ])('behavior: an unreadable campaign (%s) hides no other; alone it fails its market', async (reason, over) => {
    provider.respond({ 'GET /campaigns': pages(0, [campaign('a', over), campaign('b')]) });
    const { values, failures } = await live();
    expect(failures.size).toBe(0);
    expect(values.get(market)?.borrow.map(({ id }) => id)).toEqual(['b']);
    expect(values.get(market)?.unread).toEqual([{ side: 'borrow', id: 'a' }]);
    provider.respond({ 'GET /campaigns': pages(0, [campaign('a', over)]) });
    expect(plain((await live()).failures)).toEqual({ [market]: reason });
  });

  it('behavior: an unreadable campaign that is over or has not begun is no part of a sum', async () => {
    const over = campaign('a', { apr: null, endTimestamp: nowSec });
    const early = campaign('c', { apr: null, startTimestamp: nowSec + 1 });
    provider.respond({ 'GET /campaigns': pages(0, [over, early, campaign('b')]) });
    expect((await live()).values.get(market)).not.toHaveProperty('unread');
  });

  const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
  const allowing = (whitelist: unknown) => ({ params: { market, whitelist } });
  const paidIn = (over: object) => ({ rewardToken: { symbol: 'X', ...over } });
  it.each([
    ['whitelist', allowing([wallet])],
    ['whitelist', allowing(wallet)],
    ['whitelist', allowing({ [wallet]: true })],
    ['test', paidIn({ isTest: true })],
    ['test', { isTest: true }],
    ['no_market_price', paidIn({ type: 'PRETGE' })],
    ['no_market_price', paidIn({ type: 'POINT' })],
    ['no_market_price', paidIn({ type: 'a type of next year' })],
    ['no_market_price', paidIn({ type: 'TOKEN', price: null })],
    ['no_market_price', paidIn({ price: 0 })],
    ['no_market_price', paidIn({ price: 'NaN' })],
    ['no_market_price', paidIn({ price: -1 })],
    ['test', paidIn({ isTest: 'true' })],
  ])('behavior: a campaign with %s in %j is apart, with its reason and end', async (reason, over) => {
    provider.respond({ 'GET /campaigns': pages(0, [campaign('a', { apr: 25, ...over }), campaign('b')]) });
    const { borrow, restricted } = must((await live()).values.get(market));
    expect(borrow.map(({ id }) => id)).toEqual(['b']);
    const about = { id: 'a', symbol: 'X', aprPct: '25', startsAtMs: NOW_MS - 100_000, endsAtMs: NOW_MS + 100_000 };
    expect(plain(restricted)).toEqual([{ ...about, side: 'borrow', reason }]);
  });

  it.each([
    allowing([]),
    allowing(null),
    allowing(undefined),
    allowing(''),
    { params: { market, blacklist: [wallet] } },
    paidIn({ type: 'TOKEN', isTest: false, price: 0.41 }),
    paidIn({ type: 'token' }),
    paidIn({ type: null }),
    { isTest: false },
  ])('behavior: a campaign with %j is earned by everybody', async (over) => {
    provider.respond({ 'GET /campaigns': pages(0, [campaign('a', over)]) });
    const value = must((await live()).values.get(market));
    expect(value.borrow.map(({ id }) => id)).toEqual(['a']);
    expect(value).not.toHaveProperty('restricted');
  });

  it.each([0, 1])('behavior: a campaign that one page restricts is restricted, on whichever page', async (place) => {
    const rows = [campaign('a'), campaign('a')].map((row, i) =>
      i === place ? { ...row, ...allowing([wallet]) } : row,
    );
    provider.respond({ 'GET /campaigns': pages(99, [...rows, campaign('b')]) });
    const { borrow, restricted } = must((await live()).values.get(market));
    expect([borrow.map(({ id }) => id), restricted?.map(({ id }) => id)]).toEqual([['b'], ['a']]);
  });

  it('behavior: of two rows of one campaign the readable one counts', async () => {
    provider.respond({ 'GET /campaigns': pages(0, [campaign('a', { apr: null }), campaign('a')]) });
    const value = must((await live()).values.get(market));
    expect([value.borrow.length, value.unread]).toEqual([1, undefined]);
  });

  it('behavior: a restricted campaign without an APR is apart as well, and no sum is a lower bound for it', async () => {
    provider.respond({ 'GET /campaigns': pages(0, [campaign('a', { apr: undefined, ...allowing([wallet]) })]) });
    const value = must((await live()).values.get(market));
    expect([value.borrow, value.unread, value.restricted?.[0]?.aprPct]).toEqual([[], undefined, undefined]);
    expect(value.restricted).toHaveLength(1);
  });

  it('behavior: ended campaigns that not everybody could earn are in no history', async () => {
    provider.respond({ 'GET /campaigns': pages(0, [campaign('a', allowing([wallet])), campaign('b')]) });
    const ended = await createMerkl(deps).ended(ethereum, [market]);
    expect(ended.get(market)?.borrow.map(({ id }) => id)).toEqual(['b']);
  });

  it('behavior: sends nothing for no markets', async () => {
    expect((await createMerkl(deps).live(ethereum, [])).values.size).toBe(0);
    expect(provider.requests).toEqual([]);
  });
});

describe('history', () => {
  it('behavior: reads each campaign separately; a failing one affects no other', async () => {
    const records = (apr: number) => ({ aprRecords: [{ timestamp: nowSec - 50, apr }] });
    provider.respond({
      'GET /campaigns/a/metrics': records(1),
      'GET /campaigns/b/metrics': records(0.5),
      'GET /campaigns/c/metrics': records(9),
    });
    provider.fault({ status: 500 }, ({ path }) => path === '/campaigns/c/metrics');
    const { values, failures } = await createMerkl(deps).history(['a', 'b', 'c']);
    expect(plain(values)).toEqual({
      a: [{ atMs: NOW_MS - 50_000, ratePct: '1' }],
      b: [{ atMs: NOW_MS - 50_000, ratePct: '0.5' }],
    });
    expect(plain(failures)).toEqual({ c: 'server_error' });
  });
});
