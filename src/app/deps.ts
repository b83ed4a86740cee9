import type { Config } from '../config/config.ts';
import type { HttpExchange } from '../http/handler.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Sleep } from '../upstreams/sleep.ts';

/** Inputs of the service from its process: settings, and everything that tests replace. */
export interface AppDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Uniform in [0, 1); jitter only. */
  readonly random: () => number;
  readonly fetch: typeof globalThis.fetch;
  /** Waits between retries of an upstream and for its budget; absent: real time. */
  readonly sleep?: Sleep | undefined;
  /** Timers of requests to upstreams and nodes; absent: the system's. */
  readonly timeouts?: Timers | undefined;
  readonly observe?: ((exchange: HttpExchange) => void) | undefined;
  /** Tracing; off when absent. */
  readonly tracing?: Tracing | undefined;
}
