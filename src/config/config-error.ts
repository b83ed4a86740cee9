import { StartupError } from '../shared/errors.ts';

/** An invalid setting: the message names it, its value and the expected value. */
export class ConfigError extends StartupError {
  override readonly name = 'ConfigError';
}
