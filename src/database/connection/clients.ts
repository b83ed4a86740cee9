import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { CORRUPTED } from './problems.ts';

/** Limits of time that Postgres itself keeps, as parameters of the connection. A pooler in transaction mode refuses them. */
const LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout'] as const;

type Stream = EventEmitter & { destroy(error?: Error): void };

/** Parts of the driver that its types leave out. */
interface Wire {
  stream: Stream;
  attachListeners(stream: Pick<Stream, 'on'>): unknown;
}

/**
 * Make the constructor of clients for a pool. Bytes that are not the protocol fail the statement and close the connection; in
 * the driver alone they would end the process. `plain`: whether the transactions set the limits of time.
 */
export function clientsWith(plain: () => boolean): new (config: pg.ClientConfig) => pg.Client {
  const create = (config: pg.ClientConfig): pg.Client => {
    const client = new pg.Client(plain() ? withoutLimits(config) : config);
    // A broken connection is reported by its statement, or by the pool that drops it.
    client.on('error', () => {});
    const wire = wireOf(client);
    const attach = wire.attachListeners.bind(wire);
    wire.attachListeners = (stream) => attach(checked(stream, (error) => wire.stream.destroy(error)));
    return client;
  };
  return function Client(config: pg.ClientConfig) {
    return create(config);
  } as unknown as new (
    config: pg.ClientConfig,
  ) => pg.Client;
}

/** Close a connection whose peer may be silent: a regular end would wait for it. */
export function cut(client: object): void {
  wireOf(client).stream.destroy();
}

/** The driver parses within the listener of the socket, where no caller catches errors. */
function checked(stream: Pick<Stream, 'on'>, onCorrupted: (error: Error) => void): Pick<Stream, 'on'> {
  return {
    on(event, listener) {
      const call = (...args: unknown[]) => {
        try {
          listener(...args);
        } catch (cause) {
          onCorrupted(Object.assign(new Error('the server sent no valid frame', { cause }), { code: CORRUPTED }));
        }
      };
      return stream.on(event, event === 'data' ? call : listener) as Stream;
    },
  };
}

function withoutLimits(config: pg.ClientConfig): pg.ClientConfig {
  const rest: Record<string, unknown> = { ...config };
  for (const name of LIMITS) delete rest[name];
  return rest as pg.ClientConfig;
}

function wireOf(client: object): Wire {
  return (client as { readonly connection: Wire }).connection;
}
