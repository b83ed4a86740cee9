import { expect } from 'vitest';
import type { MarketId } from '../../../src/shared/ids.ts';
import { createMerkl } from '../../../src/upstreams/merkl/client.ts';
import { createMorphoApi } from '../../../src/upstreams/morpho-api/client.ts';
import type { AdapterCase } from '../conformance.ts';
import type { SeenRequest } from '../support/server.ts';
import { at, change, ethereum, fixture, type Json, must } from '../support/world.ts';

const [marketA, marketB, marketC] = [0, 1, 2].map((i) => must(ethereum.markets[i]).id) as [
  MarketId,
  MarketId,
  MarketId,
];

const borrow = fixture('merkl-borrow');
const collateral = fixture('merkl-collateral');
const campaigns = (borrowed: Json, posted: Json = collateral) => ({
  'GET /campaigns': ({ query }: SeenRequest) => (query.type === 'MORPHOBORROW' ? borrowed : posted),
});
/** The campaign that cannot be read hides no other one of its market; its side is a lower bound then. */
const unreadInA = {
  each: (value: unknown, good: unknown) => {
    const { unread, ...rest } = value as { readonly unread?: unknown };
    if (unread === undefined) expect(rest).toEqual(good);
    else expect(unread).toEqual([{ side: 'borrow', id: at(borrow, [0, 'id']) }]);
  },
};

export const merklLive: AdapterCase = {
  name: 'merkl: live campaigns',
  publicName: 'incentives',
  keyed: true,
  create: (deps) => (signal) => createMerkl(deps).live(ethereum, [marketA, marketB, marketC], signal && { signal }),
  routes: campaigns(borrow),
  absent: { throws: 'rejected' },
  dated: null,
  variants: {
    missingField: { routes: campaigns(change(borrow, [0, 'apr'], undefined)), expect: unreadInA },
    // One market has no campaign in the good answer either: with nothing at all, every market has a measured "none".
    empty: {
      routes: { ...campaigns([], []) },
      expect: { values: { [marketA]: none(), [marketB]: none(), [marketC]: none() } },
    },
    // The market of the last row is unknown, so a market without an attributed campaign is not "none".
    partial: {
      routes: campaigns(change(borrow, [2, 'params'], undefined)),
      expect: { same: [marketA, marketB], failures: { [marketC]: 'malformed' } },
    },
    duplicate: {
      routes: campaigns([...(borrow as Json[]), at(borrow, [0])]),
      expect: { same: [marketA, marketB, marketC] },
    },
    nan: { routes: campaigns(change(borrow, [0, 'apr'], 'NaN')), expect: unreadInA },
    negative: { routes: campaigns(change(borrow, [0, 'apr'], -0.01)), expect: unreadInA },
    absurd: { routes: campaigns(change(borrow, [0, 'apr'], 5000)), expect: unreadInA },
  },
};

function none(): Json {
  return { borrow: [], collateral: [] };
}

const metrics = fixture('merkl-metrics');
const metricsWith = (json: Json) => ({ 'GET /campaigns/a1/metrics': json, 'GET /campaigns/b1/metrics': metrics });
const onlyB = (reason: 'missing' | 'implausible' | 'malformed') => ({
  same: [marketB],
  failures: { [marketA]: reason },
});
const everyApr = (value: Json) =>
  change(
    metrics,
    ['aprRecords'],
    (at(metrics, ['aprRecords']) as Json[]).map((row) => change(row, ['apr'], value)),
  );

export const merklHistory: AdapterCase = {
  name: 'merkl: history',
  publicName: 'incentives',
  keyed: true,
  create: (deps) => (signal) => createMerkl(deps).history(['a1', 'b1'], signal && { signal }),
  routes: metricsWith(metrics),
  absent: { throws: 'rejected' },
  dated: { fields: ['timestamp'] },
  variants: {
    missingField: { routes: metricsWith({ tvlRecords: [] }), expect: { same: ['b1'], failures: { a1: 'malformed' } } },
    empty: { routes: metricsWith({ aprRecords: [] }), expect: { same: ['b1'], failures: { a1: 'missing' } } },
    partial: {
      routes: metricsWith({ aprRecords: [{ timestamp: 1794700800 }] }),
      expect: { same: ['b1'], failures: { a1: 'missing' } },
    },
    duplicate: {
      routes: metricsWith(
        change(
          metrics,
          ['aprRecords'],
          [change(at(metrics, ['aprRecords', 1]), ['apr'], 77), ...(at(metrics, ['aprRecords']) as Json[])],
        ),
      ),
      expect: { same: ['a1', 'b1'] },
    },
    nan: { routes: metricsWith(everyApr('NaN')), expect: { same: ['b1'], failures: { a1: 'implausible' } } },
    negative: { routes: metricsWith(everyApr(-1)), expect: { same: ['b1'], failures: { a1: 'implausible' } } },
    absurd: { routes: metricsWith(everyApr(1e6)), expect: { same: ['b1'], failures: { a1: 'implausible' } } },
  },
};

/** Answers a query with one alias per market, as the provider's GraphQL endpoint does. */
function markets(contents: Readonly<Record<string, Json | null>>) {
  return {
    'POST /': ({ body }: SeenRequest) => {
      const { query } = body as { query: string };
      const aliases = [...query.matchAll(/(m\d+): marketById\(marketId: "(0x[0-9a-f]{64})", chainId: 1\)/g)];
      return { data: Object.fromEntries(aliases.map(([, alias, id]) => [alias, contents[id ?? ''] ?? null])) };
    },
  };
}

const shared = fixture('morpho-shared');
const sharedWith = (json: Json | null) => ({ publicAllocatorSharedLiquidity: json });
const sharedOf = (json: Json | null) => markets({ [marketA]: sharedWith(json), [marketB]: sharedWith(shared) });

const larger = change(at(shared, [0]), ['assets'], '99000000000000');

export const morphoShared: AdapterCase = {
  name: 'morpho-api: shared liquidity',
  publicName: 'indexer',
  keyed: true,
  create: (deps) => (signal) =>
    createMorphoApi(deps).sharedLiquidity(ethereum, [marketA, marketB], signal && { signal }),
  routes: sharedOf(shared),
  absent: { throws: 'rejected' },
  dated: null,
  variants: {
    missingField: {
      routes: sharedOf(change(shared, [0, 'vault', 'publicAllocatorConfig'], null)),
      expect: onlyB('missing'),
    },
    empty: {
      routes: { 'POST /': { data: {} } },
      expect: { same: [], failures: { [marketA]: 'missing', [marketB]: 'missing' } },
    },
    partial: { routes: markets({ [marketA]: {}, [marketB]: sharedWith(shared) }), expect: onlyB('missing') },
    duplicate: {
      routes: sharedOf([larger, ...(shared as Json[]), larger]),
      expect: { same: [marketA, marketB] },
    },
    nan: { routes: sharedOf(change(shared, [0, 'assets'], 'NaN')), expect: onlyB('malformed') },
    negative: { routes: sharedOf(change(shared, [0, 'assets'], -5)), expect: onlyB('implausible') },
    absurd: { routes: sharedOf(change(shared, [0, 'assets'], '9'.repeat(78))), expect: onlyB('implausible') },
  },
};

const history = fixture('morpho-history');
const historyOf = (json: Json | null) =>
  markets({ [marketA]: { historicalState: json }, [marketB]: { historicalState: history } });
const everyY = (y: Json) => ({ borrowApy: [{ x: 1795172400, y }] });

export const morphoHistory: AdapterCase = {
  name: 'morpho-api: borrow history',
  publicName: 'indexer',
  keyed: true,
  create: (deps) => (signal) => createMorphoApi(deps).borrowHistory(ethereum, [marketA, marketB], signal && { signal }),
  routes: historyOf(history),
  absent: { throws: 'rejected' },
  dated: { fields: ['x'] },
  variants: {
    missingField: { routes: historyOf({}), expect: onlyB('missing') },
    empty: { routes: historyOf({ borrowApy: [] }), expect: onlyB('missing') },
    partial: { routes: historyOf(null), expect: onlyB('missing') },
    duplicate: {
      routes: historyOf({ borrowApy: [{ x: 1795168800, y: 0.9 }, ...(at(history, ['borrowApy']) as Json[])] }),
      expect: { same: [marketA, marketB] },
    },
    nan: { routes: historyOf(everyY('NaN')), expect: onlyB('implausible') },
    negative: { routes: historyOf(everyY(-0.01)), expect: onlyB('implausible') },
    absurd: { routes: historyOf(everyY(10.5)), expect: onlyB('implausible') },
  },
};
