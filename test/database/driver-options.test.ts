import { EventEmitter } from 'node:events';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { createDatabase } from '../../src/database/client.ts';
import { clientsWith } from '../../src/database/connection/clients.ts';
import { CORRUPTED } from '../../src/database/connection/problems.ts';

describe(createDatabase, () => {
  /** The options that the driver gets. */
  async function optionsOf(url: string, more: { readonly connectTimeoutMs?: number } = {}) {
    const given: pg.PoolConfig[] = [];
    const Pool = pg.Pool;
    const spy = vi.spyOn(pg, 'Pool').mockImplementation(function Spied(options?: pg.PoolConfig) {
      given.push(options ?? {});
      return new Pool(options);
    } as never);
    try {
      await createDatabase({ url, poolSize: 7, statementTimeoutMs: 250, ...more }).destroy();
    } finally {
      spy.mockRestore();
    }
    return given[0] as pg.PoolConfig & { readonly onConnect: (client: unknown) => Promise<void> };
  }

  test('default: limits of time on both sides, and a name', async () => {
    expect(await optionsOf('postgres://127.0.0.1:1/x')).toMatchObject({
      connectionString: 'postgres://127.0.0.1:1/x',
      max: 7,
      keepAlive: true,
      application_name: 'spiral-gateway',
      connectionTimeoutMillis: 3_000,
      idleTimeoutMillis: 30_000,
      statement_timeout: 250,
      query_timeout: 1_250,
      idle_in_transaction_session_timeout: 250,
    });
    expect(await optionsOf('postgres://127.0.0.1:1/x', { connectTimeoutMs: 9 })).toMatchObject({
      connectionTimeoutMillis: 9,
    });
  });

  test.each([
    ['?sslmode=prefer', '?sslmode=verify-full'],
    ['?sslmode=require&a=1', '?sslmode=verify-full&a=1'],
    ['?a=1&sslmode=verify-ca', '?a=1&sslmode=verify-full'],
    ['?sslmode=no-verify', '?sslmode=no-verify'],
    ['?sslmode=required', '?sslmode=required'],
    ['?mysslmode=require', '?mysslmode=require'],
  ])('behavior: %s is taken as %s', async (query, taken) => {
    expect((await optionsOf(`postgres://127.0.0.1:1/x${query}`)).connectionString).toBe(
      `postgres://127.0.0.1:1/x${taken}`,
    );
  });
});

describe(clientsWith, () => {
  const limits = { statement_timeout: 5, idle_in_transaction_session_timeout: 6 };
  interface Wire {
    stream: unknown;
    attachListeners(stream: EventEmitter): void;
  }
  const wireOf = (client: pg.Client) => (client as unknown as { readonly connection: Wire }).connection;

  test('behavior: bytes that are no protocol close the connection with their code, and throw nothing', () => {
    const client = new (clientsWith(() => false))(limits);
    const closed: unknown[] = [];
    const stream = new EventEmitter();
    wireOf(client).stream = { destroy: (error: unknown) => closed.push(error) };
    wireOf(client).attachListeners(stream);
    // An authentication of a kind that does not exist.
    stream.emit('data', Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0x63]));
    expect(closed).toEqual([expect.objectContaining({ code: CORRUPTED, message: 'the server sent no valid frame' })]);
    expect(() => client.emit('error', new Error('broken'))).not.toThrow();
  });

  test.each([false, true])('behavior: limits of time are left out where a pooler refuses them: %s', (isPlain) => {
    const { connectionParameters } = new (clientsWith(() => isPlain))(limits) as unknown as {
      readonly connectionParameters: Readonly<Record<keyof typeof limits, unknown>>;
    };
    const { statement_timeout, idle_in_transaction_session_timeout } = connectionParameters;
    expect([statement_timeout, idle_in_transaction_session_timeout]).toEqual(isPlain ? [false, false] : [5, 6]);
  });
});
