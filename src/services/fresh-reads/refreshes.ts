import type { ChainFacts, FactGroup } from '../../domain/facts.ts';
import type { Refreshable, RefreshPort } from '../../resolvers/common/read-services.ts';
import { settlesWithin } from '../../shared/calls/wait-timeout.ts';
import type { Clock } from '../../shared/clock.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { Timers } from '../../shared/timers.ts';
import type { SnapshotReader } from '../../snapshot/types.ts';
import type { RequestedRun } from '../../warmers/types.ts';

/** A warmer that requests can run, and the least time between two of its runs. */
interface Job {
  /** Name of the warmer that measures a chain. */
  readonly warmerOf: (chainId: ChainId) => string;
  readonly group: FactGroup;
  readonly minIntervalSec: number;
}

export type Jobs = Readonly<Record<Refreshable, Job>>;

/** Market state costs requests to our own nodes only; prices cost quotas of providers. */
export function createJobs({ pricesMinSec }: { readonly pricesMinSec: number }): Jobs {
  return {
    market_state: { warmerOf: (chainId) => `lending-state:${chainId}`, group: 'lendingState', minIntervalSec: 2 },
    prices: { warmerOf: () => 'prices', group: 'price', minIntervalSec: pricesMinSec },
  };
}

export interface RefreshesDeps {
  readonly jobs: Jobs;
  readonly snapshot: Pick<SnapshotReader, 'facts' | 'subscribe'>;
  /** Run a warmer in this process; `null` = it has no warmers. */
  readonly runHere: ((name: string, minIntervalMs: number) => Promise<RequestedRun>) | null;
  /** Ask the process that has the lease of a warmer to run it; `null` = there is no other. May reject. */
  readonly askOthers: ((name: string) => Promise<unknown>) | null;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Longest wait for a measurement, ms. */
  readonly maxWaitMs: number;
  /** Called with each outcome, for metrics. */
  readonly onEnd?: ((group: Refreshable, outcome: string) => void) | undefined;
}

type Ended = Awaited<ReturnType<RefreshPort['refresh']>>;

/** Create the measurements for requests. All that ask for the same facts at a time share one. */
export function createRefreshes(deps: RefreshesDeps): RefreshPort {
  const { jobs, snapshot, runHere, askOthers, clock, timers, maxWaitMs, onEnd } = deps;
  const nameOf = (chainId: ChainId, group: Refreshable) => jobs[group].warmerOf(chainId);
  const groupOf = (chainId: ChainId, group: Refreshable) => snapshot.facts(chainId).groups[jobs[group].group];
  const asking = new Map<string, Promise<boolean>>();

  /** Time until the facts may be measured again, ms. An attempt from the future does not count. */
  const restMs = (chainId: ChainId, group: Refreshable): number => {
    const { lastAttemptMs } = groupOf(chainId, group);
    const sinceMs = lastAttemptMs === null ? -1 : clock.now() - lastAttemptMs;
    return sinceMs < 0 ? 0 : Math.max(0, jobs[group].minIntervalSec * 1_000 - sinceMs);
  };
  /** Send one request to the other processes for all that ask while it is sent. */
  const askOnce = (name: string): Promise<boolean> => {
    const known = asking.get(name);
    if (known) return known;
    if (askOthers === null) return Promise.resolve(false);
    const sent = askOthers(name)
      .then(
        () => true,
        () => false,
      )
      .finally(() => asking.delete(name));
    asking.set(name, sent);
    return sent;
  };
  /** Wait for a version of the facts that is good enough. */
  const published = (chainId: ChainId, group: Refreshable, isDone: () => boolean) => {
    let stop: () => void = () => {};
    const done = new Promise<void>((resolve) => {
      stop = snapshot.subscribe((facts: ChainFacts, changed: FactGroup) => {
        if (facts.chainId === chainId && changed === jobs[group].group && isDone()) resolve();
      });
    });
    return { done, stop };
  };
  const elsewhere = async (chainId: ChainId, group: Refreshable, isDone: () => boolean): Promise<Ended> => {
    const publication = published(chainId, group, isDone);
    try {
      if (!(await askOnce(nameOf(chainId, group)))) return 'unavailable';
      if (isDone()) return 'refreshed';
      return (await settlesWithin(publication.done, maxWaitMs, timers)) ? 'refreshed' : 'late';
    } finally {
      publication.stop();
    }
  };
  const here = async (chainId: ChainId, group: Refreshable, isDone: () => boolean): Promise<RequestedRun | 'late'> => {
    if (runHere === null) return 'elsewhere';
    const { minIntervalSec } = jobs[group];
    const running = runHere(nameOf(chainId, group), minIntervalSec * 1_000);
    if (!(await settlesWithin(running, maxWaitMs, timers))) return 'late';
    const ended = await running;
    return ended === 'failed' && isDone() ? 'ran' : ended;
  };

  return {
    measuredAtMs(chainId, group) {
      const { items, failures } = groupOf(chainId, group);
      let oldest: number | null = null;
      for (const [key, { asOfMs }] of items) {
        if (!failures.has(key) && (oldest === null || asOfMs < oldest)) oldest = asOfMs;
      }
      return oldest;
    },
    stateBlock(chainId) {
      let newest: bigint | null = null;
      for (const { value } of snapshot.facts(chainId).groups.lendingState.items.values()) {
        if (newest === null || value.blockNumber > newest) newest = value.blockNumber;
      }
      return newest;
    },
    isTooRecent: (chainId, group) => restMs(chainId, group) > maxWaitMs,
    async refresh(chainId, group, isDone, signal) {
      signal?.throwIfAborted();
      const pauseMs = restMs(chainId, group);
      if (pauseMs > 0) await new Promise<void>((resolve) => timers.setTimeout(resolve, pauseMs));
      // Another request may have caused the measurement meanwhile.
      if (isDone()) return 'refreshed';
      const run = await here(chainId, group, isDone);
      const ended = run === 'elsewhere' ? await elsewhere(chainId, group, isDone) : run === 'ran' ? 'refreshed' : run;
      onEnd?.(group, ended);
      return ended;
    },
  };
}
