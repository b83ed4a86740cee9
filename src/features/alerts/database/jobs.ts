import { sql } from 'kysely';
import type { Database } from '../../../database/client.ts';
import type { AlertJobRun } from '../domain/jobs.ts';
import { withAlertTables } from './tables.ts';

/** The jobs of alerts whose runs are recorded. */
export type AlertJobName = 'evaluation' | 'delivery';

/** The latest runs of the jobs of alerts, so that every process can show them. Every call may throw `UpstreamUnavailableError`. */
export interface AlertJobRepository {
  note(job: AlertJobName, run: Pick<AlertJobRun, 'failure'> & { readonly atMs: number }): Promise<void>;
  read(): Promise<ReadonlyMap<string, AlertJobRun>>;
}

/** Create the repository of the runs of jobs of alerts. */
export function createAlertJobRepository(database: Database): AlertJobRepository {
  const db = withAlertTables(database);
  return {
    async note(job, { atMs, failure }) {
      const at = sql`${new Date(atMs)}::timestamptz`;
      const failingSince = failure === null ? sql`null` : at;
      await sql`
        insert into alert_jobs as had (job, ran_at, failure, failing_since)
        values (${job}, ${at}, ${failure}, ${failingSince})
        on conflict (job) do update set ran_at = excluded.ran_at, failure = excluded.failure,
          failing_since = case when excluded.failure is null then null
            else coalesce(had.failing_since, excluded.failing_since) end`.execute(db);
    },
    async read() {
      const rows = await db.selectFrom('alert_jobs').selectAll().execute();
      return new Map(
        rows.map(({ job, ran_at, failure, failing_since }) => [
          job,
          { ranMs: ran_at.getTime(), failure, failingSinceMs: failing_since?.getTime() ?? null },
        ]),
      );
    },
  };
}
