import type { Headers } from '../shared/headers.ts';

/** CORS rules of every answer. */

export interface CorsPolicy {
  readonly origins: readonly string[] | '*';
}

/** Headers that scripts of other origins may read. */
const EXPOSED =
  'ETag, Age, Retry-After, RateLimit, RateLimit-Policy, Ignored-Parameters, Content-Disposition, Deprecation, Sunset, Link, Warning, Mcp-Session-Id, x-correlation-id';
const PREFLIGHT_MAX_AGE_SEC = 600;

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
};

/** No external resources or requests, and no framing. */
const HTML_POLICY =
  "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Content security policies of the HTML pages, each with the minimum that the page needs. */
export const HTML_SECURITY_HEADERS = {
  /** Scripts, workers and styles are local files; the editor compiles grammars and sets inline styles. */
  graphiql: {
    'content-security-policy': `${HTML_POLICY}; script-src 'self' 'unsafe-eval'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src data:`,
  },
  /** Local files and requests only. */
  strict: { 'content-security-policy': `${HTML_POLICY}; script-src 'self'; style-src 'self'; img-src 'self'` },
  /** Scripts and styles are local files; the viewer sets inline styles and shows data: images. */
  docs: {
    'content-security-policy': `${HTML_POLICY}; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:`,
  },
} as const;

/** CORS headers of an answer. Credentials are never allowed, because keys are sent in the Authorization header. */
export function corsHeaders(policy: CorsPolicy, origin: string | undefined): Record<string, string> {
  if (policy.origins === '*') return { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
  if (origin === undefined || !policy.origins.includes(origin)) return { vary: 'Origin' };
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED, vary: 'Origin' };
}

/**
 * The same for a refusal whose request could not be parsed, so that its origin may not be known: the only listed origin is
 * allowed then.
 */
export function rawCorsHeaders(policy: CorsPolicy, origin: string | undefined): Record<string, string> {
  const [only, ...others] = policy.origins === '*' ? [] : policy.origins;
  return corsHeaders(policy, origin ?? (others.length === 0 ? only : undefined));
}

/** Allowed where a preflight asks for no header. */
const USUAL_HEADERS =
  'authorization, content-type, x-correlation-id, idempotency-key, if-none-match, last-event-id, mcp-protocol-version, mcp-session-id';
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MAX_ASKED_CHARS = 4_096;

/**
 * Headers of the answer to a preflight. A page may send any headers, such as those of tracing: no answer depends on one that
 * only a browser could add, because credentials are never allowed.
 * @param asked the value of `Access-Control-Request-Headers`
 */
export function preflightHeaders(policy: CorsPolicy, origin: string | undefined, asked: string | undefined): Headers {
  const names =
    asked === undefined || asked.length > MAX_ASKED_CHARS ? [] : asked.split(',').map((name) => name.trim());
  const allowed = names.filter((name) => name !== '*' && HEADER_NAME.test(name)).join(', ');
  const { vary, ...headers } = corsHeaders(policy, origin);
  return {
    ...headers,
    'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
    'access-control-allow-headers': allowed === '' ? USUAL_HEADERS : allowed,
    'access-control-max-age': String(PREFLIGHT_MAX_AGE_SEC),
    vary: `${vary === undefined ? '' : `${vary}, `}Access-Control-Request-Headers`,
  };
}
