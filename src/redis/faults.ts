import { ReplyError } from 'ioredis';
import { certificateFaultOf } from '../shared/calls/certificate-faults.ts';
import type { RedisFaultReason } from '../shared/contract/redis-status.ts';

/** A failure of Redis with its reason. */
export interface RedisFault {
  readonly reason: RedisFaultReason;
  /** Message of the server or the system, without addresses. */
  readonly detail: string;
}

/** The code with which an error reply of Redis begins. */
const BY_CODE: Readonly<Record<string, RedisFaultReason>> = {
  WRONGPASS: 'wrong_password',
  NOAUTH: 'wrong_password',
  NOPERM: 'no_permission',
  READONLY: 'not_primary',
  MASTERDOWN: 'primary_down',
  NOREPLICAS: 'too_few_replicas',
  OOM: 'memory_full',
  MISCONF: 'cannot_save',
  LOADING: 'loading',
  DENIED: 'protected_mode',
  CLUSTERDOWN: 'cluster_down',
  MOVED: 'wrong_mode',
  ASK: 'wrong_mode',
  CROSSSLOT: 'wrong_mode',
  BUSY: 'busy',
  ETIMEDOUT: 'timeout',
};
/** Texts of replies with the code ERR, and of errors of the driver. */
const BY_TEXT: readonly (readonly [pattern: RegExp, reason: RedisFaultReason])[] = [
  [/invalid password|without any password configured/i, 'wrong_password'],
  // Of a command within a script.
  [/can't run this command|no permissions/i, 'no_permission'],
  [/No such master/i, 'unknown_primary'],
  [/max number of clients/i, 'too_many_clients'],
  [/cluster support disabled|Too many Cluster redirections/, 'wrong_mode'],
  [/unknown command '?`?(set|sentinel|cluster)\b/i, 'wrong_mode'],
  [/unknown command/i, 'no_permission'],
  [/timed? ?out/i, 'timeout'],
];
const TLS = /^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;
const MAX_DETAIL_CHARS = 160;

/** Name the cause of an error of a connection or command. */
export function redisFaultOf(error: unknown): RedisFault {
  const cause = innermost(error);
  const text = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  const isTls =
    (code !== undefined && TLS.test(code)) || /certificate|before secure TLS|wrong version number/i.test(text);
  const said = code ?? text;
  if (isTls) return { reason: certificateFaultOf(code ?? '') ?? 'tls', detail: detailOf(said) };
  const [, replied = ''] = /^-?([A-Z]+)\b/.exec(text) ?? [];
  const reason = BY_CODE[code ?? ''] ?? BY_CODE[replied] ?? BY_TEXT.find(([pattern]) => pattern.test(text))?.[1];
  return { reason: reason ?? (cause instanceof ReplyError ? 'refused' : 'unreachable'), detail: detailOf(said) };
}

/** Whether the server still answers reads while it refuses writes. */
export function isReadable({ reason }: RedisFault): boolean {
  return READABLE.has(reason);
}

const READABLE: ReadonlySet<RedisFaultReason> = new Set([
  'not_primary',
  'too_few_replicas',
  'memory_full',
  'cannot_save',
]);

/** The next step for operators after each fault. */
export const REDIS_TODO: Readonly<Record<RedisFaultReason, string>> = {
  unreachable: 'Start Redis, or correct the hosts and ports in REDIS_URL; a server that only accepts TLS needs rediss.',
  timeout: 'Look at the load of Redis and at the network between. A server without TLS needs redis instead of rediss.',
  tls: 'Correct REDIS_CERT_FILE and REDIS_KEY_FILE: the server may want a certificate of the service. A server without TLS needs redis instead of rediss.',
  certificate_expired:
    'Renew the certificate of the server (of each sentinel and node), and check the clock of this machine.',
  certificate_host:
    'Write a host that is in the certificate in REDIS_URL; sentinels and clusters have to announce such names, too (sentinel resolve-hostnames, cluster-announce-hostname).',
  certificate_authority: 'Set REDIS_CA_FILE to the authority that has signed the certificate of the server.',
  wrong_password: 'Correct user and password in REDIS_URL (of sentinels also sentinelUsername and sentinelPassword).',
  no_permission: 'Give the user the commands, keys and channels that docs/stores.md lists.',
  unknown_primary: 'Correct the name of the primary at the end of REDIS_URL, or the sentinels that it names.',
  not_primary: 'Set REDIS_URL to the primary, or to its sentinels.',
  primary_down: 'This replica has lost its primary: repair it, or set REDIS_URL to the sentinels.',
  too_few_replicas: 'Start the replicas of the primary, or lower its min-replicas-to-write.',
  memory_full: 'Raise maxmemory, or find its other users: a full Redis refuses writes.',
  cannot_save:
    "Check the log and the disk of Redis, or turn saving off (CONFIG SET save ''): the service needs no persistence.",
  loading: 'Wait until Redis has loaded its data.',
  protected_mode:
    'Redis accepts only its own machine: set a password (or an ACL user) or bind it to a private address and turn protected-mode off.',
  too_many_clients:
    'Raise maxclients, or find who holds the connections: each process of the service has four, in a cluster some per node.',
  wrong_mode:
    'Correct the form of REDIS_URL: redis:// for one server, redis+sentinel:// for sentinels, redis+cluster:// for a cluster.',
  cluster_down: 'Repair the cluster: some of its slots are served by no node (CLUSTER INFO).',
  busy: 'A script of another user blocks Redis: SCRIPT KILL, or use a separate Redis.',
  refused: 'Look at the reply in the log.',
};

/** The error of the last node of a cluster, or of the last address of a host. */
function innermost(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if ('lastNodeError' in error && error.lastNodeError instanceof Error) return innermost(error.lastNodeError);
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors.at(-1));
  return error;
}

function detailOf(text: string): string {
  const [line = ''] = text.split('\n');
  return line
    .replace(/\[?[\w.:-]+\]?:\d{2,5}\b/g, '[address]')
    .replace(/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, '[ip]')
    .slice(0, MAX_DETAIL_CHARS);
}
