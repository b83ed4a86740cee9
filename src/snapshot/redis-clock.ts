import type { Redis } from 'ioredis';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { MAX_AHEAD_MS } from '../shared/observed.ts';

/** A measurement of Redis' clock that took longer is too imprecise. */
const MAX_CLOCK_READ_MS = 1_000;

/** Create the measurement of the skew against the clock of Redis, which all processes share. */
export function createClockSkew({
  redis,
  clock,
  logger,
}: {
  readonly redis: Pick<Redis, 'time'>;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  let clockSkewMs: number | undefined;
  const measure = async (): Promise<void> => {
    const sentMs = clock.now();
    const [seconds, microseconds] = await redis.time();
    const answeredMs = clock.now();
    if (answeredMs - sentMs > MAX_CLOCK_READ_MS) return;
    const skewMs = Math.round((sentMs + answeredMs) / 2 - (Number(seconds) * 1_000 + Number(microseconds) / 1_000));
    const wasOff = clockSkewMs !== undefined && Math.abs(clockSkewMs) > MAX_AHEAD_MS;
    const isOff = Math.abs(skewMs) > MAX_AHEAD_MS;
    clockSkewMs = skewMs;
    if (isOff && !wasOff) logger.warn({ skewMs }, 'clock is off from the one of Redis');
    if (wasOff && !isOff) logger.info({ skewMs }, 'clock agrees with the one of Redis again');
  };
  return {
    measure,
    ms: () => clockSkewMs,
    /** Whether the clock was too far from the shared one at the last measurement. */
    isOff: () => clockSkewMs !== undefined && Math.abs(clockSkewMs) > MAX_AHEAD_MS,
  };
}
