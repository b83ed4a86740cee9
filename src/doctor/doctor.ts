import { providersOf } from '../app/settings.ts';
import { type Catalog, CatalogError, createCatalog, curatedChains } from '../catalog/index.ts';
import type { Token } from '../catalog/types.ts';
import { ConfigError, readOverlay } from '../config/config.ts';
import type { Env } from '../config/env.ts';
import type { Clock } from '../shared/clock.ts';
import type { Timers } from '../shared/timers.ts';
import { checkCatalog } from './catalog/check.ts';
import { judgeOracles } from './catalog/oracles.ts';
import { judgeClocks } from './checks/clocks.ts';
import { checkNodes } from './checks/nodes.ts';
import { checkPostgres } from './checks/postgres.ts';
import { checkRedis } from './checks/redis.ts';
import { checkSettings } from './checks/settings.ts';
import { createClockSamples } from './core/clock-samples.ts';
import type { DoctorDeps } from './core/deps.ts';
import { createObservations } from './core/observations.ts';
import { createReport, type Report } from './core/report.ts';
import { runChecks } from './core/run.ts';
import { createRedact } from './core/safe-text.ts';
import { secretsIn } from './core/secrets.ts';
import { type Line, linesOf } from './core/types.ts';
import { checkProviders, type ProviderDeps } from './providers/check.ts';
import { compareProviders, usdPrices } from './providers/compare.ts';

export interface DoctorOptions {
  /** The variables as the service would be given them. */
  readonly raw: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly fetch: typeof fetch;
  /** Milliseconds since some moment. Default: the system's. */
  readonly stopwatch?: () => number;
  readonly onAnswers?: ProviderDeps['onAnswers'];
}

/** Look at everything outside that the service depends on, side by side, within a minute. Nothing is written. */
export async function runDoctor(options: DoctorOptions): Promise<Report> {
  const { raw, clock, timers, stopwatch = () => performance.now() } = options;
  const startedMs = clock.now();
  const begunMs = stopwatch();
  const redact = createRedact(secretsIn(raw));
  const { env, lines: settings } = checkSettings(raw);
  const [catalog, overlay] = catalogOf(env);
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
  const nodes = catalog.chains.flatMap((chain) => {
    const urls = chain.chainId === 1 ? env.RPC_URL_1 : env.RPC_URL_4663;
    return urls === undefined ? [] : [{ chain, urls }];
  });
  const checked = await runChecks(
    [
      checkPostgres(deps),
      checkRedis(deps),
      ...nodes.map(({ chain, urls }) => checkNodes(deps, chain.chainId, urls)),
      ...nodes.map(({ chain, urls }) => checkCatalog(deps, chain, urls)),
      ...checkProviders({
        ...deps,
        providers: providersOf({ env }),
        context: { catalog, nowMs: clock.now(), feeReceiver: env.FEE_RECEIVER as never },
        ...(options.onAnswers === undefined ? {} : { onAnswers: options.onAnswers }),
      }),
    ],
    timers,
  );
  const compare = { observations, isPegged: peggedIn(catalog) };
  const usdOf = usdPrices(compare);
  const oracles = nodes.flatMap(({ chain }) => {
    const reading = observations.oracles(chain.chainId);
    const isRead = checked.every(
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
    ...overlay,
    ...checked,
    ...oracles,
    ...compareProviders(compare),
    ...judgeClocks(deps.clocks.all()),
  ];
  return createReport(lines, { startedMs, tookMs: stopwatch() - begunMs, redact });
}

/** With an overlay that cannot be used the curated catalog is checked alone. */
function catalogOf(env: Env): readonly [Catalog, readonly Line[]] {
  try {
    return [createCatalog(curatedChains, readOverlay(env.CATALOG_OVERLAY) as never), []];
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof CatalogError)) throw error;
    const line = linesOf('settings', 'CATALOG_OVERLAY').failure(
      'value',
      error.message,
      'Correct the file, or leave the setting out: the service does not start with it.',
    );
    return [createCatalog(curatedChains), [line]];
  }
}

/** The stables of the chains, which exits are quoted in. */
function peggedIn(catalog: Catalog): (token: Token) => boolean {
  const stables = new Set(catalog.chains.map(({ stable }) => stable.address));
  return ({ address }) => stables.has(address);
}
