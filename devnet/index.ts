import { mkdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createCatalog, curatedChains } from '../src/catalog/index.ts';
import type { WorldOverrides } from '../src/config/config.ts';
import { migrateDatabase } from '../src/database/migrate.ts';
import { type Clock, systemClock } from '../src/shared/clock.ts';
import type { Logger } from '../src/shared/logger.ts';
import { type LocalChains, type StartChainsOptions, startChains } from './chain/index.ts';
import { type Control, startControl } from './control.ts';
import { exampleApp } from './example-app.ts';
import { createOverlay } from './overlay.ts';
import { postgresDataDir, SERVICE_DATABASE, startPostgres } from './postgres.ts';
import { type During, inSilence } from './progress.ts';
import { seededAlerts } from './seed/alerts.ts';
import type { DeploymentSettings } from './seed/deployment.ts';
import { seedAlerts, seedDatabase } from './seed-database.ts';
import { startUpstreams, type Upstreams } from './upstreams/index.ts';
import { startWalletRelay } from './wallet-relay.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

export interface WorldOptions {
  /** Ports of the chains by chain id; 0 or absent = a free one. */
  readonly chainPorts?: Readonly<Record<number, number>>;
  /** Port of the control endpoint; 0 or absent = a free one. */
  readonly controlPort?: number;
  /** Folder for the database and the overlay. */
  readonly dataDir: string;
  /** `interval`: a block every second, for people; `auto`: a block per transaction, for tests. */
  readonly mining: 'interval' | 'auto';
  /** Whether the providers have the limits of the real ones. Default: none has, for clocks that stand still. */
  readonly isLimited?: boolean;
  /** A running Postgres; absent: an embedded one is started. */
  readonly databaseUrl?: string | undefined;
  /** Whether that database is migrated and has the registrations and samples already. Default false. */
  readonly isFilled?: boolean;
  /** Differences from the usual deployment of the product's contract. */
  readonly deployment?: Partial<DeploymentSettings> | undefined;
  /** Is told the parts of the start. */
  readonly during?: During | undefined;
  /** Starts the chains; default: own processes. */
  readonly startChains?: (options: StartChainsOptions) => Promise<LocalChains>;
  readonly clock?: Clock;
  readonly logger: Logger;
}

/** The local world: chains, simulated providers, a database, and the control endpoint for faults. */
export interface World {
  /** Settings of the service for this world. */
  readonly overrides: WorldOverrides;
  readonly chains: LocalChains;
  readonly upstreams: Upstreams;
  readonly control: Control;
  /** Takes the webhooks of alerts. */
  readonly receiver: WebhookReceiver;
  stop(): Promise<void>;
}

/** The sample keys of the local world. They are configuration of this world and valid nowhere else. */
export const SAMPLE_KEYS: WorldOverrides['sampleKeys'] = new Map([
  ['local-partner', { tier: 'partner' }],
  ['local-ops', { tier: 'ops' }],
]);

/** Start all dependencies of the service on loopback. After a failure the started parts are stopped. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { logger, clock = systemClock, during = inSilence } = options;
  const started: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of started.splice(0).reverse()) await end();
  };
  try {
    const overlay = createOverlay(clock.now());
    const overlayFile = resolve(options.dataDir, 'overlay.json');
    await mkdir(options.dataDir, { recursive: true });
    await writeFile(overlayFile, JSON.stringify(overlay, null, 2));
    const catalog = createCatalog(curatedChains, overlay);

    const postgres = async () => {
      if (options.databaseUrl !== undefined) return options.databaseUrl;
      const server = await startPostgres({ dataDir: postgresDataDir(options.dataDir), logger });
      started.push(() => server.stop());
      return server.createDatabase(SERVICE_DATABASE);
    };
    const local = async () => {
      const chains = await (options.startChains ?? startChains)({
        chains: catalog.chains,
        ports: takenPorts(options.chainPorts ?? {}),
        mining: options.mining,
        deployment: options.deployment,
        during,
        clock,
        logger,
      });
      started.push(() => chains.stop());
      return chains;
    };
    const database = async () => {
      const url = await postgres();
      if (!options.isFilled) {
        await migrateDatabase(url, { logger });
        await seedDatabase(url, catalog, clock.now());
      }
      return url;
    };
    const [databaseUrl, chains] = await bothOrNeither(during('Postgres', database()), local());
    const upstreams = await startUpstreams({
      catalog,
      rpcUrls: chains.rpcUrls,
      clock,
      logger,
      isLimited: options.isLimited ?? false,
    });
    started.push(() => upstreams.stop());
    const relay = await startWalletRelay({ rpcUrls: chains.rpcUrls });
    started.push(() => relay.stop());
    const receiver = await startWebhookReceiver();
    started.push(() => receiver.stop());
    await seedAlerts(databaseUrl, seededAlerts(catalog, receiver.url, clock.now()), clock.now());
    const settings = {
      ...environment(chains, upstreams, databaseUrl, overlayFile),
      ...(options.isLimited ? { COINGECKO_API_KEY: 'local-demo-key' } : { UPSTREAM_LIMITS: 'ALL=1000000/minute' }),
    };
    const control = await startControl({
      chains,
      upstreams,
      catalog,
      settings,
      port: options.controlPort ?? 0,
      logger,
    });
    started.push(() => control.stop());

    return {
      overrides: {
        env: settings,
        sampleKeys: SAMPLE_KEYS,
        exampleApp: exampleApp({ catalog, relayUrl: relay.url, sampleKeys: SAMPLE_KEYS }),
      },
      chains,
      upstreams,
      control,
      receiver,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function environment(
  chains: LocalChains,
  upstreams: Upstreams,
  databaseUrl: string,
  overlayFile: string,
): Record<string, string> {
  const { urls } = upstreams;
  return {
    // The end of the local world does not wait for idle connections.
    STOP_DRAIN_SEC: '0',
    // One node mines all blocks, and each has its events at once.
    HISTORY_CONFIRMATION_SEC: '0',
    ALERT_LOCAL_TARGETS: 'true',
    RPC_URL_1: chains.on(1).rpcUrl,
    RPC_URL_4663: chains.on(4663).rpcUrl,
    CATALOG_OVERLAY: overlayFile,
    DATABASE_URL: databaseUrl,
    PENDLE_URL: urls.pendle,
    DEFILLAMA_YIELDS_URL: urls['defillama-yields'],
    DEFILLAMA_COINS_URL: urls['defillama-coins'],
    STABLEWATCH_URL: urls.stablewatch,
    ROYCO_URL: urls.royco,
    MERKL_URL: urls.merkl,
    MERKL_POSITION_REWARDS: 'true',
    COINGECKO_URL: urls.coingecko,
    GECKOTERMINAL_URL: urls.geckoterminal,
    KYBERSWAP_URL: urls.kyberswap,
    OPENOCEAN_URL: urls.openocean,
    MORPHO_API_URL: urls.morpho,
  };
}

function takenPorts(ports: Readonly<Record<number, number>>): Record<number, number> {
  return Object.fromEntries(Object.entries(ports).filter(([, port]) => port !== 0));
}

/** Wait for both even when one fails, so that the other can be stopped. */
async function bothOrNeither<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}
