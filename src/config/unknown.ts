import { nearestName } from '../shared/input/nearest-name.ts';
import { envSchema } from './env.ts';
import { SECRET_FILE_NAMES } from './secret-files.ts';

/** A variable with a name that looks like a setting of the service. */
export interface UnknownSetting {
  readonly name: string;
  /** The known setting with the most similar name; `null` when none is similar. */
  readonly nearest: string | null;
}

const KNOWN = [...Object.keys(envSchema.shape), ...SECRET_FILE_NAMES];
/** First words that other programs use as well: a name with only this in common is not ours. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  'NODE HOST PORT LOG ROLE APP FEE KEY MAX OTEL TRACE START STOP ANSWER READY METRICS CORS TRUSTED PERSISTED GRAPHIQL'.split(
    ' ',
  ),
);
const OUR_WORDS: ReadonlySet<string> = new Set(
  KNOWN.map((name) => name.split('_')[0] ?? name).filter((word) => !COMMON_WORDS.has(word)),
);
/** Variables of npm and of the shell. */
const FOREIGN = /^(npm_|_|LC_|XDG_)/i;

/** Find variables with names that are probably misspelt settings. */
export function unknownSettings(raw: Readonly<Record<string, string | undefined>>): readonly UnknownSetting[] {
  return Object.keys(raw)
    .filter((name) => !KNOWN.includes(name) && !FOREIGN.test(name) && (raw[name] ?? '') !== '')
    .flatMap((name) => {
      const nearest = nearestName(name, KNOWN) ?? null;
      const isOurs = OUR_WORDS.has(name.split('_')[0] ?? '') && name.includes('_');
      return nearest === null && !isOurs ? [] : [{ name, nearest }];
    });
}
