import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser URL of the run's Postgres; use `createTestDatabase`. */
    postgresUrl: string;
    /** Name of the database of a local world that was just started; use `createWorldDatabase`. */
    worldTemplate: string;
  }
}

export interface TestDatabase {
  readonly url: string;
  /** Cut the sessions and remove the database. */
  drop(): Promise<void>;
}

/** Make an empty database of your own in the run's Postgres. Drop it in `afterEach` or `afterAll`. */
export function createTestDatabase(): Promise<TestDatabase> {
  return create('');
}

/**
 * Make a database of your own as a start of the local world at the time of test clocks leaves it: migrated and seeded. It is a
 * copy, in a fifth of the time that filling takes. Drop it in `afterEach` or `afterAll`.
 */
export function createWorldDatabase(): Promise<TestDatabase> {
  return create(`template ${inject('worldTemplate')}`);
}

async function create(from: string): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // Files are copied in two thirds of the CPU time that logging each page takes.
  await administer(`create database ${name} ${from} strategy file_copy`);
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
