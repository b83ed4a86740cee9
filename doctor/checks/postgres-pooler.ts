import type pg from 'pg';
import { type Line, linesOf } from '../core/types.ts';

const make = linesOf('postgres', 'DATABASE_URL');
/** A pooler assigns two idle clients the same server connection within a few rounds. */
const ROUNDS = 4;

type Client = Pick<pg.Client, 'query' | 'end'>;

/**
 * Detect a pooler and its mode by reading alone: a pooler invents the process id that a client gets at connect, and in
 * transaction mode two open clients share a server process.
 */
export async function describePooler(
  client: pg.Client,
  openSecond: () => Promise<pg.Client | undefined>,
): Promise<readonly Line[]> {
  const backend = (client as unknown as { readonly processID?: number | null | undefined }).processID;
  const first = await backendOf(client);
  if (backend === first) return [make.ok('pooler', 'connected directly, no pooler in front')];
  const isShared = await meetsOther(client, openSecond);
  return [await modeOf(client, isShared)];
}

async function modeOf(client: pg.Client, isShared: boolean): Promise<Line> {
  if (!isShared) return make.ok('pooler', 'a pooler in session mode is in front');
  try {
    await client.query('begin read only');
    await client.query('commit');
  } catch {
    await client.query('rollback').catch(() => {});
    return make.failure(
      'pooler',
      'a pooler in statement mode is in front, which refuses transactions',
      'Set pool_mode = transaction (or session) for this database in PgBouncer.',
    );
  }
  return make.ok(
    'pooler',
    'a pooler in transaction mode is in front (PgBouncer), which is supported: each transaction sets its own limits of time',
  );
}

async function meetsOther(client: Client, openSecond: () => Promise<pg.Client | undefined>): Promise<boolean> {
  const second = await openSecond();
  if (second === undefined) return false;
  try {
    const [ours, theirs] = [new Set<number>(), new Set<number>()];
    for (let round = 0; round < ROUNDS; round += 1) {
      ours.add(await backendOf(client));
      theirs.add(await backendOf(second));
    }
    return ours.size > 1 || theirs.size > 1 || [...ours].some((pid) => theirs.has(pid));
  } finally {
    await second.end().catch(() => {});
  }
}

async function backendOf(client: Client): Promise<number> {
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return Number((rows as { pid: number }[])[0]?.pid);
}
