import { runDoctorCli } from '../doctor/cli.ts';
import { runDoctor } from '../doctor/doctor.ts';
import { systemClock } from '../src/shared/clock.ts';
import { systemTimers } from '../src/shared/timers.ts';

process.exitCode = await runDoctorCli(process.argv.slice(2), {
  run: (options) =>
    runDoctor({ raw: process.env, clock: systemClock, timers: systemTimers, fetch: globalThis.fetch, ...options }),
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
