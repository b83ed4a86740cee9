import { inspectEnv } from '../../src/config/config.ts';
import { type Env, envSchema } from '../../src/config/env.ts';
import { unknownSettings } from '../../src/config/unknown.ts';
import { type Line, linesOf } from '../core/types.ts';

type RawEnv = Readonly<Record<string, string | undefined>>;

export interface CheckedSettings {
  readonly lines: readonly Line[];
  /** The usable settings. A wrong setting counts as not set, so that the other checks can run. */
  readonly env: Env;
}

const KNOWN = Object.keys(envSchema.shape);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/;

/** Parse the variables like the service. */
export function checkSettings(raw: RawEnv): CheckedSettings {
  const { env: given, wrong } = inspectEnv(raw);
  const env = given ?? inspectEnv(without(raw, wrong)).env;
  if (env === undefined) throw new Error('The settings are not readable even without the invalid ones.');
  const lines = [
    ...[...wrong].map(([name, text]) =>
      linesOf('settings', name).failure(
        'value',
        text,
        `Correct ${name}, or leave it out; .env.example explains it. The service does not start with it.`,
      ),
    ),
    ...unknownNames(raw),
    ...missingSettings(env, wrong),
  ];
  const set = KNOWN.filter((name) => (raw[name] ?? '') !== '' && !wrong.has(name));
  return {
    env,
    lines: [linesOf('settings', 'environment').ok('values', `${set.length} settings are set and valid`), ...lines],
  };
}

/** Unknown names that look like settings of the service. */
function unknownNames(raw: RawEnv): readonly Line[] {
  return unknownSettings(raw).map(({ name, nearest }) =>
    linesOf('settings', name).warning(
      'known',
      'the service does not know this setting and ignores it',
      nearest === null
        ? `Remove it, or find the right name in .env.example.`
        : `Rename it to ${nearest} if you meant that, otherwise remove it.`,
    ),
  );
}

function missingSettings(env: Env, wrong: ReadonlyMap<string, string>): readonly Line[] {
  const isProduction = env.NODE_ENV === 'production';
  const needed = (['RPC_URL_1', 'RPC_URL_4663', 'DATABASE_URL'] as const).filter(
    (name) => env[name] === undefined && !wrong.has(name),
  );
  const missing = needed.map((name) =>
    linesOf('settings', name).failure(
      'set',
      'not set',
      isProduction
        ? `Set ${name}: the service does not start without it when NODE_ENV is production.`
        : `Set ${name}. Without any node the service starts its local world, which has no external parts to check; docs/upstreams.md explains how to check a running local world.`,
    ),
  );
  return [...missing, ...pepper(env, wrong), ...roles(env, wrong)];
}

function pepper(env: Env, wrong: ReadonlyMap<string, string>): readonly Line[] {
  const make = linesOf('settings', 'KEY_PEPPER');
  if (wrong.has('KEY_PEPPER')) return [];
  if (env.KEY_PEPPER !== undefined) return [make.ok('set', 'keys are hashed with a secret')];
  const isLocal = env.DATABASE_URL !== undefined && LOOPBACK.test(new URL(env.DATABASE_URL).hostname);
  if (env.NODE_ENV !== 'production' && isLocal) {
    return [
      make.ok(
        'set',
        'not set, which suffices for a database on this machine; set it before the first key of a real database',
      ),
    ];
  }
  const isProduction = env.NODE_ENV === 'production';
  return [
    make[isProduction ? 'failure' : 'warning'](
      'set',
      'not set: a reader of the database can recognise keys, and a writer can plant one',
      `Set KEY_PEPPER to 16 random characters or more, kept outside the database, before the first key is issued: setting it later makes every key invalid.${isProduction ? ' The service does not start without it when NODE_ENV is production.' : ''}`,
    ),
  ];
}

function roles(env: Env, wrong: ReadonlyMap<string, string>): readonly Line[] {
  if (env.ROLE === 'all' || env.REDIS_URL !== undefined || wrong.has('REDIS_URL')) return [];
  return [
    linesOf('settings', 'ROLE').failure(
      'fits',
      `ROLE is ${env.ROLE}, and REDIS_URL, which processes need to share their facts, is not set`,
      'Set REDIS_URL, or ROLE=all.',
    ),
  ];
}

function without(raw: RawEnv, wrong: ReadonlyMap<string, string>): RawEnv {
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !wrong.has(name)));
}
