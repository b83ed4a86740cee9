import { createConnection } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisNode, RedisSettings } from '../config/redis-address.ts';
import { closeOnUnfitReplies, refuseMalformedSlots } from './replies.ts';

type Options = Omit<RedisOptions, 'replyMapping'>;

closeOnUnfitReplies();
refuseMalformedSlots();

/** Times of a connection, ms. */
export interface ClientTimes {
  readonly connectMs: number;
  /** Timeout of a command. */
  readonly commandMs: number;
  /** A connection without any data for this time after a command is closed. */
  readonly socketMs?: number | undefined;
  /** Delay before the next attempt to connect; `null` = none is made. */
  readonly retryMs: (attempt: number) => number | null;
}

/** How often the nodes of a cluster are asked for its slots, ms. */
const SLOTS_REFRESH_MS = 2_000;
/** A command to a node that has failed is sent again this often, 100 ms apart. */
const MAX_REDIRECTIONS = 8;
/** A connection that does not close within this time is destroyed, ms. */
const CLOSE_MS = 2_000;

/**
 * Open a connection to one server, to the primary of sentinels, or to all nodes of a cluster. It never queues commands while it
 * is not connected. A cluster has the commands of a server, too. Listen to `error` at once.
 */
export function openClient(settings: RedisSettings, name: string, times: ClientTimes): Redis {
  const { address } = settings;
  if (address.mode === 'cluster') return openCluster(settings, name, times);
  const { nodes, primaryName, sentinelUsername, sentinelPassword, family } = address;
  const common: Options = { ...optionsOf(settings, times), db: address.db, retryStrategy: times.retryMs };
  if (address.mode === 'single') return new Redis({ ...common, ...nodes[0] });
  const ofSentinels = {
    sentinels: nodes.map((node) => (family === undefined ? node : { ...node, family })),
    name: primaryName,
    sentinelUsername,
    sentinelPassword,
    sentinelTLS: tlsOf(settings),
    enableTLSForSentinelMode: address.isTls,
    sentinelCommandTimeout: times.commandMs,
    sentinelRetryStrategy: times.retryMs,
  };
  return new Redis({ ...common, ...present(ofSentinels) });
}

/**
 * Open a connection that can subscribe. In a cluster it is one to a single node, because every node passes on every message;
 * each attempt to connect takes the next one.
 */
export function openListener(settings: RedisSettings, name: string, times: ClientTimes): Redis {
  const { address } = settings;
  if (address.mode !== 'cluster') return openClient(settings, name, times);
  return new Redis({
    ...optionsOf(settings, times),
    retryStrategy: times.retryMs,
    Connector: nextNodeConnector(settings),
  });
}

function openCluster(settings: RedisSettings, name: string, times: ClientTimes): Redis {
  const { address } = settings;
  const options: Omit<ClusterOptions, 'redisOptions'> & { redisOptions: Options } = {
    enableOfflineQueue: false,
    enableReadyCheck: false,
    clusterRetryStrategy: times.retryMs,
    maxRedirections: MAX_REDIRECTIONS,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    slotsRefreshTimeout: times.commandMs,
    redisOptions: { ...optionsOf(settings, times), connectionName: name },
    // A certificate has the names of its nodes, not their addresses.
    dnsLookup: address.isTls ? (host, callback) => callback(null, host) : undefined,
  };
  return new Cluster([...address.nodes], options) as unknown as Redis;
}

function optionsOf(settings: RedisSettings, { connectMs, commandMs, socketMs }: ClientTimes): Options {
  const { username, password, family } = settings.address;
  return {
    ...present({ username, password, family, tls: tlsOf(settings), socketTimeout: socketMs }),
    enableOfflineQueue: false,
    // It would need INFO; our probe finds the servers that answer.
    enableReadyCheck: false,
    disableClientInfo: true,
    // Subscribers subscribe on every `ready`; the client's own attempt could reject without a handler.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandMs,
    connectTimeout: connectMs,
    keepAlive: 5_000,
  };
}

function tlsOf({ address, tls }: RedisSettings): { ca?: string; cert?: string; key?: string } | undefined {
  if (!address.isTls) return undefined;
  return present(tls ?? {});
}

/** Remove undefined options: the client treats a present `undefined` as a value. */
function present<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}

/**
 * Connect once to the first node of a cluster, or the first sentinel with its own credentials. Returns the error of that
 * connection; `undefined` = it succeeds. Never throws.
 */
export async function errorOfNode(settings: RedisSettings, times: ClientTimes): Promise<unknown> {
  const { address } = settings;
  // Sentinels have no databases, and must not get the password of the servers.
  const own =
    address.mode === 'sentinel'
      ? { username: address.sentinelUsername, password: address.sentinelPassword, db: 0 }
      : { username: address.username, password: address.password, db: address.db };
  const single = { ...address, ...own, mode: 'single', nodes: address.nodes.slice(0, 1) } as const;
  const redis = openClient({ ...settings, address: single }, '', { ...times, retryMs: () => null });
  try {
    return await new Promise((resolve) => {
      redis.once('ready', () => resolve(undefined));
      redis.on('error', resolve);
      redis.once('end', () => resolve(undefined));
    });
  } finally {
    redis.disconnect();
  }
}

/** A connector to the nodes of the setting in turn. */
function nextNodeConnector(settings: RedisSettings) {
  const { nodes, family } = settings.address;
  const tls = tlsOf(settings);
  let turn = Math.floor(Math.random() * nodes.length);
  return class extends AbstractConnector {
    constructor() {
      super(CLOSE_MS);
    }
    override async connect() {
      this.connecting = true;
      const node = nodes[turn++ % nodes.length] as RedisNode;
      const to = family === undefined ? node : { ...node, family };
      const stream = tls === undefined ? createConnection(to) : connectTls({ ...to, ...tls, ...serverName(node) });
      stream.once('error', (error) => {
        this.firstError = error;
      });
      this.stream = stream;
      return stream;
    }
  };
}

/** Host names are sent to the server; an address is not, because the protocol has none. */
function serverName({ host }: RedisNode): { servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host };
}
