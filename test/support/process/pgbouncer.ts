import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';

/** Start a PgBouncer in transaction mode before a Postgres. @param more lines of its configuration */
export async function startPgBouncer(target: string, more: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'spiral-gateway-pgbouncer-'));
  const port = await freePort();
  const { hostname, port: to, username, password, pathname } = new URL(target);
  const config = [
    '[databases]',
    `* = host=${hostname} port=${to} user=${username} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 5',
    ...more,
  ];
  writeFileSync(join(folder, 'pgbouncer.ini'), `${config.join('\n')}\n`);
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn('pgbouncer', [...asNobody, join(folder, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    ended.then(([code]) => reject(new Error(`pgbouncer ended with ${code}`)), reject);
    child.stderr.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('process up')) resolve();
    });
  });
  return {
    url: `postgres://any:any@127.0.0.1:${port}${pathname}`,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
