import type { Clock } from '../../shared/clock.ts';
import { AppError, NotFoundError, NotReadyError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { Timers } from '../../shared/timers.ts';
import type { LeasePort } from '../../snapshot/lease.ts';
import type { RequestedRun, RunMode, Warmer } from '../types.ts';
import { createLeaseHolder, type LeaseHolder, NOT_OURS } from './lease-holder.ts';
import { delayAfter, type RunOutcome } from './schedule.ts';

export interface RunEvent {
  readonly name: string;
  /** Whether no failure is left that a retry could resolve. */
  readonly ok: boolean;
  readonly items: number;
  readonly failures: number;
  readonly ms: number;
}

export interface WarmerRunnerDeps {
  readonly warmers: readonly Warmer[];
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly lease: LeasePort;
  /** Uniform in [0, 1): spreads the runs of warmers and processes. */
  readonly random: () => number;
  readonly onRun?: ((event: RunEvent) => void) | undefined;
}

export interface WarmerRunner {
  /** Run every warmer once, phase by phase, then each at its cadence. Resolves after the first round. */
  start(): Promise<void>;
  /**
   * Run a warmer completely now, or join its current run. `lending-state` without a chain runs it on every chain.
   * @throws NotFoundError for an unknown name
   * @throws NotReadyError when another process holds its lease
   */
  refresh(name: string): Promise<readonly RunEvent[]>;
  /**
   * Run a warmer now for a request, or join its current run; not soon after its last start, nor while its source fails, nor
   * without its lease. Never throws.
   */
  runForRequest(name: string, minIntervalMs: number): Promise<RequestedRun>;
  /** Jobs that this process runs, and those that it is on standby for. With a wrong clock it runs none. */
  jobs(): {
    readonly held: readonly string[];
    readonly standby: readonly string[];
    readonly clockOff?: true | undefined;
  };
  /** Abort running jobs, wait for their end, and release the leases. */
  stop(): Promise<void>;
}

interface Entry {
  readonly warmer: Warmer;
  readonly holder: LeaseHolder;
  running: Promise<RunEvent> | null;
  abort: AbortController | null;
  timer: unknown;
  failedInRow: number;
  /** The latest run ended without any value. */
  isDown: boolean;
  startedMs: number;
}

/** The state of a job before its first run. */
const FIRST = { failedInRow: 0, isDown: false, startedMs: Number.NEGATIVE_INFINITY } as const;
/** On standby the lease is requested again after this part of its time, so that a released one is taken over soon. */
const STANDBY_SHARE = 0.1;
/** Delay after the end of a dead holder's lease: timers may fire early. */
const AFTER_END_MS = 5;

/**
 * Create the runner: one run of a warmer at a time across all processes, jittered cadences, backoff after failures that
 * honours `Retry-After`, and start-up in phases.
 */
export function createWarmerRunner(deps: WarmerRunnerDeps): WarmerRunner {
  const { clock, timers, logger, lease, random } = deps;
  let stopping = false;
  const entries = deps.warmers.map((warmer): Entry => {
    const onLost = (): void => entry.abort?.abort(new Error(`the lease of ${warmer.name} was lost`));
    const holder = createLeaseHolder({ job: warmer.name, lease, clock, timers, logger, onLost });
    const entry: Entry = { warmer, holder, running: null, abort: null, timer: null, ...FIRST };
    return entry;
  });
  if (new Set(entries.map((entry) => entry.warmer.name)).size !== entries.length) {
    throw new Error('Two warmers have the same name.');
  }

  const runOnce = async (entry: Entry, mode: RunMode): Promise<RunEvent> => {
    const { warmer } = entry;
    const abort = new AbortController();
    entry.abort = abort;
    const startedMs = clock.now();
    entry.startedMs = startedMs;
    const attempt = async (): Promise<RunOutcome> => ({ report: await warmer.run(abort.signal, mode) });
    const outcome = await attempt().catch((error: unknown): RunOutcome => ({ error }));
    entry.abort = null;
    const aborted = abort.signal.aborted;
    if (!aborted) entry.isDown = outcome.error !== undefined;
    const ok = outcome.report !== undefined && outcome.report.retryable === 0;
    if (!aborted) recordOutcome(logger, entry, outcome, ok);
    const standbyMs = lease.ttlMs * STANDBY_SHARE;
    if (!stopping)
      schedule(entry, aborted ? standbyMs : delayAfter(warmer.everySec, entry.failedInRow, outcome, random));
    const { items = 0, failures = 1 } = outcome.report ?? {};
    const event: RunEvent = { name: warmer.name, ok, items, failures, ms: clock.now() - startedMs };
    if (!aborted) deps.onRun?.(event);
    return event;
  };

  const run = (entry: Entry, mode: RunMode): Promise<RunEvent> => {
    entry.running ??= runOnce(entry, mode).finally(() => {
      entry.running = null;
    });
    return entry.running;
  };

  const schedule = (entry: Entry, ms: number): void => {
    if (entry.timer !== null) timers.clearTimeout(entry.timer);
    entry.timer = timers.setTimeout(() => {
      entry.timer = null;
      void runScheduled(entry);
    }, ms);
  };

  /** One scheduled turn: run while holding the lease, otherwise stand by and try again. */
  const runScheduled = async (entry: Entry): Promise<void> => {
    const { ours, freeInMs } = await entry.holder.hold();
    if (stopping) return;
    if (ours) await run(entry, 'due');
    else schedule(entry, Math.min(lease.ttlMs * STANDBY_SHARE, (freeInMs ?? Number.POSITIVE_INFINITY) + AFTER_END_MS));
  };

  return {
    start: async () => {
      for (const phase of [0, 1, 2]) {
        if (stopping) return;
        await Promise.all(entries.filter((entry) => entry.warmer.phase === phase).map(runScheduled));
      }
    },
    refresh: async (name) => {
      const matching = entriesNamed(name, entries);
      return Promise.all(
        matching.map(async (entry) => {
          const { ours, freeInMs } = stopping ? NOT_OURS : await entry.holder.hold();
          if (!ours) {
            const why = refusalReason(lease, stopping, freeInMs);
            throw new NotReadyError(`"${entry.warmer.name}" cannot run here: ${why}.`, [entry.warmer.name]);
          }
          return run(entry, 'all');
        }),
      );
    },
    runForRequest: async (name, minIntervalMs) => {
      const entry = entries.find(({ warmer }) => warmer.name === name);
      if (!entry || stopping) return 'elsewhere';
      const why = await whyNotForRequest(entry, clock, minIntervalMs);
      if (why || stopping) return why ?? 'elsewhere';
      await run(entry, 'all');
      return entry.isDown ? 'failed' : 'ran';
    },
    jobs: () => ({ ...jobsIn(entries), clockOff: lease.isClockOff() || undefined }),
    stop: async () => {
      stopping = true;
      await Promise.all(
        entries.map(async (entry) => {
          if (entry.timer !== null) timers.clearTimeout(entry.timer);
          entry.abort?.abort(new Error('the warmers are stopping'));
          await entry.running?.catch(() => {});
          await entry.holder.release();
        }),
      );
    },
  };
}

/** The names of the jobs that this process holds, and of the others. */
function jobsIn(entries: readonly Entry[]) {
  const names = (ours: boolean) =>
    entries.filter(({ holder }) => holder.isOurs() === ours).map(({ warmer }) => warmer.name);
  return { held: names(true), standby: names(false) };
}

/** Why a job does not run for a request now; `undefined` = it does, or is running already. */
async function whyNotForRequest(
  entry: Entry,
  clock: Clock,
  minIntervalMs: number,
): Promise<Exclude<RequestedRun, 'ran'> | undefined> {
  if (entry.running !== null) return undefined;
  const { ours } = await entry.holder.hold().catch(() => NOT_OURS);
  if (!ours) return 'elsewhere';
  if (entry.running !== null) return undefined;
  if (entry.isDown) return 'failed';
  const sinceMs = clock.now() - entry.startedMs;
  // A clock that was set back must not end the requests.
  return sinceMs >= 0 && sinceMs < minIntervalMs ? 'too_recent' : undefined;
}

/** Count failures in a row, and log changes of state only, once each. */
function recordOutcome(logger: Logger, entry: Entry, outcome: RunOutcome, ok: boolean): void {
  const { name } = entry.warmer;
  if (ok && entry.failedInRow > 0) logger.info({ warmer: name }, 'warmer recovered');
  if (!ok && entry.failedInRow === 0) {
    const { error, report } = outcome;
    const why = error instanceof AppError ? { details: error.details } : error === undefined ? {} : { error };
    logger.warn({ warmer: name, ...why, ...report }, 'warmer failing');
  }
  entry.failedInRow = ok ? 0 : entry.failedInRow + 1;
}

/** Why a process without the lease of a job does not run it. */
function refusalReason(lease: LeasePort, stopping: boolean, freeInMs: number | null): string {
  if (stopping) return 'this process is stopping';
  if (lease.isClockOff()) return 'the clock of this process is more than two minutes from the one of Redis';
  return freeInMs === null ? 'the holder of its lease is unknown' : 'another process holds its lease';
}

function entriesNamed(name: string, entries: readonly Entry[]): readonly Entry[] {
  const named = entries.filter(({ warmer }) => warmer.name === name || warmer.name.startsWith(`${name}:`));
  if (named.length === 0) {
    const names = entries.map((entry) => entry.warmer.name).join(', ');
    throw new NotFoundError(`No warmer has the name "${name}". Name one of: ${names}.`, {
      resource: 'warmer',
      id: name,
    });
  }
  return named;
}
