import type { KeyRecord } from '../database/keys.ts';

export type KeyStatus = 'active' | 'expired' | 'revoked';

/** Return whether a key is active, revoked or expired at a time. */
export function keyStatusOf(key: Pick<KeyRecord, 'revokedAtMs' | 'expiresAtMs'>, nowMs: number): KeyStatus {
  if (key.revokedAtMs !== null) return 'revoked';
  return key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? 'expired' : 'active';
}
