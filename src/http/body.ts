import type { IncomingMessage } from 'node:http';
import { AppError, BadRequestError } from '../shared/errors.ts';

export class PayloadTooLargeError extends AppError<{ readonly limitBytes: number }> {
  constructor(limitBytes: number) {
    super('payload_too_large', `The body is larger than ${limitBytes} bytes. Send a smaller one.`, {
      details: { limitBytes },
    });
  }
}

/**
 * Read a request body into memory, at most `limit` bytes.
 * @throws PayloadTooLargeError, BadRequestError when it breaks off
 */
export async function readNodeBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw new PayloadTooLargeError(limit);
  if (request.readableEnded) return new Uint8Array();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        request.off('data', take);
        reject(new PayloadTooLargeError(limit));
      }
    };
    request.on('data', take);
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const left = () =>
      reject(new BadRequestError('The connection ended before the body. Send it again.', { field: 'body' }));
    request.once('error', left);
    // A caller that disconnects sends no end of the body.
    request.once('close', () => {
      if (!request.readableEnded) left();
    });
  });
}
