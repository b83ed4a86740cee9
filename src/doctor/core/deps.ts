import type { Catalog } from '../../catalog/types.ts';
import type { Env } from '../../config/env.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Timers } from '../../shared/timers.ts';
import type { ClockSamples } from './clock-samples.ts';
import type { Observations } from './observations.ts';

/** What every check is given. */
export interface DoctorDeps {
  readonly env: Env;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** By which time limits run. */
  readonly timers: Timers;
  readonly fetch: typeof fetch;
  /** Milliseconds since some moment, by which durations are measured. */
  readonly stopwatch: () => number;
  readonly clocks: ClockSamples;
  readonly observations: Observations;
}
