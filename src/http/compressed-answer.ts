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
  // The length is that of the bytes that are written.
  const { 'content-length': _length, ...own } = response.headers as Record<string, string>;
  const { body } = response;
  const isEncoded = response.headers['content-encoding'] !== undefined;
  // A short answer is the same for every caller.
  if (!isEncoded && bytesOf(body) < MIN_COMPRESSED_BYTES) return { ...response, headers: own };
  const vary = own.vary === undefined ? 'accept-encoding' : `${own.vary}, accept-encoding`;
  const headers = { ...own, vary };
  const encoding = chooseEncoding(requestHeaders['accept-encoding'], () => true);
  if (isEncoded || encoding === 'identity') return { ...response, headers };
  try {
    const encoded = await compressQuickly(wholeOf(body), encoding);
    return { ...response, headers: { ...headers, 'content-encoding': encoding }, body: encoded };
  } catch {
    return { ...response, headers };
  }
}

function wholeOf(body: RestResponse['body']): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.concat(body);
}
