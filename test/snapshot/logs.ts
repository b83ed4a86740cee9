import type { Logger } from '../../src/shared/logger.ts';

/** A logger that remembers its messages from `info` upwards. */
export function rememberingLogger(): Logger & { readonly messages: string[] } {
  const messages: string[] = [];
  const remember = (_fields: unknown, msg: string): void => {
    messages.push(msg);
  };
  const logger = { messages, debug: () => {}, info: remember, warn: remember, error: remember, child: () => logger };
  return logger;
}
