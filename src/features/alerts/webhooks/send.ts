import { lookup as systemLookup } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { systemTimers, type Timers } from '../../../shared/timers.ts';
import type { WEBHOOK_FAILURES } from '../domain/records.ts';
import { isPublicAddress } from './addresses.ts';
import { type AllowedTargets, hostOf, parseTarget } from './target.ts';

export type WebhookFailure = (typeof WEBHOOK_FAILURES)[number];

export interface WebhookResult {
  readonly ok: boolean;
  /** Status of the answer; `null` = there was none. */
  readonly httpStatus: number | null;
  readonly failure: WebhookFailure | null;
  /** Seconds that the receiver asked us to wait. */
  readonly retryAfterSec?: number | undefined;
}

export interface WebhookRequest {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SenderOptions {
  readonly allowed: AllowedTargets;
  /** Bound of the whole exchange, ms. */
  readonly timeoutMs?: number | undefined;
  readonly timers?: Timers | undefined;
  /** Resolves host names; default: the system's resolver. */
  readonly lookup?: typeof systemLookup | undefined;
  /** Certificates that receivers are trusted by, instead of the public ones. */
  readonly ca?: string | undefined;
}

export type SendWebhook = (request: WebhookRequest, signal?: AbortSignal) => Promise<WebhookResult>;

const TIMEOUT_MS = 10_000;
/** Read of an answer at most: receivers expect a short one to be read; its content is not used. */
const MAX_READ_BYTES = 4_096;
const MAX_HEADER_BYTES = 8_192;

/** The name resolves to an address that is not public. */
class ClosedAddressError extends Error {}

/**
 * Create the sender of webhooks. It connects to addresses that it has checked itself and to no other, follows no redirect,
 * and uses each connection once. It never rejects.
 */
export function createWebhookSender(options: SenderOptions): SendWebhook {
  const { allowed, timeoutMs = TIMEOUT_MS, timers = systemTimers } = options;
  const lookup = checkedLookup(allowed, options.lookup ?? systemLookup);
  return async ({ url: text, body, headers }, signal) => {
    let url: URL;
    try {
      url = parseTarget(text, allowed, 'url');
    } catch {
      return failed('invalid_url');
    }
    // The names of addresses are not looked up.
    if (allowed === 'public' && isIP(hostOf(url)) !== 0 && !isPublicAddress(hostOf(url))) {
      return failed('address_not_public');
    }
    const isHttp = url.protocol === 'http:';
    const agent = isHttp ? new HttpAgent({ keepAlive: false }) : new HttpsAgent({ keepAlive: false });
    return new Promise<WebhookResult>((resolve) => {
      let answer: IncomingMessage | undefined;
      const request = (isHttp ? httpRequest : httpsRequest)(url, {
        method: 'POST',
        agent,
        lookup,
        maxHeaderSize: MAX_HEADER_BYTES,
        ca: options.ca,
        headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      });
      // A receiver that has answered has the event, however its answer goes on.
      const end = (failure: WebhookFailure): void => {
        timers.clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        request.destroy();
        agent.destroy();
        resolve(answer === undefined ? failed(failure) : resultOf(answer));
      };
      const timer = timers.setTimeout(() => end('timeout'), timeoutMs);
      const abort = (): void => end('timeout');
      signal?.addEventListener('abort', abort, { once: true });
      request.on('socket', (socket) =>
        socket.once('connect', () => {
          // The lookup has checked the address; checked again, because the runtime chooses which one it connects to.
          if (allowed === 'public' && !isPublicAddress(socket.remoteAddress ?? '')) end('address_not_public');
        }),
      );
      request.on('error', (error) => end(failureOf(error)));
      request.on('close', () => end('unreachable'));
      request.on('response', (response) => {
        answer = response;
        readBriefly(response, () => end('malformed'));
      });
      if (signal?.aborted) abort();
      else request.end(body);
    });
  };
}

/** Resolve a name to addresses of which every one is public. The connection uses the checked answer itself. */
function checkedLookup(allowed: AllowedTargets, lookup: typeof systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || first === undefined) return callback(error ?? new Error('no address'), '', 0);
      if (allowed === 'public' && !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(new ClosedAddressError(), '', 0);
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

/** Read the beginning of an answer, and go on at its end, at its failure, or when enough was read. */
function readBriefly(response: IncomingMessage, done: () => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_READ_BYTES) done();
  });
  response.on('end', done);
  response.on('error', done);
}

function resultOf({ statusCode = 0, headers }: IncomingMessage): WebhookResult {
  const ok = statusCode >= 200 && statusCode < 300;
  const retryAfter = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0];
  return {
    ok,
    httpStatus: statusCode,
    failure: ok ? null : statusCode >= 300 && statusCode < 400 ? 'redirect' : 'status',
    retryAfterSec: retryAfter === undefined ? undefined : Number(retryAfter),
  };
}

function failed(failure: WebhookFailure): WebhookResult {
  return { ok: false, httpStatus: null, failure };
}

/** Codes of the runtime for a certificate that is refused. */
const CERTIFICATE_FAILURES: readonly (readonly [RegExp, WebhookFailure])[] = [
  [/^(CERT_HAS_EXPIRED|ERROR_IN_CERT_NOT_AFTER_FIELD)$/, 'certificate_expired'],
  [/^(CERT_NOT_YET_VALID|ERROR_IN_CERT_NOT_BEFORE_FIELD)$/, 'certificate_not_yet_valid'],
  [/^(ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH$)/, 'certificate_host'],
  [/^DEPTH_ZERO_SELF_SIGNED_CERT$/, 'certificate_self_signed'],
  [/^CERT_REVOKED$/, 'certificate_revoked'],
  [
    /^(EE_KEY_TOO_SMALL|CA_KEY_TOO_SMALL|CA_MD_TOO_WEAK|ERR_SSL_(EE|CA)_KEY_TOO_SMALL|ERR_SSL_CA_MD_TOO_WEAK|ERR_SSL_DH_KEY_TOO_SMALL)$/,
    'certificate_weak',
  ],
  [/^(INVALID_PURPOSE|CERT_REJECTED|CERT_SIGNATURE_FAILURE)$/, 'certificate_refused'],
  [/CRL/, 'tls'],
  // An authority that is not public, or a chain without its certificates in between.
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_UNTRUSTED|CERT_CHAIN_TOO_LONG|PATH_LENGTH_EXCEEDED|INVALID_CA)/,
    'certificate_authority',
  ],
];

/** Name the failure of a connection by the code of the runtime. */
export function failureOf(error: Error & { readonly code?: string }): WebhookFailure {
  if (error instanceof ClosedAddressError) return 'address_not_public';
  const code = error.code ?? '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'ENODATA') return 'unknown_host';
  if (code.startsWith('HPE_')) return 'malformed';
  const certificate = CERTIFICATE_FAILURES.find(([pattern]) => pattern.test(code));
  if (certificate) return certificate[1];
  if (/CERT|TLS|SSL|PROTO|CRL/.test(code)) return 'tls';
  return 'unreachable';
}
