import { systemClock } from '../../../src/shared/clock.ts';
import { systemTimers } from '../../../src/shared/timers.ts';
import { lockFile } from '../../../src/snapshot/file-lock.ts';

/** A process that locks a file until it is killed: `hold-file.ts <path>`. It prints `locked`, or why it is not. */
const [, , path = ''] = process.argv;
try {
  await lockFile({ path, clock: systemClock, timers: systemTimers });
  process.stdout.write(`locked as ${process.pid}\n`);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? `${error.name}: ${error.message}` : error}\n`);
  process.exit(1);
}
