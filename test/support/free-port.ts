import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to connections and to servers without a port of their own (32768 and above). */
const BEGIN = 20_000;
/** Ports of each worker of the tests: none takes that of a server of another one which is restarting. */
const PORTS_PER_WORKER = 3_000;
const FIRST = BEGIN + ((Number(process.env.VITEST_POOL_ID ?? 1) - 1) % 4) * PORTS_PER_WORKER;
const given = new Set<number>();

/** Find a free loopback port for programs that need a port number: no port twice, and none that another program gets by chance. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, FIRST + PORTS_PER_WORKER);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen(port, '127.0.0.1');
  try {
    await listening;
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
