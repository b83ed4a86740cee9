import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../devnet/postgres.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { buildBundle } from './bundle.ts';
import './process/postgres.ts';

/** Bundle the service, and run one throw-away Postgres for the whole test run; every test makes its own database in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const starting = startPostgres({
    dataDir: join(tmpdir(), `spiral-gateway-test-${randomUUID()}`),
    ephemeral: true,
    logger: silentLogger,
  });
  const [built] = await Promise.allSettled([buildBundle(), starting]);
  const postgres = await starting;
  if (built.status === 'rejected') {
    await postgres.stop();
    throw built.reason;
  }
  project.provide('postgresUrl', postgres.url);
  return () => postgres.stop();
}
