import type { RestRequest, RestResponse } from '../rest/types.ts';
import { chooseEncoding, compressQuickly, MIN_COMPRESSED_BYTES } from './compression.ts';
import { bytesOf } from './write.ts';

/**
 * Compress an answer that is made for one caller, in an encoding that the caller takes. An encoded one stays as it is, and a
 * failed compression leaves the plain bytes.
 */
export async function compressedAnswer(
  response: RestResponse,
  requestHeaders: RestRequest['headers'],
): Promise<RestResponse> {
  const { status, headers, budget, body } = response;
  const isEncoded = headers['content-encoding'] !== undefined;
  // A short answer is the same for every caller. A text has at least a byte per character.
  const isLong = typeof body === 'string' && body.length >= MIN_COMPRESSED_BYTES;
  if (!isEncoded && !isLong && bytesOf(body) < MIN_COMPRESSED_BYTES)
    return { status, headers, budget, encoded: {}, body };
  const encoding = chooseEncoding(requestHeaders['accept-encoding'], () => true);
  if (isEncoded || encoding === 'identity') return { status, headers, budget, encoded: VARIES, body };
  try {
    const bytes = await compressQuickly(wholeOf(body), encoding);
    return { status, headers, budget, encoded: { ...VARIES, 'content-encoding': encoding }, body: bytes };
  } catch {
    return { status, headers, budget, encoded: VARIES, body };
  }
}

const VARIES = { vary: 'accept-encoding' };

function wholeOf(body: RestResponse['body']): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.concat(body);
}
