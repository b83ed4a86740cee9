import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChains } from '../../devnet/chain/index.ts';
import { startWorld, type World } from '../../devnet/index.ts';
import type { Report } from '../../doctor/core/report.ts';
import type { Area } from '../../doctor/core/types.ts';
import { type DoctorOptions, runDoctor } from '../../doctor/doctor.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { startRedis, type TestRedis } from '../snapshot/redis-server.ts';
import { SEEDING_MS, startPresentChains } from '../support/process/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

export type Settings = Readonly<Record<string, string | undefined>>;

export interface DoctorWorld {
  readonly world: World;
  readonly redis: TestRedis;
  readonly database: TestDatabase;
  /** Settings of a service process in these tests. */
  readonly settings: Settings;
  /** Check this world, with other settings and parts where they are given. */
  examine(settings?: Settings, options?: Partial<DoctorOptions>): Promise<Report>;
  stop(): Promise<void>;
}

/** Long enough for a busy machine. */
const PROVIDER_TIMEOUT_MS = '12000';

/**
 * Start a local world, a Redis and a database that all is well with.
 * @param ownChains for tests that move their time
 * @param isLimited whether its providers have the limits of the real ones
 */
export async function startDoctorWorld({ ownChains = false, isLimited = false } = {}): Promise<DoctorWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'spiral-gateway-doctor-'));
  const database = await createTestDatabase();
  const redis = await startRedis();
  const world = await startWorld({
    dataDir: folder,
    mining: 'auto',
    isLimited,
    databaseUrl: database.url,
    startChains: ownChains
      ? (options) => startChains({ ...options, clock: { now: () => Date.now() - SEEDING_MS } })
      : startPresentChains,
    logger: silentLogger,
  });
  const settings: Settings = {
    ...world.overrides.env,
    REDIS_URL: redis.url,
    KEY_PEPPER: 'pepper-of-this-test',
    UPSTREAM_TIMEOUT_MS: PROVIDER_TIMEOUT_MS,
  };
  return {
    world,
    redis,
    database,
    settings,
    examine: (changed = {}, options = {}) =>
      runDoctor({
        raw: { ...settings, ...changed },
        clock: { now: () => Date.now() },
        timers: systemTimers,
        fetch: globalThis.fetch,
        // A busy machine answers slowly, so slowness is reported only on request.
        stopwatch: () => 0,
        ...options,
      }),
    async stop() {
      await world.stop();
      await redis.close();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The failed checks, as `status area subject check`. */
export function complaints({ lines }: Report): readonly string[] {
  return lines
    .filter(({ status }) => status === 'warning' || status === 'failure')
    .map(({ status, area, subject, check }) => `${status} ${area} ${subject} [${check}]`);
}

/** The parts of the test world that the cases of one kind of dependency use. */
export interface OutsideWorld {
  doctor(): DoctorWorld;
  /** Complaints about one area. */
  of(report: Report, area: Area): readonly string[];
  look(settings: Settings, ...only: Area[]): Promise<Report>;
  /** The complaints about an area, examined alone. */
  examine(area: Area, settings?: Settings): Promise<readonly string[]>;
}
