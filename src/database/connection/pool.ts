import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { cut } from './clients.ts';
import { type DatabaseProblem, problemOf } from './problems.ts';
import type { Rest } from './rest.ts';
import type { DatabaseWatch } from './watch.ts';

export interface GuardDeps {
  readonly watch: DatabaseWatch;
  readonly rest: Rest;
  /** Why no statement may be sent; `null` = they may. */
  readonly withheld?: (() => Promise<DatabaseProblem | null>) | undefined;
  /** Whether the connections of this pool have no limits of time of their own. Called when one was refused for them. */
  readonly leaveOutLimits: () => void;
  /** Statements that set the limits of time within a transaction; `null` = the connection has them. */
  readonly limitsOf: (client: object) => string | null;
}

/**
 * Wrap a pg pool: an unavailable database always throws `DatabaseUnavailableError`, a broken connection never returns to the
 * pool, a silent database is left alone, and behind a pooler each transaction sets its own limits of time.
 */
export function guardPool(pool: pg.Pool, deps: GuardDeps): PostgresPool {
  const { watch, rest } = deps;
  /** The number of silences at the time when a connection was opened. */
  const openedAt = new WeakMap<object, number>();

  // The pool drops an idle connection that breaks; without a listener the error would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => openedAt.set(client, rest.silences));

  const open = async (): Promise<pg.PoolClient> => {
    for (;;) {
      const client = await pool.connect();
      if (openedAt.get(client) === rest.silences) return client;
      cut(client);
      client.release(true);
    }
  };
  const openPlain = (error: unknown): Promise<pg.PoolClient> => {
    if (problemOf(error, true) !== 'pooler_refuses') throw error;
    deps.leaveOutLimits();
    return open();
  };

  return {
    connect: async () => {
      const withheld = (await deps.withheld?.()) ?? null;
      if (withheld !== null) throw watch.failed(withheld);
      if (!(await rest.allows())) throw watch.failed('silent');
      try {
        return guardClient(await open().catch(openPlain), deps);
      } catch (error) {
        const problem = problemOf(error, true) ?? 'unreachable';
        if (problem === 'silent') rest.begin();
        throw watch.failed(problem, error);
      }
    },
    end: () => pool.end(),
  };
}

const BEGIN = /^(begin|start transaction)\b/i;
const END = /^(commit|rollback)\s*$/i;
const WRITE = /^\s*(insert|update|delete|create|alter)\b/i;

function guardClient(client: pg.PoolClient, { watch, rest, limitsOf }: GuardDeps): PostgresPoolClient {
  const limits = limitsOf(client);
  let isBroken = false;
  let inTransaction = false;
  const send = async (text: string, values?: unknown[]): Promise<unknown> => {
    try {
      const result = await client.query(text, values);
      watch.answered(WRITE.test(text));
      return result;
    } catch (error) {
      const problem = problemOf(error);
      if (problem === undefined) {
        watch.answered(false);
        throw error;
      }
      if (problem === 'silent') rest.begin();
      isBroken ||= !OF_STATEMENT.has(problem);
      throw watch.failed(problem, error);
    }
  };
  /** A statement alone becomes a transaction, because limits that are set behind a pooler hold for one. */
  const sendLimited = async (text: string, values: unknown[]): Promise<unknown> => {
    await send(`begin; ${limits}`);
    try {
      const result = await send(text, values);
      await send('commit');
      return result;
    } catch (error) {
      if (!isBroken) await send('rollback').catch(() => {});
      throw error;
    }
  };
  const query = async (text: string, values: unknown[]): Promise<unknown> => {
    if (limits === null) return send(text, values);
    if (BEGIN.test(text)) {
      inTransaction = true;
      return send(`${text}; ${limits}`);
    }
    if (END.test(text)) inTransaction = false;
    return inTransaction || END.test(text) ? send(text, values) : sendLimited(text, values);
  };
  return {
    // Kysely's second form (cursors) is not supported: no cursor class is configured.
    query: query as PostgresPoolClient['query'],
    release: () => client.release(isBroken),
  };
}

/** Failures after which the connection is as good as before. */
const OF_STATEMENT: ReadonlySet<string> = new Set(['slow_statement', 'read_only', 'no_right']);
