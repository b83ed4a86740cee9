import type { Catalog } from '../../catalog/types.ts';
import type { Env } from '../../config/env.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Timers } from '../../shared/timers.ts';
import type { ClockSamples } from './clock-samples.ts';
import type { Observations } from './observations.ts';

export interface DoctorDeps {
  readonly env: Env;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Timers of time limits. */
  readonly timers: Timers;
  readonly fetch: typeof fetch;
  /** Milliseconds since any fixed moment; for durations. */
  readonly stopwatch: () => number;
  readonly clocks: ClockSamples;
  readonly observations: Observations;
}
