import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createChanges } from '../../src/services/changes.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { startTestGateway, UNLIMITED } from '../../test/http/test-gateway.ts';

/*
 * The memory that dropped streams leave in a process: `npm run bench:streams -- [streams] [rounds]`. The clients are bare
 * sockets that break off after the head of the answer, so that they leave little themselves.
 */

const [streams = 1_000, rounds = 5] = process.argv.slice(2).map(Number);
/** The most streams of one client without a key. */
const AT_ONCE = 10;
const BODY = JSON.stringify({ query: 'subscription { freshnessChanged { __typename } }' });
const REQUEST = `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: text/event-stream\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The heap after a full collection. */
async function heapBytes(): Promise<number> {
  // The lines that the gateway has captured are no memory of the service.
  gateway.logs.take();
  for (let i = 0; i < 10; i += 1) await turn();
  collect();
  return process.memoryUsage().heapUsed;
}

let open = 0;
const changes = createChanges({
  snapshot: { subscribe: () => () => {} },
  clock: systemClock,
  timers: systemTimers,
  maxOpen: 100,
  onChange: ({ change }) => {
    open += change === 'opened' ? 1 : -1;
  },
});
const gateway = await startTestGateway({ services: { changes }, env: UNLIMITED });
const port = Number(new URL(gateway.url).port);

/** Open a stream, and break it off once it has begun. */
const drop = () =>
  new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(REQUEST));
    socket.on('error', reject);
    socket.once('data', (head) => {
      socket.destroy();
      if (head.toString().startsWith('HTTP/1.1 200')) resolve();
      else reject(new Error(head.toString()));
    });
  });

async function dropAll(count: number): Promise<void> {
  for (let dropped = 0; dropped < count; dropped += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, drop));
    while (open > 0) await pause(2);
  }
}

// The first ones load and compile code that all of them use.
await dropAll(streams);
let before = await heapBytes();
process.stdout.write(`| dropped streams | heap after a full collection, MB | bytes left for each |\n|--:|--:|--:|\n`);
process.stdout.write(`| ${streams} | ${(before / 2 ** 20).toFixed(2)} | |\n`);
for (let round = 2; round <= rounds + 1; round += 1) {
  await dropAll(streams);
  const after = await heapBytes();
  process.stdout.write(
    `| ${streams * round} | ${(after / 2 ** 20).toFixed(2)} | ${Math.round((after - before) / streams)} |\n`,
  );
  before = after;
}
changes.close();
await gateway.stop();
