import { write as writeFile, writeSync } from 'node:fs';

type Written = (error: NodeJS.ErrnoException | null, bytes: number) => void;

export interface LogOutputDeps {
  /** Descriptor of an open file, pipe or terminal. */
  readonly fd: number;
  /** Writes outside of the event loop; default: the one of Node. */
  readonly write?: ((fd: number, bytes: Buffer, done: Written) => void) | undefined;
  /** Memory for lines that wait to be written; further ones are lost. */
  readonly maxBytes?: number | undefined;
}

export interface LogOutput {
  write(line: string): void;
  /** Write the waiting lines within this turn, before the process exits. Never throws. */
  flush(): void;
}

const MAX_BYTES = 4 * 2 ** 20;
/** A pipe that is full and does not block is tried again after this time. */
const FULL_PIPE_MS = 100;

/**
 * Create the output of the log. A log that cannot be written loses lines, and stops nothing: the output of pino alone ends the
 * process at the first line for a full disk, and then tries for ever to write it before the exit.
 */
export function createLogOutput({ fd, write = writeFile, maxBytes = MAX_BYTES }: LogOutputDeps): LogOutput {
  let waiting = '';
  let isWriting = false;

  const put = (bytes: Buffer): void => {
    write(fd, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(put, FULL_PIPE_MS, bytes).unref();
      else if (error === null && written < bytes.length) put(bytes.subarray(written));
      else next();
    });
  };
  const next = (): void => {
    isWriting = waiting !== '';
    if (!isWriting) return;
    const bytes = Buffer.from(waiting);
    waiting = '';
    put(bytes);
  };

  return {
    write(line) {
      if (waiting.length + line.length > maxBytes) return;
      waiting += line;
      if (!isWriting) next();
    },
    flush() {
      try {
        if (waiting !== '') writeSync(fd, waiting);
      } catch {
        // There is no other place to report it.
      }
      waiting = '';
    },
  };
}
