import { parseArgs } from 'node:util';
import { BadRequestError } from '../shared/errors.ts';
import { formatValue } from '../shared/ids.ts';
import type { IssuedKey, KeyAdmin, KeyInfo } from './admin.ts';
import { renderIssued, renderKey, renderList, toJson } from './cli-output.ts';
import { parseDuration } from './duration.ts';
import { KeyInputError } from './errors.ts';

const DEFAULT_OVERLAP = '24h';

export const KEYS_USAGE = `Manage the API keys of the partner and ops surfaces.

  npm run keys -- issue --tier partner|ops --label "Acme" [--expires 90d]
  npm run keys -- list
  npm run keys -- rotate <prefix> [--overlap ${DEFAULT_OVERLAP}]    0 ends the old key at once
  npm run keys -- expire <prefix> --in 7d
  npm run keys -- revoke <prefix>

Durations: 30m, 24h, 90d. --json prints JSON. The database is DATABASE_URL, or the local world's.
A revocation takes effect in a running service within 30 seconds.
`;

const OPTIONS = {
  tier: { type: 'string' },
  label: { type: 'string' },
  expires: { type: 'string' },
  overlap: { type: 'string' },
  in: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Options = ReturnType<typeof readArguments>['values'];

export interface KeysCliDeps {
  /** Open the keys' storage; called only with valid arguments. */
  readonly open: () => Promise<{ readonly admin: KeyAdmin; readonly close: () => Promise<void> }>;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
}

/** Run one command and return the exit code: 0, 1 for a failure, 2 for invalid arguments. */
export async function runKeysCli(argv: readonly string[], deps: KeysCliDeps): Promise<number> {
  try {
    const { values, positionals } = readArguments(argv);
    if (values.help === true || positionals.length === 0) {
      deps.write(KEYS_USAGE);
      return values.help === true ? 0 : 2;
    }
    const command = planCommand(positionals, values);
    const { admin, close } = await deps.open();
    try {
      deps.write(await command(admin));
    } finally {
      await close();
    }
    return 0;
  } catch (error) {
    deps.writeError(`${error instanceof Error ? error.message : String(error)}\n`);
    if (error instanceof UsageError) deps.writeError(`\n${KEYS_USAGE}`);
    return error instanceof UsageError || error instanceof BadRequestError ? 2 : 1;
  }
}

class UsageError extends Error {}

function readArguments(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Validate the arguments completely before anything is opened. */
function planCommand(positionals: readonly string[], options: Options): (admin: KeyAdmin) => Promise<string> {
  const [verb, prefix, extra] = positionals;
  if (extra !== undefined) throw new UsageError(`Unexpected argument "${formatValue(extra)}".`);
  const isJson = options.json === true;
  const show = (key: KeyInfo) => (isJson ? toJson(key) : renderKey(key));
  const showIssued = (issued: IssuedKey, old?: KeyInfo) => (isJson ? toJson(issued, old) : renderIssued(issued, old));
  switch (verb) {
    case 'issue': {
      const tier = readTier(options.tier);
      const label = required(options.label, 'label');
      const expires = options.expires === undefined ? {} : { expiresInMs: parseDuration(options.expires, 'expires') };
      return async (admin) => showIssued(await admin.issue({ tier, label, ...expires }));
    }
    case 'list':
      return async (admin) => (isJson ? toJson(await admin.list()) : renderList(await admin.list()));
    case 'rotate': {
      const name = required(prefix, 'prefix');
      const overlapMs = parseDuration(options.overlap ?? DEFAULT_OVERLAP, 'overlap');
      return async (admin) => {
        const { old, ...issued } = await admin.rotate(name, { overlapMs });
        return showIssued(issued, old);
      };
    }
    case 'expire': {
      const name = required(prefix, 'prefix');
      const inMs = parseDuration(required(options.in, 'in'), 'in');
      return async (admin) => show(await admin.expire(name, { inMs }));
    }
    case 'revoke': {
      const name = required(prefix, 'prefix');
      return async (admin) => show(await admin.revoke(name));
    }
    default:
      throw new UsageError(`Unknown command "${formatValue(verb)}".`);
  }
}

function required(value: string | undefined, name: string): string {
  if (value === undefined)
    throw new UsageError(name === 'prefix' ? 'Name the key by its prefix.' : `--${name} is missing.`);
  return value;
}

function readTier(value: string | undefined): 'partner' | 'ops' {
  const tier = required(value, 'tier');
  if (tier === 'partner' || tier === 'ops') return tier;
  throw new KeyInputError(`"${formatValue(tier)}" is not a tier. Use partner or ops.`, {
    field: 'tier',
    value: formatValue(tier),
    limit: { oneOf: ['partner', 'ops'] },
  });
}
