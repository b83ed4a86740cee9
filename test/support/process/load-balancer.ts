import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A load balancer before the api processes: sends each request once, to a ready process. */
export interface LoadBalancer {
  readonly url: string;
  /** Set the available processes. */
  use(urls: readonly string[]): void;
  /** Known number of ready processes. */
  ready(): number;
  stop(): Promise<void>;
}

/** Interval of a careful deployment; it has to be shorter than STOP_DELAY_SEC. */
const CHECK_MS = 100;
const KEEP_ALIVE_MS = 65_000;

export async function startLoadBalancer(): Promise<LoadBalancer> {
  const agent = new Agent({ keepAlive: true });
  let urls: readonly string[] = [];
  let ready: readonly string[] = [];
  let turn = 0;
  let stopped = false;
  const check = async (): Promise<void> => {
    while (!stopped) {
      const states = await Promise.all(
        urls.map((url) =>
          fetch(`${url}/ready`).then(
            ({ ok }) => ok,
            () => false,
          ),
        ),
      );
      ready = urls.filter((_url, i) => states[i]);
      await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    }
  };
  // Longer than a client leaves a connection idle: one that is closed while a request is on its way is lost.
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (req, res) => {
    const target = ready[turn++ % ready.length];
    if (target === undefined) {
      res.writeHead(502).end();
      return;
    }
    const sent = request(`${target}${req.url}`, { agent, method: req.method, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    sent.once('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
    req.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const checking = check();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use(next) {
      urls = next;
    },
    ready: () => ready.length,
    async stop() {
      stopped = true;
      await checking;
      agent.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
