import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { compileContracts } from '../../devnet/chain/compile.ts';
import { createOverlay } from '../../devnet/overlay.ts';
import { type EmbeddedPostgres, startPostgres } from '../../devnet/postgres.ts';
import { seedDatabase } from '../../devnet/seed-database.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { buildBundle } from './bundle.ts';
import './process/postgres.ts';
import { WORLD_START_MS } from './test-clock.ts';

/** Database whose copies local worlds of tests start with. */
const WORLD_TEMPLATE = 'world_template';

/**
 * Bundle the service, compile the contracts once for this machine, and run one throw-away Postgres for the whole test run; every
 * test makes its own database in it, and copies the one of a local world, which is filled once.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const starting = startPostgres({
    dataDir: join(tmpdir(), `spiral-gateway-test-${randomUUID()}`),
    ephemeral: true,
    logger: silentLogger,
  });
  const filling = starting.then(fillTemplate);
  const steps = await Promise.allSettled([buildBundle(), filling, compileContracts()]);
  const postgres = await starting;
  for (const step of steps) {
    if (step.status === 'fulfilled') continue;
    await postgres.stop();
    throw step.reason;
  }
  project.provide('postgresUrl', postgres.url);
  project.provide('worldTemplate', WORLD_TEMPLATE);
  return () => postgres.stop();
}

async function fillTemplate(postgres: EmbeddedPostgres): Promise<void> {
  const url = await postgres.createDatabase(WORLD_TEMPLATE);
  await migrateDatabase(url, { logger: silentLogger });
  await seedDatabase(url, createCatalog(curatedChains, createOverlay(WORLD_START_MS)), WORLD_START_MS);
}
