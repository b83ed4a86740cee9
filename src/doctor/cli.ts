import { parseArgs } from 'node:util';
import type { Report } from './core/report.ts';
import { renderTable } from './core/table.ts';

export const USAGE = `Look at everything outside that the service depends on, with the service's own settings. Nothing is written.

  npm run doctor                    a table for people, with what to do
  npm run doctor -- --json          for machines; docs/operations.md has the form
  npm run doctor -- --record DIR    keep what providers said, without keys, as fixtures

Exit code: 0 everything is in order, 1 something fails, 2 something to look at.
`;

export interface DoctorCliDeps {
  readonly run: (options: { readonly recordTo?: string }) => Promise<Report>;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
}

/** Run the command and return its exit code. */
export async function runDoctorCli(argv: readonly string[], deps: DoctorCliDeps): Promise<number> {
  let values: ReturnType<typeof readArguments>;
  try {
    values = readArguments(argv);
  } catch (error) {
    deps.writeError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 1;
  }
  if (values.help === true) {
    deps.write(USAGE);
    return 0;
  }
  const report = await deps.run(values.record === undefined ? {} : { recordTo: values.record });
  deps.write(values.json === true ? `${JSON.stringify(report, null, 2)}\n` : renderTable(report));
  return report.exitCode;
}

function readArguments(argv: readonly string[]) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: 'boolean' },
      record: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.record === '') throw new Error('--record needs the folder to write to.');
  return values;
}
