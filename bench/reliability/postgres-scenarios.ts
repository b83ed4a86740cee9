import pg from 'pg';
import type { Lab } from './environment.ts';
import type { Fleet, Scenario } from './scenarios.ts';

export interface PostgresScenarioDeps {
  readonly lab: Lab;
  readonly fleet: Fleet;
  /** Note the beginning of the repair. */
  readonly mark: () => void;
  /** Whether all api processes check keys and serve newer facts. */
  readonly recovered: () => Promise<boolean>;
}

/** How late each message of Postgres and each one to it is, ms: less than the time limit of a statement. */
const LATE_MS = 1_000;

/** List the faults of Postgres. */
export function postgresScenarios(
  { lab, fleet, mark, recovered }: PostgresScenarioDeps,
  minuteSec: number,
): readonly Scenario[] {
  /** Whether no process reports a problem of Postgres any more. */
  const healed = async () => {
    const reports = await Promise.all(
      [...fleet.apis, fleet.warmer].map(
        async ({ url }) =>
          (await (await fetch(`${url}/health`)).json()) as { readonly database: { readonly ok: boolean } },
      ),
    );
    return reports.every(({ database }) => database.ok) && recovered();
  };
  const onLine = (name: string, set: () => void): Scenario => ({
    name,
    holdSec: minuteSec,
    break: set,
    mend: () => {
      mark();
      lab.postgresLine.set({ kind: 'pass' });
    },
    recovered: healed,
  });
  const outage = (name: string, holdSec: number): Scenario => ({
    name,
    holdSec,
    break: () => lab.stopPostgres(),
    mend: async () => {
      mark();
      await lab.startPostgres();
    },
    recovered: healed,
  });
  return [
    outage(`Postgres is gone for ${minuteSec} s`, minuteSec),
    outage('Postgres is restarted', 0),
    onLine(`Postgres answers every message ${LATE_MS / 1_000} s late for ${minuteSec} s`, () =>
      lab.postgresLine.set({ kind: 'slow', ms: LATE_MS / 2 }),
    ),
    onLine(`connections to Postgres stay open and carry nothing for ${minuteSec} s`, () =>
      lab.postgresLine.set({ kind: 'swallow' }),
    ),
    {
      name: `Postgres is read-only for ${minuteSec} s`,
      holdSec: minuteSec,
      break: () => setReadOnly(lab.databaseUrl, 'on'),
      mend: () => {
        mark();
        return setReadOnly(lab.databaseUrl, 'off');
      },
      recovered: healed,
    },
  ];
}

/** Make the server refuse writes, or accept them again; open sessions follow too. */
async function setReadOnly(databaseUrl: string, value: 'on' | 'off'): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('set default_transaction_read_only = off');
    await client.query(`alter system set default_transaction_read_only = ${value}`);
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
}
