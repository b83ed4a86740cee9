import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Child, removeBundles, startChild } from '../../bench/child.ts';
import type { OpsInput, OpsResult } from '../../bench/servers/ops.ts';
import { createTestDatabase, type TestDatabase } from '../support/process/postgres.ts';

describe('startChild', () => {
  let database: TestDatabase;
  let child: Child;
  beforeAll(async () => {
    database = await createTestDatabase();
    const input: OpsInput = { wallets: 10, databaseUrl: database.url };
    child = await startChild('ops', input);
  });
  afterAll(async () => {
    await child?.stop();
    await removeBundles();
    await database.drop();
  });

  test('default: bundles the service with the files that it reads, and reports its result', async () => {
    expect((child.report.result as OpsResult).positions).toBe(50);
    expect((await fetch(`${child.url}/docs/partners`)).status).toBe(200);
  });

  test('error: a start that fails ends the process, and is not waited for', async () => {
    const input: OpsInput = { wallets: 10, databaseUrl: 'postgres://nobody@127.0.0.1:1/none' };
    await expect(startChild('ops', input)).rejects.toThrow('ended before it said "ready"');
  });
});
