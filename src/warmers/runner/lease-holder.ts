import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { Timers } from '../../shared/timers.ts';
import type { Lease, LeasePort } from '../../snapshot/lease.ts';

export interface Hold {
  readonly ours: boolean;
  /** Time until another process's lease ends unless it is renewed, ms; `null` = not known. */
  readonly freeInMs: number | null;
}

/** Holds the lease of one job between its runs, so that a job stays with one process until that process ends. */
export interface LeaseHolder {
  /** Return whether the lease is held, and try to take it if it is free. */
  hold(): Promise<Hold>;
  /** Whether this process holds the lease, by its last answer. */
  isOurs(): boolean;
  release(): Promise<void>;
}

export interface LeaseHolderDeps {
  readonly job: string;
  readonly lease: LeasePort;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Called when the lease is lost: a running job has to end. */
  readonly onLost: () => void;
}

const OURS: Hold = { ours: true, freeInMs: null };
/** Not held by this process, without a known expiry. */
export const NOT_OURS: Hold = { ours: false, freeInMs: null };

/** Renewals per lease time. With three, a lease survives one lost renewal. */
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
    const sentMs = clock.now();
    const isRenewed = await current.renew().catch(() => null);
    if (held !== current) return;
    if (isRenewed === true) validUntilMs = sentMs + lease.ttlMs;
    // The renewal failed: the lease stays held until its time is over.
    if (isRenewed === false || (isRenewed === null && clock.now() >= validUntilMs)) lose();
    else renewLater();
  };
  const acquire = async (): Promise<Hold> => {
    const sentMs = clock.now();
    const { lease: taken, freeInMs } = await lease.acquire(job);
    if (taken === null) return { ours: false, freeInMs };
    if (released) {
      await taken.release();
      return NOT_OURS;
    }
    held = taken;
    validUntilMs = sentMs + lease.ttlMs;
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
      // A lease that is being acquired is released as soon as it is granted, before the store is closed.
      await acquiring;
    },
  };
}
