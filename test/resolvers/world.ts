import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { composeChain } from '../../src/domain/compose.ts';
import { type ChainFacts, emptyChainFacts } from '../../src/domain/facts.ts';
import { type AlertsPort, alertServices } from '../../src/features/alerts/resolvers/alert-services.ts';
import { driftHistoryServices } from '../../src/features/drift-history/resolvers/drift-history-services.ts';
import { recordOf } from '../../src/features/risk/domain/record.ts';
import { riskServices } from '../../src/features/risk/resolvers/risk-services.ts';
import { type AppContext, createContext } from '../../src/resolvers/common/context.ts';
import { MAX_PAGE_SIZE } from '../../src/resolvers/common/page.ts';
import type { Services } from '../../src/resolvers/common/services.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { RatePoint } from '../../src/shared/rate-history.ts';
import { StaleDataError } from '../../src/transactions/index.ts';
import { BUDGETS, chainOf, completeFacts, DAY, NOW_MS, PARAMS } from '../domain/world.ts';

export const CHAIN_IDS = [1, 4663];
const CATALOG = createCatalog(curatedChains);

/** A rate per hour of forty days, oldest first: the history of every market but the first. */
const HOURLY: readonly RatePoint[] = Array.from({ length: 40 * 24 }, (_, hour) => ({
  atMs: NOW_MS - hour * 3_600_000,
  ratePct: new Decimal(hour),
})).reverse();

/** Services over handmade facts: composed by the product's own composition, everything else answered from here. */
export function servicesOf(facts: readonly ChainFacts[], overrides: Partial<Services> = {}): Services {
  const factsById = new Map(facts.map((entry) => [entry.chainId, entry]));
  const composed = new Map(facts.map((entry) => [entry.chainId, composeChain(chainOf(entry.chainId), entry, PARAMS)]));
  const known = <T>(map: ReadonlyMap<number, T>, chainId: number): T => {
    const value = map.get(chainId);
    if (!value) throw new Error(`chain ${chainId} is not in this world`);
    return value;
  };
  return {
    catalog: CATALOG,
    budgets: BUDGETS,
    composed: (chainId) => known(composed, chainId),
    caughtUp: async () => {},
    facts: (chainId) => known(factsById, chainId),
    histories: {
      read: async (_kind, chainId, ids, { fromMs, toMs }) => {
        const points = HOURLY.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
        const stamp = { asOfMs: NOW_MS - 60_000, staleAfterSec: 3_600 };
        const known = ids.filter((id) => id !== chainOf(chainId).markets[0]?.id);
        return new Map(known.map((id) => [id, { points, sources: ['chain'], stamp }]));
      },
    },
    keyUsage: { since: async (_keyId, fromMs) => [{ dayMs: fromMs, calls: 3, points: 30, refusals: 1 }] },
    tvlSamples: { since: async () => [] },
    blockWaits: {
      wait: async () => {
        throw new Error('this world has no blocks');
      },
    },
    refreshes: {
      measuredAtMs: () => NOW_MS,
      stateBlock: () => 100n,
      isTooRecent: () => false,
      refresh: async () => 'unavailable',
    },
    positionHistory: { read: async (keys) => keys.map(notRead), readEvents: async (keys) => keys.map(notRead) },
    charts: {
      chart: async (coinId) =>
        coinId === 'unknown-coin'
          ? null
          : { source: 'coingecko', asOfMs: NOW_MS, prices: [[NOW_MS, 1.5]], marketCaps: [], totalVolumes: [] },
    },
    ohlcv: {
      candles: async ({ token }) =>
        token === '0x0000000000000000000000000000000000000000'
          ? null
          : {
              pool: { address: '0xpool', name: 'A / B', dex: 'dex' },
              source: 'geckoterminal',
              asOfMs: NOW_MS,
              stale: false,
              candles: [{ t: NOW_MS / 1000, o: 1, h: 2, l: 0.5, c: 1.5, v: 10, isUnbacked: false }],
            },
    },
    changes: {
      freshnessAt: (_facts, _second, compute) => compute(),
      open: () => {
        throw new Error('nobody subscribes here');
      },
      remember: () => {},
      recall: () => null,
    },
    health: {
      readiness: (chainId) => {
        const open = known(factsById, chainId).version > 0;
        return { primed: open, open, ready: open, waitingFor: open ? [] : ['lendingState', 'oracle'], missing: [] };
      },
    },
    tvl: () => ({
      version: 1,
      total: totals('150.5', '100.25', 3, 2),
      chains: [{ chainId: 1, asOfMs: NOW_MS - DAY, ...totals('150.5', '100.25', 3, 2) }],
    }),
    positions: emptyPositions,
    leverage: {
      preview: refused,
      previewManage: refused,
      open: refused,
      manage: refused,
      deleverage: refused,
      exitCost: refused,
      proxyOwners: async (_chainId, addresses) => new Map(addresses.map((address) => [address, null])),
      usdOf: () => undefined,
    },
    ops: emptyOps,
    features: new Map([
      alertServices.with(oneAlert),
      driftHistoryServices.with({
        list: async () => ({ records: [], totalCount: 0, hasPreviousPage: false, hasNextPage: false }),
      }),
      riskServices.with({
        marketRecords: { read: async () => ({ record: recordOf([]), validUntilMs: NOW_MS + 600_000 }) },
      }),
    ]),
    equity: { preview: refused, previewExit: refused, deposit: refused, exit: refused },
    ...overrides,
  };
}

/** No builder builds here: each answers with a refusal. */
async function refused(): Promise<never> {
  const asOf = new Date(NOW_MS - 400_000).toISOString();
  throw new StaleDataError({ group: 'lendingState', asOf, staleAfterSec: 300, staleForSec: 100 });
}

const WHOLE_PAGE = { totalCount: 1, hasNextPage: false, hasPreviousPage: false };

const alert: Awaited<ReturnType<AlertsPort['create']>>['alert'] = {
  id: '00000000-0000-4000-8000-000000000001',
  seq: 1n,
  ownerId: 'test',
  rule: {
    subject: { kind: 'wallet', chainId: 1, wallet: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
    condition: 'stale',
    threshold: null,
    rearmAt: null,
  },
  state: { status: 'unknown', value: null, observedMs: null, reported: null },
  label: '',
  url: 'https://receiver.example/',
  createdMs: NOW_MS,
  changedMs: null,
  revision: 1n,
  secret: { salt: Buffer.alloc(16), version: 1 },
  earlierSecrets: [],
};
const delivery: NonNullable<Awaited<ReturnType<AlertsPort['ping']>>> = {
  id: alert.id,
  seq: 1n,
  alertId: alert.id,
  type: 'ping',
  body: '{}',
  receiver: 'receiver.example:443',
  occurredMs: NOW_MS,
  status: 'pending',
  attempts: 0,
  nextAttemptMs: NOW_MS,
  finishedMs: null,
  httpStatus: null,
  failure: null,
};

/** Every key has one alert, and one event of it. */
const oneAlert: AlertsPort = {
  create: async () => ({ alert, secret: 'whsec_test' }),
  rotateSecret: async () => ({ alert, secret: 'whsec_test' }),
  find: async () => alert,
  list: async () => ({ ...WHOLE_PAGE, items: [alert] }),
  remove: async () => true,
  ping: async () => delivery,
  deliveries: async () => ({ ...WHOLE_PAGE, items: [delivery] }),
  redeliver: async () => delivery,
  placeOf: async () => 1n,
  eventsAfter: async () => [],
  newestEvent: async () => 1n,
  newestEventOf: async () => 1n,
};

/** No position was ever opened. */
const emptyOps: Services['ops'] = {
  report: async (chainId) => ({
    report: {
      chainId,
      blockNumber: 100n,
      asOfMs: NOW_MS,
      computedAtMs: NOW_MS,
      entries: [],
      rows: [],
      counts: { users: 0, open: 0, equity: 0, closed: 0, unresolved: 0, drift: 0, failed: 0 },
    },
    failure: null,
  }),
  live: async (chainId, wallets) =>
    new Map(
      wallets.map((wallet) => [
        wallet,
        {
          chainId,
          wallet,
          block: { number: 100n, timestamp: BigInt(NOW_MS / 1_000) },
          header: { totalDepositedUsd: '0', openCount: 0 },
          positions: [],
          equityPositions: [],
          closed: [],
          unresolved: [],
          pnl: { gaps: [] },
        },
      ]),
    ),
  aggregate: async () => {
    const none = { usd: new Decimal(0), unknown: 0 };
    const all = {
      count: 0,
      depositedUsd: none,
      netValueUsd: none,
      divergentUsd: none,
      incentivesUsd: none,
      totalUsd: none,
      yieldFeeUsd: none,
      totalAfterFeeUsd: none,
    };
    return { wallets: 0, failedWallets: 0, all, byStatus: [], byMarket: [], byDriftKind: [], byUnresolvedReason: [] };
  },
  history: async () => [],
};

/** Every wallet can be read, and holds nothing. */
const emptyPositions: Services['positions'] = {
  read: async (chainId, wallets) =>
    new Map(
      wallets.map((wallet) => {
        const block = { number: 100n, timestamp: BigInt(NOW_MS / 1_000) };
        return [wallet, { holdings: { chainId, wallet, block, positions: [], stocks: [] }, tags: new Map() }];
      }),
    ),
  registered: async (_chainId, wallets) => new Map(wallets.map((wallet) => [wallet, []])),
  vaultOf: async () => null,
  page: async () => ({ wallets: [], unreadable: [], totalCount: 0, next: null }),
};

export function contextOf(services: Services, nowMs = NOW_MS): AppContext {
  return createContext(services, {
    nowMs,
    caller: { kind: 'anonymous' },
    correlationId: 'test',
    maxPageSize: MAX_PAGE_SIZE,
    contract: 'graphql',
  });
}

let complete: Services | undefined;

/** A context in which everything is measured on both chains. Its services have no state, and are composed once. */
export function completeContext(): AppContext {
  complete ??= servicesOf(CHAIN_IDS.map((chainId) => completeFacts(chainOf(chainId))));
  return contextOf(complete);
}

/** Chain 1 measured, chain 4663 not yet. */
export function halfContext(): AppContext {
  return contextOf(servicesOf([completeFacts(chainOf(1)), emptyChainFacts(4663)]));
}

function totals(tvl: string, borrowed: string, positions: number, users: number) {
  const [tvlUsd, borrowedUsd] = [new Decimal(tvl), new Decimal(borrowed)];
  return { tvlUsd, borrowedUsd, grossTvlUsd: tvlUsd.plus(borrowedUsd), positions, users };
}

function notRead() {
  return { range: null, logs: [], marks: [], isCut: false };
}
