import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A running benchmark server: how to stop it, and its values when ready. */
export interface Served {
  readonly url: string;
  readonly report?: Readonly<Record<string, unknown>>;
  /** Further values that are returned with the cost. */
  figures?(): object;
  stop(): Promise<void>;
}

/** Be the child of `startChild`: start once with the parent's input, report the cost, stop. */
export function serve<Input>(start: (input: Input) => Promise<Served>): void {
  let served: Promise<Served> | undefined;
  let figures: () => object = () => ({});
  process.on('message', (message: { start?: Input; cost?: true; stop?: true }) => {
    if (message.start !== undefined) {
      served = start(message.start);
      served.then(
        (running) => {
          figures = running.figures?.bind(running) ?? figures;
          process.send?.({ ready: { url: running.url, ...running.report } });
        },
        (error: unknown) => {
          // Servers started before the failure would keep the process alive, and the parent waiting.
          process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`, () => process.exit(1));
        },
      );
    }
    if (message.cost) {
      const { user, system } = process.cpuUsage();
      const peakRssBytes = process.resourceUsage().maxRSS * 1024;
      process.send?.({
        cost: { cpuUs: user + system, userUs: user, rssBytes: process.memoryUsage.rss(), peakRssBytes, ...figures() },
      });
    }
    if (message.stop) {
      const ended = served?.then((running) => running.stop()) ?? Promise.resolve();
      void ended.catch(() => {}).then(() => process.disconnect());
    }
  });
}

/** Listen on a free port of loopback. */
export async function listen(listener: RequestListener): Promise<Served> {
  return listening(createServer({ keepAliveTimeout: 65_000 }, listener));
}

export async function listening(server: Server): Promise<Served> {
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
