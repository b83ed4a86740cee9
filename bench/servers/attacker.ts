import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { serve } from '../serve.ts';

/** The attack of one address until it is stopped. */
export interface AttackerInput {
  readonly url: string;
  readonly localAddress: string;
  readonly connections: number;
  readonly way: 'flood' | 'unread' | 'open';
  /** The repeated request; every `query A` in the body gets a new name each time, because documents are cached. */
  readonly request: {
    readonly path: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | undefined;
  };
}

/** The bystander measures on the same core and has priority. */
const LOW_PRIORITY = 10;
const PAUSE_MS = 20;

serve<AttackerInput>(async (input) => {
  setPriority(LOW_PRIORITY);
  const ending = new AbortController();
  const statuses: Record<string, number> = {};
  const note = (status: number) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  const ways = { flood, unread, open };
  const ended = ways[input.way](input, ending.signal, note);
  return {
    url: '',
    figures: () => ({ statuses }),
    async stop() {
      ending.abort();
      await ended;
    },
  };
});

type Way = (input: AttackerInput, signal: AbortSignal, note: (status: number) => void) => Promise<void>;

/** Repeat the request over many connections. */
async function flood(
  { url, localAddress, connections, request: requested }: AttackerInput,
  ...rest: Rest
): Promise<void> {
  const [signal, note] = rest;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let i = 0;
  const worker = async () => {
    while (!signal.aborted) {
      i += 1;
      const body = requested.body?.replaceAll('query A', `query A${i}n`);
      const options = { method: requested.method, headers: { ...requested.headers }, agent, localAddress };
      await exchange(`${url}${requested.path}`, options, body).then(note, () => note(0));
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  agent.destroy();
}
type Rest = [signal: AbortSignal, note: (status: number) => void];

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

/** Open connections, request large answers on each, and read nothing. */
const unread: Way = (input, signal) =>
  opening(input, signal, 1, 'GET /graphiql/app.js HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(10));

/** Open as many connections as possible, and begin a request on each. */
const open: Way = (input, signal) => opening(input, signal, 20, 'GET /v1/tvl HTTP/1.1\r\nhost: ');

/** More than the service grants an address, and fewer than a process may have open. */
const OPEN_SOCKETS = 5_000;

async function opening({ url, localAddress }: AttackerInput, signal: AbortSignal, atOnce: number, text: string) {
  const { port, hostname } = new URL(url);
  const sockets = new Set<Socket>();
  while (!signal.aborted) {
    for (let i = 0; i < atOnce; i += 1) {
      const socket = connect({ port: Number(port), host: hostname, localAddress });
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
      socket.pause();
      socket.write(text);
      sockets.add(socket);
      // Without reading, the end of a refused connection is not noticed: the oldest is closed.
      const [oldest] = sockets;
      if (oldest && sockets.size > OPEN_SOCKETS) {
        sockets.delete(oldest);
        oldest.destroy();
      }
    }
    await pause();
  }
  for (const socket of sockets) socket.destroy();
}

function exchange(
  url: string,
  options: { method: string; headers: Record<string, string>; agent: Agent; localAddress: string },
  body: string | undefined,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (answer) => {
      answer
        .resume()
        .on('end', () => resolve(answer.statusCode ?? 0))
        .on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}
