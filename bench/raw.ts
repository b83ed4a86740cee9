import { request } from 'node:http';
import type { Shot } from './load.ts';

export interface Raw {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const POLL_MS = 20;

/** Send one request without decoding a compressed answer. Compressed bytes are ready shortly after the plain ones: wait for them. */
export async function askRaw(url: string, shot: Shot): Promise<Raw> {
  const encoding = shot.headers?.['accept-encoding'];
  for (;;) {
    const answer = await exchange(url, shot);
    if (encoding === undefined || answer.headers['content-encoding'] === encoding) return answer;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function exchange(url: string, { path, method = 'GET', headers, body }: Shot): Promise<Raw> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, headers: { ...headers, ...type } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const texts = Object.entries(response.headers).filter((entry): entry is [string, string] => {
          return typeof entry[1] === 'string';
        });
        resolve({ headers: Object.fromEntries(texts), body: Buffer.concat(chunks) });
      });
    });
    sent.once('error', reject).end(body?.());
  });
}
