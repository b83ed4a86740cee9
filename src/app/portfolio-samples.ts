import type { OpsPort } from '../resolvers/ops/ops-services.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Timers } from '../shared/timers.ts';

const HOUR_MS = 3_600_000;

export interface HourlyReports {
  start(): void;
  stop(): void;
}

/**
 * Make a report of every chain once an hour, even without a request: each report stores a sample, so that totals over time
 * have no gaps. A report logs its own failures.
 */
export function createHourlyReports(deps: {
  readonly ops: Pick<OpsPort, 'report'>;
  readonly chainIds: readonly ChainId[];
  readonly timers: Timers;
}): HourlyReports {
  const { ops, chainIds, timers } = deps;
  let timer: unknown;
  let stopped = false;
  const next = () => {
    if (stopped) return;
    timer = timers.setTimeout(() => {
      void Promise.allSettled(chainIds.map((chainId) => ops.report(chainId))).then(next);
    }, HOUR_MS);
  };
  return {
    start: next,
    stop() {
      stopped = true;
      timers.clearTimeout(timer);
    },
  };
}
