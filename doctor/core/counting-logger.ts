import type { Logger } from '../../src/shared/logger.ts';

/** A logger without output that counts the rows that adapters drop. */
export function countingLogger(): { readonly logger: Logger; readonly dropped: () => number } {
  let dropped = 0;
  const count: Logger['warn'] = (fields) => {
    if (typeof fields.dropped === 'number') dropped += fields.dropped;
  };
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: count,
    error: () => {},
    child: () => logger,
  };
  return { logger, dropped: () => dropped };
}
