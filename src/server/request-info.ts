import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** What is known of a request before anything is parsed; the same for every transport. */
export interface RequestInfo {
  readonly correlationId: string;
  /** The `Authorization` header as received. */
  readonly authorization: string | undefined;
  /** Address of the client: the socket's, or the one that the outermost trusted proxy saw. */
  readonly clientIp: string;
}

const CORRELATION_ID = /^[A-Za-z0-9._-]{8,64}$/;

/** Keep a well-formed incoming correlation id, replace anything else. */
export function correlationIdOf(received: string | readonly string[] | undefined): string {
  return typeof received === 'string' && CORRELATION_ID.test(received) ? received : randomUUID();
}

/**
 * Find the client's address behind `trustedProxies` proxies that each append the address they saw. Entries further left
 * were written by the client and are never believed, so a spoofed header gains nothing.
 */
export function clientIpOf(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string {
  const socket = socketAddress ?? 'unknown';
  if (trustedProxies === 0 || forwardedFor === undefined) return socket;
  const hops = forwardedFor.split(',').map((hop) => hop.trim());
  const seen = hops[hops.length - trustedProxies];
  return seen !== undefined && /^[0-9a-fA-F.:]{2,45}$/.test(seen) ? seen : socket;
}

export function requestInfoOf(
  headers: IncomingHttpHeaders,
  socketAddress: string | undefined,
  trustedProxies: number,
): RequestInfo {
  const forwarded = headers['x-forwarded-for'];
  return {
    correlationId: correlationIdOf(headers['x-correlation-id']),
    authorization: headers.authorization,
    clientIp: clientIpOf(socketAddress, Array.isArray(forwarded) ? forwarded.join(',') : forwarded, trustedProxies),
  };
}
