import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook as it arrived. */
export interface ReceivedWebhook {
  readonly receivedAt: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Takes the webhooks of alerts in the local world: `POST` any path, `GET` lists the latest ones. */
export interface WebhookReceiver {
  readonly url: string;
  /** The latest ones, the oldest first. */
  received(): readonly ReceivedWebhook[];
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const KEPT = 50;
const MAX_BODY_BYTES = 100_000;

/** Start the receiver on a free port of this machine. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      response.end(`${JSON.stringify({ received }, null, 2)}\n`);
      return;
    }
    readText(request).then(
      (body) => {
        const headers = Object.entries(request.headers).filter(([name]) => name.startsWith('x-spiral-'));
        received.push({ receivedAt: new Date().toISOString(), headers: Object.fromEntries(headers) as never, body });
        if (received.length > KEPT) received.shift();
        response.writeHead(204).end();
      },
      () => response.writeHead(400).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    received: () => received,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('the webhook is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
