import { parseArgs } from 'node:util';
import { StartupError } from '../shared/errors.ts';
import { DatabaseUnavailableError } from './connection/errors.ts';
import { DATABASE_PROBLEMS } from './connection/problems.ts';
import { grantsFor } from './grants.ts';
import type { SchemaState } from './schema-state.ts';

export const MIGRATE_USAGE = `Apply the pending migrations to the database of DATABASE_URL. Run it with the role that owns the tables.

  npm run migrate                    apply them; several processes may do so at once
  npm run migrate -- --status        list pending ones and those of newer versions, without a write
  npm run migrate -- --grants ROLE   print the rights that the role of the service needs, as SQL

Exit code: 0 everything is applied, 1 a failure, 2 migrations are pending (--status).
`;

export interface MigrateCliDeps {
  /** @throws StartupError when the settings are invalid */
  readonly databaseUrl: () => string | undefined;
  /** Apply the pending migrations, and return their names. @throws StartupError */
  readonly apply: (url: string) => Promise<readonly string[]>;
  readonly inspect: (url: string) => Promise<SchemaState>;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
}

/** Run the command and return its exit code. */
export async function runMigrateCli(argv: readonly string[], deps: MigrateCliDeps): Promise<number> {
  const options = readArguments(argv);
  if (typeof options === 'string') {
    deps.writeError(`${options}\n\n${MIGRATE_USAGE}`);
    return 1;
  }
  const { help, grants, status } = options;
  if (help === true || grants !== undefined) {
    deps.write(grants === undefined ? MIGRATE_USAGE : grantsFor(grants));
    return 0;
  }
  try {
    const url = deps.databaseUrl();
    if (url === undefined) throw new StartupError('Set DATABASE_URL to the Postgres database of the service.');
    if (status === true) return await printStatus(url, deps);
    const applied = await deps.apply(url);
    deps.write(applied.length === 0 ? 'No migration is pending.\n' : `Applied: ${applied.join(', ')}.\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof StartupError || error instanceof DatabaseUnavailableError)) throw error;
    deps.writeError(`${failureMessage(error)}\n`);
    return 1;
  }
}

async function printStatus(url: string, { inspect, write }: MigrateCliDeps): Promise<number> {
  const { pending, newer } = await inspect(url);
  write(`Pending: ${pending.join(', ') || 'none'}.\nOf newer versions: ${newer.join(', ') || 'none'}.\n`);
  return pending.length === 0 ? 0 : 2;
}

/** Word a failure for the output of a command. */
export function failureMessage(error: StartupError | DatabaseUnavailableError): string {
  if (!(error instanceof DatabaseUnavailableError)) return error.message;
  return `DATABASE_URL: no usable answer (${error.problem}). ${DATABASE_PROBLEMS[error.problem].todo}`;
}

/** Returns a message when the arguments are wrong. */
function readArguments(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        status: { type: 'boolean' },
        grants: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return values.grants === '' ? '--grants needs the name of a role.' : values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
