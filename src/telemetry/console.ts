import { format } from 'node:util';
import type { Logger } from '../shared/logger.ts';
import { scrub } from '../shared/scrub.ts';

const METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const;
const MAX_CHARS = 1_000;

/**
 * Log the console output of libraries and the warnings of Node, so that every line of the log is JSON. The service itself
 * does not use the console.
 */
export function logConsole(logger: Logger, target: Console = console): void {
  const write = (text: string): void => logger.warn({ text: scrub(text).slice(0, MAX_CHARS) }, 'library message');
  for (const method of METHODS) target[method] = (...args: readonly unknown[]) => write(format(...args));
}

/** Log the warnings of Node instead of printing them. */
export function logProcessWarnings(logger: Logger, target: Pick<NodeJS.Process, 'on' | 'removeAllListeners'>): void {
  target.removeAllListeners('warning');
  target.on('warning', ({ name, message }: Error) => {
    logger.warn({ text: scrub(`${name}: ${message}`).slice(0, MAX_CHARS) }, 'library message');
  });
}
