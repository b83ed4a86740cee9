import { sendHttp } from '../../devnet/http.ts';

const WITHOUT_BODY = [204, 205, 304];

/**
 * `fetch` for the servers of a local world, in a fraction of the CPU time: for tests that send thousands of requests and are not
 * about the transport. It follows no redirect, and the headers come with the whole body.
 */
export const localFetch: typeof fetch = async (input, { method, headers, body, signal } = {}) => {
  signal?.throwIfAborted();
  const sending = sendHttp(String(input), {
    method,
    headers: Object.fromEntries(new Headers(headers)),
    body: typeof body === 'string' ? body : undefined,
  }).catch((cause: unknown) => {
    throw new TypeError('fetch failed', { cause });
  });
  const received = await (signal ? Promise.race([sending, aborted(signal)]) : sending);
  const given = Object.entries(received.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  const bytes = WITHOUT_BODY.includes(received.status) ? null : new Uint8Array(received.bytes);
  return new Response(bytes, { status: received.status, headers: given });
};

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
