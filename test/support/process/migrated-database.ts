import { createDatabase, type Database } from '../../../src/database/client.ts';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { createTestDatabase } from './postgres.ts';

export interface MigratedDatabase {
  readonly url: string;
  readonly db: Database;
  /** The statements that were sent, oldest first. */
  readonly statements: string[];
  /** Close the connections and remove the database. */
  close(): Promise<void>;
}

/** Make a migrated database with a client. Close it in `afterAll`. */
export async function openMigratedDatabase(poolSize = 2): Promise<MigratedDatabase> {
  const { url, drop } = await createTestDatabase();
  await migrateDatabase(url);
  const statements: string[] = [];
  const onQuery = ({ sql }: { readonly sql: string }) => void statements.push(sql);
  const db = createDatabase({ url, poolSize, statementTimeoutMs: 20_000 }, { onQuery });
  return {
    url,
    db,
    statements,
    async close() {
      await db.destroy();
      await drop();
    },
  };
}
