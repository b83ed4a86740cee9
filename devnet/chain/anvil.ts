import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PortTakenError } from '../port.ts';
import { projectRoot } from '../root.ts';

export interface AnvilOptions {
  readonly chainId: number;
  /** Absent: a free one. */
  readonly port?: number | undefined;
  /** Time of the genesis block, unix seconds. */
  readonly timestamp: number;
  /** Number of past blocks that can be read. Older states are dropped, because they take gigabytes of disk per hour. */
  readonly history: number;
  /** Path of the binary; absent: the one of the optional npm package, else `anvil` on PATH. */
  readonly anvilBin?: string | undefined;
}

export interface Anvil {
  readonly chainId: number;
  readonly rpcUrl: string;
  /** End the process and wait until it is gone. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 10_000;
const PACKAGE_BINARY = join('@foundry-rs', 'anvil-linux-amd64', 'bin', 'anvil');

// When this process ends in any way, the pipe to the shell closes, `read` returns and anvil is ended.
// The shell closes its stdout, so that the end of stdout means the end of anvil.
const GUARD = '"$@" & child=$!; exec 1>&- 2>&-; read -r _; kill "$child" 2>/dev/null; wait "$child"';

/**
 * Start a local chain on 127.0.0.1 and wait until it listens. It mines on every transaction.
 * @throws PortTakenError
 * @throws Error when the binary is missing.
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const binary = findAnvil(options.anvilBin);
  const guard = spawn('/bin/sh', ['-c', GUARD, 'anvil-guard', binary, ...argumentsOf(options)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // Ctrl-C in a terminal is for us: the chain lives until we have drained
  });
  const ended = new Promise<void>((resolve) => guard.once('close', () => resolve()));
  try {
    const port = await listeningPort(guard, options);
    guard.stdout.once('end', () => guard.stdin.end()); // anvil ended by itself: end its guard too
    return {
      chainId: options.chainId,
      rpcUrl: `http://127.0.0.1:${port}`,
      stop: () => {
        guard.stdin.end();
        return ended;
      },
    };
  } catch (error) {
    guard.stdin.end();
    await ended;
    throw error;
  }
}

function argumentsOf(options: AnvilOptions): string[] {
  const values = {
    host: '127.0.0.1',
    port: options.port ?? 0,
    'chain-id': options.chainId,
    timestamp: options.timestamp,
    order: 'fifo',
    'prune-history': options.history,
  };
  // Without CORS headers no web page can control the chain through a browser.
  return ['--no-cors', ...Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)])];
}

function findAnvil(given: string | undefined): string {
  if (given !== undefined) return given;
  const packaged = join(projectRoot(), 'node_modules', PACKAGE_BINARY);
  return existsSync(packaged) ? packaged : 'anvil';
}

function listeningPort(guard: ChildProcess, options: AnvilOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (what: string): void => {
      clearTimeout(timer);
      const { chainId } = options;
      const taken = /address already in use/i.test(output);
      reject(
        taken
          ? new PortTakenError(`the local chain ${chainId}`, options.port, `DEVNET_PORT_${chainId}`)
          : new Error(`The local chain ${chainId} did not start: ${what}: ${output.trim().slice(-500)}`),
      );
    };
    const timer = setTimeout(() => fail(`no answer within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    const listen = (chunk: Buffer): void => {
      output += chunk.toString();
      const port = /Listening on [^\s]*:(\d+)/.exec(output)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      guard.stdout?.off('data', listen).resume(); // keep draining: a full pipe would block the chain
      guard.stderr?.off('data', listen).resume();
      resolve(Number(port));
    };
    guard.stdout?.on('data', listen);
    guard.stderr?.on('data', listen);
    guard.once('error', (error) => fail(error.message));
    // Read both: the reason is in one of them, and the other may end first.
    let open = 2;
    const over = (): void => {
      open -= 1;
      if (open === 0) fail('anvil (npm install, ANVIL_BIN or PATH) ended at once');
    };
    guard.stdout?.once('end', over);
    guard.stderr?.once('end', over);
  });
}
