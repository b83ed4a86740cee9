import { StartupError } from '../src/shared/errors.ts';
/** A port of the local world belongs to another program; the message names the setting. */
export class PortTakenError extends StartupError {
  override readonly name = 'PortTakenError';

  constructor(what: string, port: number | undefined, setting: string, options?: ErrorOptions) {
    super(`Port ${port} for ${what} is taken. Stop the other program or set ${setting} to a free port.`, options);
  }
}
