/** The providers, named as their settings begin. */
const PROVIDER_NAMES = [
  'PENDLE',
  'DEFILLAMA_YIELDS',
  'DEFILLAMA_COINS',
  'STABLEWATCH',
  'ROYCO',
  'MERKL',
  'COINGECKO',
  'GECKOTERMINAL',
  'KYBERSWAP',
  'OPENOCEAN',
  'MORPHO_API',
] as const;
export type LimitedProvider = (typeof PROVIDER_NAMES)[number];
const WINDOWS = ['10s', 'minute', 'week', 'month'] as const;

/** Most units of a provider in each window. */
export type GivenLimits = Readonly<Partial<Record<(typeof WINDOWS)[number], number>>>;

/**
 * Read the limits of plans: `COINGECKO=500/minute,500000/month PENDLE=500/minute`; `ALL` = every provider that is not named.
 * @throws Error naming the part that cannot be read
 */
export function parseProviderLimits(text: string): Readonly<Partial<Record<LimitedProvider, GivenLimits>>> {
  const given = new Map<string, GivenLimits>();
  for (const part of text.trim().split(/\s+/)) {
    const [name = '', limits = ''] = part.split('=');
    if (name !== 'ALL' && !PROVIDER_NAMES.includes(name as LimitedProvider)) {
      throw new Error(`expected COINGECKO=500/minute,500000/month; "${name}" is none of ${PROVIDER_NAMES.join(', ')}`);
    }
    given.set(name, Object.fromEntries(limits.split(',').map((limit) => readLimit(name, limit))));
  }
  const all = given.get('ALL');
  return Object.fromEntries(
    PROVIDER_NAMES.flatMap((name) => {
      const limits = given.get(name) ?? all;
      return limits === undefined ? [] : [[name, limits] as const];
    }),
  );
}

function readLimit(name: string, text: string): readonly [string, number] {
  const [, units, window] = /^([1-9]\d{0,8})\/(10s|minute|week|month)$/.exec(text) ?? [];
  if (window === undefined) {
    throw new Error(`expected ${name}=500/minute with one of ${WINDOWS.join(', ')}, several separated by commas`);
  }
  return [window, Number(units)];
}
