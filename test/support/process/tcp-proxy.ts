import type { AddressInfo } from 'node:net';
import { createConnection, createServer, type Socket } from 'node:net';

/** Behaviour before a TCP server: none, dropping all data on open connections, delay, or changed bytes in its answers. */
export type TcpMode =
  | { readonly kind: 'pass' }
  | { readonly kind: 'swallow' }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'change'; readonly answer: (bytes: Buffer) => Buffer };

export interface TcpProxy {
  readonly port: number;
  set(mode: TcpMode): void;
  /** Close open connections; new ones go to another server, or without a port to the first one again. */
  lead(port?: number): void;
  stop(): Promise<void>;
}

/** Start a TCP proxy on loopback. Dropped data is lost: connections of that time stay dead. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  let mode: TcpMode = { kind: 'pass' };
  let leadsTo = targetPort;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = createConnection({ host: '127.0.0.1', port: leadsTo });
    let isDead = mode.kind === 'swallow';
    const relay = (from: Socket, to: Socket): void => {
      from.on('data', (chunk) => {
        if (mode.kind === 'swallow') isDead = true;
        if (isDead) return;
        if (mode.kind === 'change' && from === upstream) to.write(mode.answer(Buffer.from(chunk)));
        else if (mode.kind === 'slow') setTimeout(() => to.destroyed || to.write(chunk), mode.ms);
        else to.write(chunk);
      });
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      sockets.add(from);
    };
    relay(client, upstream);
    relay(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      mode = next;
    },
    lead(port = targetPort) {
      leadsTo = port;
      for (const socket of sockets) socket.destroy();
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
