import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser URL of the run's Postgres; use `createTestDatabase`. */
    postgresUrl: string;
  }
}

export interface TestDatabase {
  readonly url: string;
  /** Cut the sessions and remove the database. */
  drop(): Promise<void>;
}

/** Make an empty database of your own in the run's Postgres. Drop it in `afterEach` or `afterAll`. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await administer(`create database ${name}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(`drop database if exists ${name} with (force)`) };
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
