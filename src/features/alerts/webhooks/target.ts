import { isIP } from 'node:net';
import { BadRequestError } from '../../../shared/errors.ts';
import { formatValue } from '../../../shared/ids.ts';
import { isPublicAddress } from './addresses.ts';

/** Which receivers are allowed: those on the public internet over https, or any for a local world. */
export type AllowedTargets = 'public' | 'any';

const MAX_URL = 2_048;
const HTTPS_PORT = 443;
/** Ports below belong to other protocols. */
const FIRST_FREE_PORT = 1_024;
const PUBLIC_URL =
  'Send an https URL of a public host, on port 443 or from 1024 on, without user name, password and fragment.';

/**
 * Check the URL of a receiver, as far as it can be without resolving its name; addresses are checked on each connection.
 * @throws BadRequestError naming `field` and the next step
 */
export function parseTarget(text: string, allowed: AllowedTargets, field: string): URL {
  const refuse = (why: string): never => {
    // The path and the query of a webhook may be secret, and are repeated nowhere.
    throw new BadRequestError(`The webhook URL ${why}. ${PUBLIC_URL}`, { field, value: formatValue(placeOf(text)) });
  };
  if (text.length > MAX_URL) return refuse(`has ${text.length} characters, and may have ${MAX_URL}`);
  if (!URL.canParse(text)) return refuse('is not a URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return refuse('has a user name or a password');
  if (url.hash !== '') return refuse('has a fragment');
  if (allowed === 'any') {
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : refuse('is not an http(s) URL');
  }
  if (url.protocol !== 'https:') return refuse('is not an https URL');
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (port !== HTTPS_PORT && port < FIRST_FREE_PORT) return refuse(`has the port ${port}`);
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublicAddress(host)) return refuse('leads to an address that is not public');
  return url;
}

/** The host of a URL, an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Host and port of a URL: all of it that may be logged. */
export function receiverOf(url: URL): string {
  return `${url.hostname}:${url.port === '' ? (url.protocol === 'http:' ? 80 : HTTPS_PORT) : url.port}`;
}

function placeOf(text: string): string {
  if (!URL.canParse(text)) return text.length > 0 ? 'unreadable' : 'empty';
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
}
