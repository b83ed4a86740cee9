/** Values that must not be in a log line: keys, and addresses of wallets and clients. */
const SECRETS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bBearer\s+\S+/gi, 'Bearer [key]'],
  [/\bsg_(partner|ops)_[0-9A-Za-z_]+/g, 'sg_$1_[key]'],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, '$1[credentials]@'],
  [/\b0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g, '0x[address]'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, '[ip]'],
];

/** Remove keys and addresses from a text. */
export function scrub(text: string): string {
  return SECRETS.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), text);
}

export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly cause?: LoggedError | undefined;
}

const MAX_CAUSES = 3;

/** Describe an unexpected error for the log, without keys and addresses. */
export function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: scrub(String(error)) };
  return {
    type: error.name,
    message: scrub(error.message),
    stack: error.stack === undefined ? undefined : scrub(error.stack),
    cause: error.cause === undefined || depth >= MAX_CAUSES ? undefined : loggedError(error.cause, depth + 1),
  };
}
