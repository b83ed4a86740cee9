import type { Catalog } from '../../src/catalog/types.ts';
import type { Env } from '../../src/config/env.ts';
import type { Clock } from '../../src/shared/clock.ts';
import type { Timers } from '../../src/shared/timers.ts';
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
