import { pino } from 'pino';
import type { App } from './app.ts';
import type { Env } from './config/env.ts';
import { StartupError } from './shared/errors.ts';
import type { Logger } from './shared/logger.ts';
import { logConsole, logProcessWarnings } from './telemetry/console.ts';
import type { Tracing } from './telemetry/tracing.ts';

/** Deadline of the whole stop, running requests included, below the usual grace period of orchestrators (10 s). */
const STOP_DEADLINE_MS = 9_500;

async function main(): Promise<void> {
  const { NODE_ENV, RPC_URL_1, RPC_URL_4663 } = process.env;
  const isForPeople = NODE_ENV !== 'production' && !RPC_URL_1 && !RPC_URL_4663;
  const say = (text: string) => process.stdout.write(`${text}\n`);
  // Loading the sources takes seconds: the first line comes before them.
  if (isForPeople) say('Starting spiral-gateway: loading the sources.');
  const { createConfig, needsLocalWorld, parseEnv } = await import('./config/config.ts');
  const { unknownSettings } = await import('./config/unknown.ts');
  const env = parseEnv(process.env);
  const local = needsLocalWorld(env);
  // The local world runs in a terminal, so only warnings are logged unless LOG_LEVEL is set.
  const level = local && process.env.LOG_LEVEL === undefined ? 'warn' : env.LOG_LEVEL;
  const logger: Logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2));
  logConsole(logger);
  logProcessWarnings(logger, process);
  logger.info({ role: env.ROLE, pid: process.pid, node: process.version }, 'starting');
  for (const { name, nearest } of unknownSettings(process.env)) {
    logger.warn({ name, nearest: nearest ?? undefined }, 'unknown setting');
  }

  let app: App | undefined;
  let world: Awaited<ReturnType<typeof startLocalWorld>> | undefined;
  let tracing: Tracing | undefined;
  // World and tracing stop last, because requests still running need them.
  const stop = async () => {
    await app?.stop();
    await Promise.all([world?.stop(), tracing?.stop()]);
  };
  onSignal(logger, stop);
  try {
    world = local ? await startLocalWorld(env, logger, say) : undefined;
    const config = createConfig(process.env, world?.overrides);
    tracing = await startConfiguredTracing(env);
    if (local) say('Starting the service.');
    const [{ createApp }, { systemClock }, { systemTimers }] = await Promise.all([
      import('./app.ts'),
      import('./shared/clock.ts'),
      import('./shared/timers.ts'),
    ]);
    app = createApp({
      config,
      logger,
      clock: systemClock,
      timers: systemTimers,
      random: Math.random,
      fetch: globalThis.fetch,
      tracing,
    });
    await app.start();
    if (world) await world.welcome(app.url, app.warmed);
    else logger.info({ url: app.url, role: env.ROLE, metricsUrl: app.metricsUrl ?? undefined }, 'listening');
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startConfiguredTracing(env: Env): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, TRACE_SAMPLE_RATIO: sampleRatio, ROLE: role } = env;
  if (endpoint === undefined) return undefined;
  const { startTracing } = await import('./telemetry/tracing.ts');
  return startTracing({ endpoint, sampleRatio, role });
}

async function startLocalWorld(env: Env, logger: Logger, say: (text: string) => void) {
  const { startWorld } = await import('../devnet/index.ts');
  const { printWelcome } = await import('../devnet/welcome.ts');
  const world = await startWorld({
    chainPorts: { 1: env.DEVNET_PORT_1, 4663: env.DEVNET_PORT_4663 },
    controlPort: env.DEVNET_CONTROL_PORT,
    dataDir: env.DEVNET_DATA_DIR,
    mining: 'interval',
    onStep: say,
    databaseUrl: env.DATABASE_URL,
    logger,
  });
  return {
    ...world,
    welcome: (url: string, warmed: Promise<void>) =>
      printWelcome({ world, url, warmed, write: (text) => process.stdout.write(text) }),
  };
}

/** The first signal stops gracefully, a second one exits at once. */
function onSignal(logger: Logger, stop: () => Promise<void>): void {
  let stopping = false;
  const handle = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(130);
    stopping = true;
    const startedMs = performance.now();
    logger.info({ signal }, 'stopping');
    const deadline = setTimeout(() => process.exit(1), STOP_DEADLINE_MS);
    stop().then(
      () => {
        clearTimeout(deadline);
        logger.info({ ms: Math.round(performance.now() - startedMs) }, 'stopped');
        process.exit(0);
      },
      (error: unknown) => {
        logger.error({ err: error }, 'stop failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', handle);
  process.on('SIGINT', handle);
}

main().catch((error: unknown) => {
  const isExpected = error instanceof StartupError;
  process.stderr.write(`${isExpected ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
