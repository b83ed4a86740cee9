import { curatedChains } from '../src/catalog/index.ts';
import { parseEnv } from '../src/config/config.ts';
import { createDatabase, type Database } from '../src/database/client.ts';
import { createMarketMarkRepository } from '../src/database/market-marks.ts';
import { createPositionHistoryRepository } from '../src/database/position-history.ts';
import { runReindexCli } from '../src/indexer/cli.ts';
import { systemClock } from '../src/shared/clock.ts';

const STATEMENT_TIMEOUT_MS = 10_000;

async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = createDatabase({ url, poolSize: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

process.exitCode = await runReindexCli(process.argv.slice(2), {
  databaseUrl: () => parseEnv(process.env).DATABASE_URL,
  chainIds: curatedChains.map(({ chainId }) => chainId),
  request: (url, chainId) => withDatabase(url, (db) => createPositionHistoryRepository(db).requestReindex(chainId)),
  requestPrices: (url, chainId) =>
    withDatabase(url, (db) => createMarketMarkRepository(db, systemClock).requestCheck(chainId)),
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
