import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/** Information on a request before anything is parsed; the same for every transport. */
export interface RequestInfo {
  readonly correlationId: string;
  /** The `Authorization` header as received, when its scheme is Bearer. Other schemes are not API keys. */
  readonly authorization: string | undefined;
  /** Address of the client: that of the socket, or the one that the outermost trusted proxy reported. */
  readonly clientIp: string;
  /** Make the signal that is aborted when the client disconnects before its answer is sent. Absent where that is not known. */
  readonly left?: (() => AbortSignal) | undefined;
  /** Whether it is answered only with a valid key: its connection is one too many without. Absent = no. */
  readonly needsKey?: boolean | undefined;
}

const CORRELATION_ID = /^[A-Za-z0-9._-]{8,64}$/;
const BEARER = /^bearer(?: |$)/i;

/** Return a well-formed incoming correlation id, or a new one in place of any other value. */
export function correlationIdOf(received: string | readonly string[] | undefined): string {
  return typeof received === 'string' && CORRELATION_ID.test(received) ? received : randomUUID();
}

/** Return the header if it contains a key. A proxy may add another scheme (Basic), which is ignored. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization !== undefined && BEARER.test(authorization) ? authorization : undefined;
}

const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/;
const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Parse an address as proxies write it: with a port, in brackets, IPv4 mapped into IPv6. `undefined` = not an address. */
export function addressOf(text: string): string | undefined {
  if (isIP(text) === 4) return text;
  const bare = BRACKETED.exec(text)?.[1] ?? WITH_PORT.exec(text)?.[1] ?? text;
  // A zone id names an interface of the proxy, not a client.
  const address = bare.replace(/%.*$/, '');
  const family = isIP(address);
  if (family !== 6) return family === 4 ? address : undefined;
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  // Normalize the spelling: a URL writes IPv6 in its shortest form.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  return mappedHex(canonical) ?? canonical;
}

/** Convert an IPv4 address mapped into IPv6 in hex, such as `::ffff:c000:201`. */
function mappedHex(address: string): string | undefined {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

/**
 * Return the client's address behind `trustedProxies` proxies that each append the address they saw. Entries further left were
 * written by the client and are ignored, so a spoofed header has no effect. An entry that is not an address counts as the
 * proxy's own.
 */
export function clientIpOf(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string {
  const socket = (socketAddress === undefined ? undefined : addressOf(socketAddress)) ?? 'unknown';
  if (trustedProxies === 0 || forwardedFor === undefined) return socket;
  const hops = forwardedFor.split(',');
  return addressOf((hops[hops.length - trustedProxies] ?? '').trim()) ?? socket;
}

export function requestInfoOf(
  headers: IncomingHttpHeaders,
  socketAddress: string | undefined,
  trustedProxies: number,
): RequestInfo {
  const forwarded = headers['x-forwarded-for'];
  return {
    correlationId: correlationIdOf(headers['x-correlation-id']),
    authorization: bearerOf(headers.authorization),
    clientIp: clientIpOf(socketAddress, Array.isArray(forwarded) ? forwarded.join(',') : forwarded, trustedProxies),
  };
}
