import { openDatabase } from '../src/app/open-database.ts';
import { parseEnv } from '../src/config/config.ts';
import { runMigrateCli } from '../src/database/cli.ts';
import { inspectSchema } from '../src/database/migrate.ts';
import { silentLogger } from '../src/shared/logger.ts';
import { systemTimers } from '../src/shared/timers.ts';

process.exitCode = await runMigrateCli(process.argv.slice(2), {
  databaseUrl: () => parseEnv(process.env).DATABASE_URL,
  apply: (url) => {
    const waitMs = parseEnv(process.env).START_WAIT_SEC * 1_000;
    return openDatabase(url, { logger: silentLogger, timers: systemTimers, waitMs, migrate: true });
  },
  inspect: (url) => inspectSchema(url),
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
