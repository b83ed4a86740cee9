import type { EmbeddedPostgres } from '../devnet/postgres.ts';
import { ConfigError, parseEnv } from '../src/config/config.ts';
import type { Env } from '../src/config/env.ts';
import { createDatabase } from '../src/database/client.ts';
import { DatabaseUnavailableError } from '../src/database/connection/errors.ts';
import { DATABASE_PROBLEMS } from '../src/database/connection/problems.ts';
import { migrateDatabase, requireMigrated } from '../src/database/migrate.ts';
import { createKeyAdmin } from '../src/keys/admin.ts';
import { runKeysCli } from '../src/keys/cli.ts';
import { systemClock } from '../src/shared/clock.ts';
import { silentLogger } from '../src/shared/logger.ts';

const STATEMENT_TIMEOUT_MS = 10_000;

process.exitCode = await runKeysCli(process.argv.slice(2), {
  open,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});

async function open() {
  const env = parseEnv(process.env);
  if (env.NODE_ENV === 'production' && env.KEY_PEPPER === undefined) {
    throw new ConfigError(
      'Set KEY_PEPPER to the value that the service has: keys hashed without it are not accepted there.',
    );
  }
  const { url, stop } =
    env.DATABASE_URL === undefined ? await localDatabase(env) : { url: env.DATABASE_URL, stop: () => {} };
  try {
    await (env.MIGRATE_ON_START ? migrateDatabase(url) : requireMigrated(url));
  } catch (error) {
    await stop();
    if (error instanceof DatabaseUnavailableError) {
      const { problem } = error;
      throw new ConfigError(`DATABASE_URL: no usable answer (${problem}). ${DATABASE_PROBLEMS[problem].todo}`);
    }
    throw error;
  }
  const db = createDatabase({ url, poolSize: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  const admin = createKeyAdmin({
    db,
    clock: systemClock,
    pepper: env.KEY_PEPPER,
  });
  return {
    admin,
    close: async () => {
      await db.destroy();
      await stop();
    },
  };
}

/** The local world's database: of the running service, otherwise started for this command. */
async function localDatabase(env: Env): Promise<{ url: string; stop: () => Promise<void> | void }> {
  if (env.NODE_ENV === 'production') throw new ConfigError('Set DATABASE_URL to the Postgres database of the service.');
  const { DataDirInUseError, postgresDataDir, recordedDatabaseUrl, SERVICE_DATABASE, startPostgres } = await import(
    '../devnet/postgres.ts'
  );
  const dataDir = postgresDataDir(env.DEVNET_DATA_DIR);
  let postgres: EmbeddedPostgres;
  try {
    postgres = await startPostgres({ dataDir, logger: silentLogger });
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error;
    const url = await recordedDatabaseUrl(dataDir);
    if (url === undefined) throw new Error('The service is just starting: try again in a moment, or set DATABASE_URL.');
    return { url, stop: () => {} };
  }
  return { url: await postgres.createDatabase(SERVICE_DATABASE), stop: () => postgres.stop() };
}
