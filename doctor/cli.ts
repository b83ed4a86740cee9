import { parseArgs } from 'node:util';
import type { Report } from './core/report.ts';
import { renderTable } from './core/table.ts';
import { AREAS, type Area } from './core/types.ts';

/** Areas that can be selected; the settings are always checked. */
const CHECKED = AREAS.filter((area) => area !== 'settings' && area !== 'doctor');

export const DOCTOR_USAGE = `Check all external dependencies with the settings of the service. Nothing is written.

  npm run doctor                    a table with the next steps
  npm run doctor -- --json          JSON; docs/upstreams.md has its form
  npm run doctor -- --only a,b      only these parts: ${CHECKED.join(', ')}
  npm run doctor -- --record DIR    store the answers of providers as fixtures, without keys

Exit code: 0 everything is in order, 1 a failure, 2 a warning.
`;

export interface DoctorCliDeps {
  readonly run: (options: {
    readonly recordTo?: string | undefined;
    readonly only?: readonly Area[] | undefined;
  }) => Promise<Report>;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
}

/** Run the command and return its exit code. */
export async function runDoctorCli(argv: readonly string[], deps: DoctorCliDeps): Promise<number> {
  let values: ReturnType<typeof readArguments>;
  try {
    values = readArguments(argv);
  } catch (error) {
    deps.writeError(`${error instanceof Error ? error.message : String(error)}\n\n${DOCTOR_USAGE}`);
    return 1;
  }
  if (values.help === true) {
    deps.write(DOCTOR_USAGE);
    return 0;
  }
  const report = await deps.run({
    recordTo: values.record,
    only: values.only === undefined ? undefined : areasIn(values.only),
  });
  deps.write(values.json === true ? `${JSON.stringify(report, null, 2)}\n` : renderTable(report));
  return report.exitCode;
}

function readArguments(argv: readonly string[]) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      json: { type: 'boolean' },
      only: { type: 'string' },
      record: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.record === '') throw new Error('--record needs a target folder.');
  if (values.only !== undefined) areasIn(values.only);
  return values;
}

/**
 * Parse a list of areas.
 * @throws Error naming an unknown area
 */
function areasIn(text: string): readonly Area[] {
  return text.split(',').map((name) => {
    const area = CHECKED.find((known) => known === name.trim());
    if (area === undefined)
      throw new Error(`--only: "${name.trim().slice(0, 40)}" is not one of ${CHECKED.join(', ')}.`);
    return area;
  });
}
