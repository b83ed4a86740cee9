import { readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { createCatalog, curatedChains } from '../src/catalog/index.ts';
import { createConfig } from '../src/config/config.ts';
import { budgetsOf } from '../src/config/freshness-budgets.ts';
import { type AppContext, createContext } from '../src/resolvers/common/context.ts';
import type { Services } from '../src/resolvers/common/services.ts';
import { buildSchema } from '../src/schema/index.ts';
import { createComposition } from '../src/services/composition.ts';
import { createReadiness } from '../src/services/readiness.ts';
import { systemClock } from '../src/shared/clock.ts';
import { Decimal } from '../src/shared/decimal.ts';
import { silentLogger } from '../src/shared/logger.ts';
import { systemTimers } from '../src/shared/timers.ts';
import { createFileSnapshot } from '../src/snapshot/file.ts';

export const schema = buildSchema();

export interface PeerInput {
  readonly snapshotFile: string;
  readonly overlayFile: string;
}

/** Make contexts over the facts that the service has persisted, for servers that execute the same queries. */
export async function contextFrom({ snapshotFile, overlayFile }: PeerInput): Promise<() => AppContext> {
  const clock = systemClock;
  const config = createConfig({ DATABASE_URL: 'postgres://127.0.0.1/none' });
  const catalog = createCatalog(curatedChains, JSON.parse(readFileSync(overlayFile, 'utf8')));
  const keep = () => () => true;
  // Each process has its own snapshot file.
  const path = `${snapshotFile}.${process.pid}`;
  await copyFile(snapshotFile, path);
  const snapshot = createFileSnapshot({ path, clock, timers: systemTimers, logger: silentLogger, keep });
  await snapshot.restore();
  const budgets = budgetsOf(config);
  const listing = {
    minDaysToMaturity: config.env.LISTING_MIN_DAYS_TO_MATURITY,
    minLiquidityUsd: new Decimal(config.env.LISTING_MIN_LIQUIDITY_USD),
  };
  const unused = () => {
    throw new Error('not part of the benchmark');
  };
  const services = {
    catalog,
    budgets,
    composed: createComposition({ catalog, snapshot, clock, logger: silentLogger, params: { budgets, listing } }),
    facts: (chainId: number) => snapshot.facts(chainId),
    health: createReadiness({ catalog, snapshot, budgets, ceilingSec: config.env.READY_CEILING_SEC, startedMs: 0 }),
    histories: { read: unused },
    positions: { read: unused },
    tvl: () => null,
  } as unknown as Services;
  return () =>
    createContext(services, {
      nowMs: clock.now(),
      caller: { kind: 'anonymous' },
      correlationId: 'bench',
      maxPageSize: Number.POSITIVE_INFINITY,
      contract: 'graphql',
    });
}
