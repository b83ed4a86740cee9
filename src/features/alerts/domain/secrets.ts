import type { AlertSecret, EarlierSecret } from './records.ts';

/** Secrets that sign at once: the newest, and those of rotations before it. */
export const MAX_SECRETS = 5;

interface Secrets {
  readonly secret: AlertSecret;
  readonly earlierSecrets: readonly EarlierSecret[];
}

/** The secrets from before that still sign. */
export function validEarlierSecrets(
  { earlierSecrets }: Pick<Secrets, 'earlierSecrets'>,
  nowMs: number,
): readonly EarlierSecret[] {
  return earlierSecrets.filter(({ untilMs }) => untilMs > nowMs);
}

/**
 * Begin a new secret. The one before signs as well until the overlap is over, and so do those before it, but none of them longer
 * than it did already.
 * @returns `null` = too many secrets would sign
 */
export function rotateSecrets({ secret, earlierSecrets }: Secrets, overlapSec: number, nowMs: number): Secrets | null {
  const untilMs = nowMs + overlapSec * 1_000;
  const earlier = [
    { version: secret.version, untilMs },
    ...earlierSecrets.map((one) => ({ ...one, untilMs: Math.min(one.untilMs, untilMs) })),
  ].filter((one) => one.untilMs > nowMs);
  if (earlier.length >= MAX_SECRETS) return null;
  return { secret: { ...secret, version: secret.version + 1 }, earlierSecrets: earlier };
}
