import type { IncomingMessage } from 'node:http';
import { AppError } from '../shared/errors.ts';

export class PayloadTooLargeError extends AppError<{ readonly limitBytes: number }> {
  constructor(limitBytes: number) {
    super('payload_too_large', `The body is larger than ${limitBytes} bytes. Send a smaller one.`, {
      details: { limitBytes },
    });
  }
}

/** Read a request body into memory, never more than `limit` bytes. @throws PayloadTooLargeError */
export async function readNodeBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw new PayloadTooLargeError(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new PayloadTooLargeError(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The same for a WHATWG request. @throws PayloadTooLargeError */
export async function readFetchBody(request: Request, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (request.body) {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > limit) throw new PayloadTooLargeError(limit);
      chunks.push(chunk);
    }
  }
  return Buffer.concat(chunks);
}
