import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import type { Lease, LeasePort } from '../snapshot/lease.ts';

export interface Hold {
  readonly ours: boolean;
  /** When somebody else's time is over unless it is renewed, ms from now; `null` = that cannot be told. */
  readonly freeInMs: number | null;
}

/** Holds the lease of one job between its runs as well, so that a job stays with one process until that ends. */
export interface LeaseHolder {
  /** Tell whether the lease is ours now, taking it when it is free. */
  hold(): Promise<Hold>;
  /** Whether it is ours, as far as this process knows. */
  isOurs(): boolean;
  /** Give it back. */
  release(): Promise<void>;
}

export interface LeaseHolderDeps {
  readonly job: string;
  readonly lease: LeasePort;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Called when the lease is no longer ours: a running job has to end. */
  readonly onLost: () => void;
}

const OURS: Hold = { ours: true, freeInMs: null };
/** Not ours, and not told whose. */
export const NOT_OURS: Hold = { ours: false, freeInMs: null };

/** Renewed this often within its time, a lease survives one lost renewal. */
const RENEWALS_PER_TTL = 3;

/** Create the holder of one job's lease. */
export function createLeaseHolder({ job, lease, clock, timers, logger, onLost }: LeaseHolderDeps): LeaseHolder {
  let held: Lease | null = null;
  let validUntilMs = 0;
  let timer: unknown = null;
  let acquiring: Promise<Hold> | null = null;
  let released = false;

  const lose = (): void => {
    held = null;
    logger.info({ job }, 'lease lost');
    onLost();
  };
  const renewLater = (): void => {
    timer = timers.setTimeout(() => {
      timer = null;
      void renew();
    }, lease.ttlMs / RENEWALS_PER_TTL);
  };
  const renew = async (): Promise<void> => {
    const current = held;
    if (current === null) return;
    const askedMs = clock.now();
    const kept = await current.renew().catch(() => null);
    if (held !== current) return;
    if (kept === true) validUntilMs = askedMs + lease.ttlMs;
    // Not told whether it is kept: it is ours until its time is over, and not a moment longer.
    if (kept === false || (kept === null && clock.now() >= validUntilMs)) lose();
    else renewLater();
  };
  const acquire = async (): Promise<Hold> => {
    const askedMs = clock.now();
    const { lease: taken, freeInMs } = await lease.acquire(job);
    if (taken === null) return { ours: false, freeInMs };
    if (released) {
      await taken.release();
      return NOT_OURS;
    }
    held = taken;
    validUntilMs = askedMs + lease.ttlMs;
    renewLater();
    return OURS;
  };

  return {
    hold: async () => {
      if (released) return NOT_OURS;
      if (held !== null) return OURS;
      acquiring ??= acquire().finally(() => {
        acquiring = null;
      });
      return acquiring;
    },
    isOurs: () => held !== null,
    release: async () => {
      released = true;
      if (timer !== null) timers.clearTimeout(timer);
      timer = null;
      const current = held;
      held = null;
      await current?.release();
      // What is being asked for is given back as soon as it is granted: whoever closes the leases next must not be faster.
      await acquiring;
    },
  };
}
