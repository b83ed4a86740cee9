import { getAddress } from 'viem';
import { providersOf } from '../src/app/provider-settings.ts';
import {
  type Catalog,
  CatalogError,
  createCatalog,
  curatedChains,
  withSecondAggregator,
} from '../src/catalog/index.ts';
import type { Token } from '../src/catalog/types.ts';
import { ConfigError, readOverlay, rpcUrlsOf } from '../src/config/config.ts';
import type { Env } from '../src/config/env.ts';
import type { Clock } from '../src/shared/clock.ts';
import type { Address } from '../src/shared/ids.ts';
import type { Timers } from '../src/shared/timers.ts';
import { checkCatalog } from './catalog/check.ts';
import { judgeOracles } from './catalog/oracles.ts';
import { judgeClocks } from './checks/clocks.ts';
import { checkNodes } from './checks/nodes.ts';
import { checkPostgres } from './checks/postgres.ts';
import { checkReplica } from './checks/postgres-replica.ts';
import { checkRedis } from './checks/redis.ts';
import { checkSettings } from './checks/settings.ts';
import { createClockSamples } from './core/clock-samples.ts';
import type { DoctorDeps } from './core/deps.ts';
import { createObservations } from './core/observations.ts';
import { createReport, type Report } from './core/report.ts';
import { runChecks } from './core/run.ts';
import { createRedact } from './core/safe-text.ts';
import { secretsIn } from './core/secrets.ts';
import { type Area, type Line, linesOf } from './core/types.ts';
import { checkProviders } from './providers/check.ts';
import { compareProviders, usdPrices } from './providers/compare.ts';
import { createRecorder } from './recording/record.ts';

export interface DoctorOptions {
  /** The variables in the form in which the service gets them. */
  readonly raw: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly fetch: typeof fetch;
  /** Milliseconds since any fixed moment. Default: the system's. */
  readonly stopwatch?: (() => number) | undefined;
  /** Areas to check beside the settings; default: all. */
  readonly only?: readonly Area[] | undefined;
  /** Folder for the providers' answers, without keys. */
  readonly recordTo?: string | undefined;
}

/** Check all external dependencies of the service concurrently, within a minute. Only the recording is written. */
export async function runDoctor(options: DoctorOptions): Promise<Report> {
  const { raw, clock, timers, only, stopwatch = () => performance.now() } = options;
  const startedMs = clock.now();
  const begunMs = stopwatch();
  const redact = createRedact(secretsIn(raw));
  const { env, lines: settings } = checkSettings(raw);
  const { catalog, overlay } = catalogOf(env);
  const observations = createObservations();
  const deps: DoctorDeps = {
    env,
    catalog,
    clock,
    timers,
    fetch: options.fetch,
    stopwatch,
    clocks: createClockSamples(),
    observations,
  };
  const rpcUrls = rpcUrlsOf(env);
  const nodes = catalog.chains.flatMap((chain) => {
    const urls = rpcUrls.get(chain.chainId);
    return urls === undefined ? [] : [{ chain, urls }];
  });
  const providers = providersOf({ env });
  const context = { catalog, nowMs: startedMs, feeReceiver: receiverOf(env) };
  const recorder = createRecorder({ providers, redact, overlay: overlay.content, context });
  const isRequested = (area: Area) => only === undefined || only.includes(area);
  const checks = [
    checkPostgres(deps),
    checkReplica(deps),
    checkRedis(deps),
    ...nodes.map(({ chain, urls }) => checkNodes(deps, chain.chainId, urls)),
    ...nodes.map(({ chain, urls }) => checkCatalog(deps, chain, urls)),
    ...checkProviders({ ...deps, providers, context, onAnswers: recorder.take }),
  ];
  const checked = await runChecks(
    checks.filter(({ area }) => isRequested(area)),
    timers,
  );
  const compare = { observations, isPegged: peggedIn(catalog) };
  const usdOf = usdPrices(compare);
  const oracles = nodes.flatMap(({ chain }) => {
    const reading = observations.oracles(chain.chainId);
    const isRead =
      isRequested('catalog') &&
      checked.every(
        ({ area, subject, check }) =>
          !(
            area === 'catalog' &&
            subject === `chain ${chain.chainId}` &&
            (check === 'reading' || check === 'time_limit')
          ),
      );
    return isRead
      ? judgeOracles(chain, reading, { nowMs: clock.now(), feedBudgetSec: env.BUDGET_ORACLE_FEED_SEC, usdOf })
      : [];
  });
  const lines: readonly Line[] = [
    ...settings,
    ...overlay.lines,
    ...checked,
    ...oracles,
    ...compareProviders(compare),
    ...(isRequested('clocks') || deps.clocks.all().length > 0 ? judgeClocks(deps.clocks.all()) : []),
    ...(options.recordTo === undefined ? [] : await recorder.write(options.recordTo)),
  ];
  return createReport(lines, { startedMs, tookMs: stopwatch() - begunMs, redact });
}

interface CheckedCatalog {
  readonly catalog: Catalog;
  readonly overlay: { readonly content: unknown; readonly lines: readonly Line[] };
}

/** If the overlay is not usable, the curated catalog is checked alone. */
function catalogOf(env: Env): CheckedCatalog {
  const chains = withSecondAggregator(curatedChains, env.OPENOCEAN_CHAIN_4663);
  try {
    const content = readOverlay(env.CATALOG_OVERLAY);
    return { catalog: createCatalog(chains, content as never), overlay: { content, lines: [] } };
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof CatalogError)) throw error;
    const line = linesOf('settings', 'CATALOG_OVERLAY').failure(
      'value',
      error.message,
      'Correct the file, or leave the setting out: the service does not start with it.',
    );
    return { catalog: createCatalog(chains), overlay: { content: [], lines: [line] } };
  }
}

function receiverOf({ FEE_RECEIVER }: Env): Address | undefined {
  return FEE_RECEIVER === undefined ? undefined : getAddress(FEE_RECEIVER);
}

/** The stablecoins of the chains, which exits are quoted in. */
function peggedIn(catalog: Catalog): (token: Token) => boolean {
  const stables = new Set(catalog.chains.map(({ stable }) => stable.address));
  return ({ address }) => stables.has(address);
}
