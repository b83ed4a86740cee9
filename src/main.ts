import { pino } from 'pino';
import type { App } from './app/start-and-stop.ts';
import type { Env } from './config/env.ts';
import { StartupError } from './shared/errors.ts';
import { logConsole, logProcessWarnings } from './telemetry/console.ts';
import { createLogOutput } from './telemetry/log-output.ts';
import { sentenceOf } from './telemetry/sentences.ts';
import type { Tracing } from './telemetry/tracing.ts';

/** Deadline of the whole stop, running requests included, below the usual grace period of orchestrators (10 s). */
const STOP_DEADLINE_MS = 9_500;

/** Whether a local world is wanted, which runs in a terminal: only warnings are logged unless LOG_LEVEL is set. */
const isForPeople =
  process.env.NODE_ENV !== 'production' &&
  !Object.keys(process.env).some((name) => /^RPC_URL_\d+(_FILE)?$/.test(name) && process.env[name]);
const output = createLogOutput({ fd: 2 });
/** A terminal shows sentences; files and other programs get JSON. */
const lines =
  isForPeople && process.stderr.isTTY ? { write: (line: string) => output.write(sentenceOf(line)) } : output;
process.on('exit', output.flush);
const logger = pino(
  { level: levelOf(process.env.LOG_LEVEL), base: null, timestamp: pino.stdTimeFunctions.isoTime },
  lines,
);

/** The settings are parsed later: until then another word counts as none. */
function levelOf(wanted: string | undefined): string {
  const isLevel = wanted !== undefined && (wanted === 'silent' || wanted in pino.levels.values);
  return isLevel ? wanted : isForPeople ? 'warn' : 'info';
}

async function main(): Promise<void> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  // Loading the sources takes seconds: the first line comes before them.
  if (isForPeople) say('Starting spiral-gateway: loading the sources.');
  logger.info({ role: process.env.ROLE || 'all', pid: process.pid, node: process.version }, 'starting');
  logConsole(logger);
  logProcessWarnings(logger, process);
  const { createConfig, needsLocalWorld, parseEnv } = await import('./config/config.ts');
  const { unknownSettings } = await import('./config/unknown.ts');
  // A required setting with a misspelt name is missing: the name is logged before the start fails.
  for (const { name, nearest } of unknownSettings(process.env)) {
    logger.warn({ name, nearest: nearest ?? undefined }, 'unknown setting');
  }
  const env = parseEnv(process.env);
  const local = needsLocalWorld(env);

  let app: App | undefined;
  let world: Awaited<ReturnType<typeof startLocalWorld>> | undefined;
  let tracing: Tracing | undefined;
  // World and tracing stop last, because requests still running need them.
  const stop = async () => {
    await app?.stop();
    await Promise.all([world?.stop(), tracing?.stop()]);
  };
  onSignal(stop);
  try {
    world = local ? await startLocalWorld(env, say) : undefined;
    const config = createConfig(process.env, world?.overrides);
    tracing = await startConfiguredTracing(env);
    if (local) say('Starting the service.');
    const [{ createApp }, { systemClock }, { systemTimers }] = await Promise.all([
      import('./app/start-and-stop.ts'),
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
    if (world) await world.welcome(app.url);
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

async function startLocalWorld(env: Env, say: (text: string) => void) {
  const { requireFreePorts } = await import('../devnet/port.ts');
  const local = '127.0.0.1';
  await requireFreePorts([
    { what: 'the service', setting: 'PORT', port: env.PORT, host: env.HOST },
    { what: 'metrics', setting: 'METRICS_PORT', port: env.METRICS_PORT, host: env.HOST },
    { what: 'the local chain 1', setting: 'DEVNET_PORT_1', port: env.DEVNET_PORT_1, host: local },
    { what: 'the local chain 4663', setting: 'DEVNET_PORT_4663', port: env.DEVNET_PORT_4663, host: local },
    { what: 'the control endpoint', setting: 'DEVNET_CONTROL_PORT', port: env.DEVNET_CONTROL_PORT, host: local },
  ]);
  const { startWorld } = await import('../devnet/index.ts');
  const { tellProgress } = await import('../devnet/progress.ts');
  const { printWelcome } = await import('../devnet/welcome.ts');
  say('Starting the local world: two chains and Postgres.');
  const during = tellProgress(say);
  const world = await startWorld({
    chainPorts: { 1: env.DEVNET_PORT_1, 4663: env.DEVNET_PORT_4663 },
    controlPort: env.DEVNET_CONTROL_PORT,
    dataDir: env.DEVNET_DATA_DIR,
    mining: 'interval',
    isLimited: true,
    during,
    databaseUrl: env.DATABASE_URL,
    logger,
  });
  return {
    ...world,
    welcome: (url: string) => printWelcome({ world, url, during, write: (text) => process.stdout.write(text) }),
  };
}

/** The first signal stops gracefully, a second one exits at once. */
function onSignal(stop: () => Promise<void>): void {
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
  const reason = error instanceof StartupError ? error.message : undefined;
  if (!isForPeople) {
    if (logger.level === 'silent') logger.level = 'error';
    logger.error(reason === undefined ? { err: error } : { reason }, 'start failed');
  } else {
    process.stderr.write(`${reason ?? (error instanceof Error ? error.stack : String(error))}\n`);
  }
  process.exit(1);
});
