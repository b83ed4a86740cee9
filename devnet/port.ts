import { createServer } from 'node:net';
import { StartupError } from '../src/shared/errors.ts';

/** A port that a start needs. */
export interface WantedPort {
  /** For messages, e.g. `the service`. */
  readonly what: string;
  /** Name of the setting that has the port. */
  readonly setting: string;
  /** 0 and undefined: a free one is selected later. */
  readonly port: number | undefined;
  readonly host: string;
}

/** A port of the local world belongs to another program; the message names the setting. */
export class PortTakenError extends StartupError {
  override readonly name = 'PortTakenError';

  constructor(what: string, port: number | undefined, setting: string, options?: ErrorOptions) {
    super(`Port ${port} for ${what} is taken. Stop the other program or set ${setting} to a free port.`, options);
  }
}

/**
 * Refuse ports that another program listens on, before chains and database are started, which takes seconds. A port that is
 * taken after this check is refused when it is used.
 * @throws PortTakenError
 */
export async function requireFreePorts(wanted: readonly WantedPort[]): Promise<void> {
  for (const { what, setting, port, host } of wanted) {
    if (!port) continue;
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        // Any other failure is reported by the listener itself.
        error.code === 'EADDRINUSE' ? reject(new PortTakenError(what, port, setting, { cause: error })) : resolve(),
      );
      server.listen(port, host, () => server.close(() => resolve()));
    });
  }
}
