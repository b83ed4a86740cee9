import { curatedChains } from '../src/catalog/index.ts';
import { parseEnv } from '../src/config/config.ts';
import { createDatabase } from '../src/database/client.ts';
import { createPositionHistoryRepository } from '../src/database/position-history.ts';
import { runReindexCli } from '../src/indexer/cli.ts';

const STATEMENT_TIMEOUT_MS = 10_000;

process.exitCode = await runReindexCli(process.argv.slice(2), {
  databaseUrl: () => parseEnv(process.env).DATABASE_URL,
  chainIds: curatedChains.map(({ chainId }) => chainId),
  request: async (url, chainId) => {
    const db = createDatabase({ url, poolSize: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
    try {
      return await createPositionHistoryRepository(db).requestReindex(chainId);
    } finally {
      await db.destroy();
    }
  },
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
