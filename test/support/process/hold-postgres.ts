import { startPostgres } from '../../../devnet/postgres.ts';
import { silentLogger } from '../../../src/shared/logger.ts';

/** A process that holds a database until it is killed: `hold-postgres.ts <data dir> [ephemeral]`. */
const [, , dataDir = '', mode] = process.argv;
const postgres = await startPostgres({ dataDir, ephemeral: mode === 'ephemeral', logger: silentLogger });
process.stdout.write(`${postgres.url}\n`);
setInterval(() => {}, 60_000);
