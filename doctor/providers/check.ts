import { cadencesOf } from '../../src/app/cadences.ts';
import type { Catalog } from '../../src/catalog/types.ts';
import type { ProviderConfig } from '../../src/upstreams/config.ts';
import { UpstreamError } from '../../src/upstreams/errors.ts';
import { PROVIDERS, type ProviderName } from '../../src/upstreams/limits.ts';
import { priceKey } from '../../src/upstreams/types.ts';
import { labelOf } from '../catalog/read.ts';
import { clockSampleOf } from '../core/clock-samples.ts';
import { countingLogger } from '../core/counting-logger.ts';
import type { DoctorDeps } from '../core/deps.ts';
import { describeQuota, quotaOf } from '../core/quota.ts';
import { createRecordedFetch, type RecordedExchange } from '../core/recorded-fetch.ts';
import { type Check, type Line, type LineMaker, linesOf } from '../core/types.ts';
import { failed, judgeDates, judgeItems, judgeRates } from './assessment.ts';
import { describePlan, type Refresh } from './plan.ts';
import { surfacesOf } from './surfaces.ts';
import type { ProviderSurface, SurfaceContext } from './types.ts';

const AREA = 'providers';
/** Limit of one surface, all retries included. */
const SURFACE_MS = 22_000;
const LIMIT_MS = 26_000;
/** Limit of one request. */
const MAX_REQUEST_MS = 12_000;

/** Setting of a provider's URL, and the provider's name in lines. */
const SETTINGS: Readonly<Record<ProviderName, string>> = {
  pendle: 'PENDLE_URL',
  defillamaYields: 'DEFILLAMA_YIELDS_URL',
  defillamaCoins: 'DEFILLAMA_COINS_URL',
  stablewatch: 'STABLEWATCH_URL',
  royco: 'ROYCO_URL',
  merkl: 'MERKL_URL',
  coingecko: 'COINGECKO_URL',
  geckoterminal: 'GECKOTERMINAL_URL',
  kyberswap: 'KYBERSWAP_URL',
  openocean: 'OPENOCEAN_URL',
  morphoApi: 'MORPHO_API_URL',
};

export interface ProviderDeps extends DoctorDeps {
  readonly providers: Readonly<Record<ProviderName, ProviderConfig>>;
  readonly context: SurfaceContext;
  /** Called with every exchange with a provider. */
  readonly onAnswers?: ((surface: ProviderSurface, exchanges: readonly RecordedExchange[]) => void) | undefined;
}

/** Check every provider with its key: each kind of request that the service makes, through the service's own adapter. */
export function checkProviders(deps: ProviderDeps): readonly Check[] {
  const surfaces = surfacesOf(deps.catalog);
  return PROVIDERS.map((provider) => ({
    area: AREA,
    subject: SETTINGS[provider],
    limitMs: LIMIT_MS,
    run: async (signal) => {
      const own = surfaces.filter((surface) => surface.provider === provider);
      const results = await Promise.all(own.map((surface) => checkSurface(surface, deps, signal)));
      const exchanges = results.flatMap((result) => result.exchanges);
      noteClock(provider, exchanges, deps);
      const cadences = cadencesOf(deps);
      const refreshes = own.flatMap(({ cadence }, i) =>
        cadence === undefined ? [] : [{ exchanges: results[i]?.exchanges ?? [], everySec: cadences[cadence] }],
      );
      return [...results.flatMap(({ lines }) => lines), ...describeProvider(provider, exchanges, refreshes, deps)];
    },
  }));
}

interface Result {
  readonly lines: readonly Line[];
  readonly exchanges: readonly RecordedExchange[];
}

/** Name of a surface in lines and recordings. */
function subjectOf({ provider, name, chainId }: ProviderSurface): string {
  return `${SETTINGS[provider]} ${name.replaceAll('_', ' ')}${chainId === undefined ? '' : ` on chain ${chainId}`}`;
}

async function checkSurface(surface: ProviderSurface, deps: ProviderDeps, signal: AbortSignal): Promise<Result> {
  const { clock, timers, context, observations } = deps;
  const make = linesOf(AREA, subjectOf(surface));
  const config = deps.providers[surface.provider];
  const recorded = createRecordedFetch(deps);
  const counting = countingLogger();
  const late = new AbortController();
  const timer = timers.setTimeout(() => late.abort(new UpstreamError(surface.publicName, 'timeout')), SURFACE_MS);
  const lines = await surface
    .ask(
      {
        config: { ...config, timeoutMs: Math.min(config.timeoutMs, MAX_REQUEST_MS) },
        fetch: recorded.fetch,
        clock,
        logger: counting.logger,
        timeouts: timers,
      },
      context,
      AbortSignal.any([signal, late.signal]),
    )
    .then((outcome): readonly Line[] => {
      if (outcome === undefined) return [make.none('answer', 'the catalog has no items for it')];
      const measures = [...outcome.values()].flatMap((entry) => (entry.ok ? entry.measures : []));
      for (const measure of measures) if (measure.kind !== 'rate') observations.add({ ...measure, make });
      return [
        ...judgeItems(make, {
          surface,
          outcome,
          dropped: counting.dropped(),
          exchanges: recorded.exchanges,
          nameOf: namesOf(deps.catalog),
        }),
        ...judgeDates(make, surface, recorded.exchanges, clock.now()),
        ...judgeRates(make, measures),
      ];
    })
    .catch((error: unknown) => {
      if (error instanceof UpstreamError) return [failed(make, error.reason)];
      throw error;
    })
    .finally(() => timers.clearTimeout(timer));
  deps.onAnswers?.(surface, recorded.exchanges);
  return { lines, exchanges: recorded.exchanges };
}

/** Tokens by their symbol, markets by their pair, other keys unchanged. */
function namesOf({ chains }: Catalog): (key: string) => string {
  const names = new Map<string, string>(
    chains.flatMap(({ tokens, markets }) => [
      ...tokens.flatMap((token) => [token.address, priceKey(token)].map((key) => [key, token.symbol] as const)),
      ...markets.map((market) => [market.id, labelOf(market)] as const),
    ]),
  );
  return (key) => names.get(key) ?? key;
}

function describeProvider(
  provider: ProviderName,
  exchanges: readonly RecordedExchange[],
  refreshes: readonly Refresh[],
  deps: ProviderDeps,
): readonly Line[] {
  const { rules, apiKey, timeoutMs } = deps.providers[provider];
  const make = linesOf(AREA, SETTINGS[provider]);
  if (exchanges.length === 0) return [make.none('speed', 'received no request')];
  return [
    speedOf(make, exchanges, timeoutMs),
    ...describePlan(make, {
      provider,
      limits: rules.limits,
      hasKey: apiKey !== undefined,
      isSet: rules.isSet === true,
      exchanges,
      refreshes,
    }),
    describeQuota(make, quotaOf(exchanges), 'get a key or a larger plan'),
  ];
}

/** Above half of the service's timeout, a slower minute is an outage. */
function speedOf(make: LineMaker, exchanges: readonly RecordedExchange[], timeoutMs: number): Line {
  const answered = exchanges.filter(({ answer }) => answer?.body !== undefined);
  if (answered.length === 0) return make.none('speed', 'returned no complete answer');
  const slowest = Math.max(...answered.map(({ tookMs }) => tookMs));
  const formatted = `slowest answer ${Math.round(slowest)} ms`;
  return slowest * 2 > timeoutMs
    ? make.warning(
        'speed',
        `${formatted}, with a timeout of ${timeoutMs} ms`,
        'Run the check again later; if it persists, raise UPSTREAM_TIMEOUT_MS.',
      )
    : make.ok('speed', formatted);
}

/** The `Date` header has whole seconds, rounded down. */
function noteClock(provider: ProviderName, exchanges: readonly RecordedExchange[], { clocks }: DoctorDeps): void {
  for (const { sentMs, answer } of exchanges) {
    const atMs = Date.parse(answer?.headers.get('date') ?? '');
    if (answer === undefined || Number.isNaN(atMs)) continue;
    clocks.add(clockSampleOf(SETTINGS[provider], { atMs, resolutionMs: 1_000 }, { sentMs, answeredMs: answer.headMs }));
    return;
  }
}
