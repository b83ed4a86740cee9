import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../src/shared/logger.ts';
import { corrupt } from './corrupt.ts';
import { deliver, type Sleep } from './deliver.ts';
import type { AppliedFault, FaultStore } from './faults.ts';
import type { Limiter } from './limits.ts';
import { providers } from './providers/index.ts';
import type { RequestLog } from './request-log.ts';
import { PROVIDERS, type Provider, type SimRequest, type SimResponse, type World } from './types.ts';

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 1_000_000;

export interface UpstreamServer {
  readonly origin: string;
  stop(): Promise<void>;
}

interface Dependencies {
  readonly world: World;
  readonly faults: FaultStore;
  readonly log: RequestLog;
  readonly limiter: Limiter;
  readonly logger: Logger;
  readonly sleep: Sleep;
  /** Absent: a free one. */
  readonly port?: number | undefined;
}

/**
 * Serve every provider under its own path prefix on 127.0.0.1.
 * @throws Error when the port is taken.
 */
export async function startUpstreamServer(deps: Dependencies): Promise<UpstreamServer> {
  const ending = new AbortController();
  const server = createServer((incoming, response) => {
    answer(deps, incoming, response, ending.signal).catch((error: unknown) => {
      if (ending.signal.aborted || response.destroyed) return; // the client, or the world, is gone
      deps.logger.error({ error: error instanceof Error ? error.message : String(error) }, 'simulated upstream failed');
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: 'Internal server error' }));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`The simulated upstreams did not start: port ${deps.port} is taken; choose another one`)
          : error,
      ),
    );
    server.listen(deps.port ?? 0, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${HOST}:${port}`,
    stop: () =>
      new Promise((resolve) => {
        ending.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  { world, faults, log, limiter, sleep }: Dependencies,
  incoming: IncomingMessage,
  response: ServerResponse,
  ending: AbortSignal,
): Promise<void> {
  const url = new URL(incoming.url ?? '/', `http://${HOST}`);
  const name = PROVIDERS.find((candidate) => isBelow(url.pathname, providers[candidate].base));
  if (name === undefined) {
    const known = Object.fromEntries(PROVIDERS.map((provider) => [provider, providers[provider].base]));
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: `No provider is simulated at ${url.pathname}`, providers: known }));
    return;
  }

  const text = await readBody(incoming);
  const request: SimRequest = {
    method: incoming.method ?? 'GET',
    path: url.pathname.slice(providers[name].base.length),
    query: url.searchParams,
    headers: Object.fromEntries(Object.entries(incoming.headers).map(([key, value]) => [key, String(value)])),
    body: parsed(text),
  };
  const fault = faults.take(name, `${request.path}${url.search}`);
  const record = log.add(name, request, fault?.kind);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // Only the delivery of a fault waits.
  const signal = fault === undefined ? ending : AbortSignal.any([gone.signal, ending]);
  const { isRefused, headers } = limiter.take(name, request);
  const refusal = { status: 429, body: providers[name].refusal(429, 'Too Many Requests') };
  const reply = { ...(isRefused ? refusal : await replyOf(name, request, world, fault)), headers };
  record.status = await deliver(response, reply, fault, { sleep, signal, nowMs: world.clock.now() });
}

async function replyOf(
  name: Provider,
  request: SimRequest,
  world: World,
  fault: AppliedFault | undefined,
): Promise<SimResponse> {
  const provider = providers[name];
  switch (fault?.kind) {
    case 'status':
      return { status: fault.status, body: provider.refusal(fault.status, 'Simulated failure') };
    case 'answer':
      return { status: fault.status, body: fault.body };
    case 'unauthorized':
      return { status: 401, body: provider.refusal(401, 'Unauthorized') };
    case 'rateLimited':
      return { status: 429, body: provider.refusal(429, 'Too Many Requests') };
    case 'hang':
      return { status: 200, body: null };
    default: {
      const good = await provider.handle(request, world);
      return fault === undefined ? good : { ...good, body: corrupt(good.body, fault, provider.shape) };
    }
  }
}

function isBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`);
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error(`A request body exceeds ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
