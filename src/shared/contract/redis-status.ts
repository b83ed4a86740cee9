/** One server, the primary of sentinels, or a cluster. */
export const REDIS_MODES = ['single', 'sentinel', 'cluster'] as const;
export type RedisMode = (typeof REDIS_MODES)[number];
/** The reasons for which Redis does not serve a process. */
export const REDIS_FAULTS = [
  'unreachable',
  'timeout',
  'tls',
  'certificate_expired',
  'certificate_host',
  'certificate_authority',
  'wrong_password',
  'no_permission',
  'unknown_primary',
  'not_primary',
  'primary_down',
  'too_few_replicas',
  'memory_full',
  'cannot_save',
  'loading',
  'protected_mode',
  'too_many_clients',
  'wrong_mode',
  'cluster_down',
  'busy',
  'refused',
] as const;
export type RedisFaultReason = (typeof REDIS_FAULTS)[number];
