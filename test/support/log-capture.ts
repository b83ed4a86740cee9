import type { LogFields, Logger } from '../../src/shared/logger.ts';

export interface LogCapture {
  readonly logger: Logger;
  /** Every line since the last call, as the text that a person or a log shipper would read. */
  take(): string[];
}

/** Records every line of every level. */
export function captureLogs(): LogCapture {
  let lines: string[] = [];
  const at = (bound: LogFields): Logger => {
    const write = (level: string) => (fields: LogFields, msg: string) => {
      lines.push(`${level} ${msg} ${JSON.stringify({ ...bound, ...fields }, readable)}`);
    };
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      child: (fields) => at({ ...bound, ...fields }),
    };
  };
  return {
    logger: at({}),
    take() {
      const taken = lines;
      lines = [];
      return taken;
    },
  };
}

/** Errors as loggers write them: with message, stack, causes and own fields. */
function readable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { ...value, name, message, stack, cause };
}
