import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

const EVENT_LOOP_RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;

/** Measure the delay of the event loop, and register its gauge. */
export function eventLoopDelay(register: Registry) {
  const delay = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS });
  delay.enable();
  new Gauge({
    name: 'spiral_event_loop_delay_seconds',
    help: 'Delay of the event loop since the previous scrape.',
    labelNames: ['quantile'] as const,
    registers: [register],
    collect() {
      // Every sample includes the sampling interval, which is subtracted.
      const late = (nanoseconds: number) =>
        Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / NANOSECONDS - EVENT_LOOP_RESOLUTION_MS / 1_000) : 0;
      this.set({ quantile: '0.5' }, late(delay.percentile(50)));
      this.set({ quantile: '0.99' }, late(delay.percentile(99)));
      this.set({ quantile: '1' }, late(delay.count === 0 ? 0 : delay.max));
      delay.reset();
    },
  });
  return delay;
}
