import pg from 'pg';
import { DATABASE_PROBLEMS, problemOf } from '../../src/database/connection/problems.ts';
import type { Line, LineMaker } from '../core/types.ts';

const CONNECT_MS = 5_000;
/** Statement timeout that the service sets on its own connections. */
const STATEMENT_TIMEOUT_MS = 5_000;

export type OpenedConnection = { readonly client: pg.Client | undefined; readonly lines: readonly Line[] };

/** Connect as the service does: with limits of time, which a pooler may refuse. A failure is reported as one line. */
export async function connect(url: string, report: LineMaker['failure']): Promise<OpenedConnection> {
  const timeouts = {
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
  };
  const openPlain = (error: unknown) => {
    if (problemOf(error, true) !== 'pooler_refuses') throw error;
    return open(url, {});
  };
  try {
    return { client: await open(url, timeouts).catch(openPlain), lines: [] };
  } catch (error) {
    return { client: undefined, lines: [notConnected(error, report)] };
  }
}

async function open(url: string, parameters: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 1_000,
    application_name: 'spiral-gateway doctor',
    ...parameters,
  });
  // The error of a broken connection is reported by the next statement.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await close(client);
    throw error;
  }
}

function notConnected(error: unknown, report: LineMaker['failure']): Line {
  const problem = problemOf(error, true) ?? 'unreachable';
  return report('answers', `no usable answer (${problem}): ${textOf(error)}`, DATABASE_PROBLEMS[problem].todo);
}

/** The rows of a statement. */
export async function rows<T>(client: pg.Client, text: string, values: readonly unknown[] = []): Promise<readonly T[]> {
  const { rows: found } = await client.query(text, [...values]);
  return found as T[];
}

export async function close(client: pg.Client): Promise<void> {
  await client.end().catch(() => {});
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
