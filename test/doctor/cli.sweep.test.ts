import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { DOCTOR_USAGE, runDoctorCli } from '../../doctor/cli.ts';
import { createReport, reportSchema } from '../../doctor/core/report.ts';
import { linesOf } from '../../doctor/core/types.ts';
import { BUNDLED_DOCTOR } from '../support/bundle.ts';

const make = linesOf('nodes', 'RPC_URL_1 #1');
const report = createReport(
  [make.ok('answers', 'fast'), make.failure('chain_id', 'of chain 5', 'Put another there.')],
  {
    startedMs: 0,
    tookMs: 1_500,
    redact: (text) => text,
  },
);

async function run(...argv: string[]) {
  const requested: unknown[] = [];
  let [out, err] = ['', ''];
  const code = await runDoctorCli(argv, {
    run: async (options) => {
      requested.push(options);
      return report;
    },
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      err += text;
    },
  });
  return { code, out, err, requests: requested };
}

describe('runDoctorCli', () => {
  it('default: prints a table with the next steps, and returns the exit code of the report', async () => {
    const { code, out } = await run();
    expect(code).toBe(1);
    expect(out).toMatchInlineSnapshot(`
      "NODES
        ok    RPC_URL_1 #1: fast
        FAIL  RPC_URL_1 #1 [chain_id]: of chain 5
              do: Put another there.

      1 failed, 0 with a warning, 1 in order, 0 not applicable; 1.5 s.
      The next step is below each FAIL and WARN.
      "
    `);
  });

  it('behavior: --json prints the report; --only and --record are passed on', async () => {
    const { out, requests: request } = await run('--json', '--only', 'postgres, redis', '--record', 'somewhere');
    expect(reportSchema.parse(JSON.parse(out))).toEqual(report);
    expect(request).toEqual([{ recordTo: 'somewhere', only: ['postgres', 'redis'] }]);
  });

  it.each([['--jsno'], ['--only', 'nobody'], ['--record'], ['extra']])(
    'error: refuses %s %s before any check',
    async (...argv) => {
      const { code, err, requests } = await run(...argv);
      expect({ code, input: requests }).toEqual({ code: 1, input: [] });
      expect(err).toContain(DOCTOR_USAGE);
    },
  );

  it('behavior: --help', async () => {
    expect(await run('--help')).toMatchObject({ code: 0, out: DOCTOR_USAGE, requests: [] });
  });
});

describe('node dist/doctor.js', () => {
  it('default: runs standalone and names missing settings', async () => {
    const child = spawn(process.execPath, [BUNDLED_DOCTOR, '--json', '--only', 'postgres'], {
      env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk;
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    const { lines } = reportSchema.parse(JSON.parse(out));
    const failed = lines.filter(({ status }) => status === 'failure').map(({ subject }) => subject);
    expect(failed).toEqual(['RPC_URL_1', 'RPC_URL_4663', 'DATABASE_URL', 'KEY_PEPPER']);
  });
});
