import type { Config } from '../config/config.ts';
import type { HttpExchange } from '../http/handler.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { Timers } from '../shared/timers.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Sleep } from '../upstreams/sleep.ts';

/** What a process hands to the service: its settings, and everything that a test wants to hold in its hand. */
export interface AppDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Uniform in [0, 1); jitter only. */
  readonly random: () => number;
  readonly fetch: typeof globalThis.fetch;
  /** How to wait between tries of an upstream and for its budget; absent: really. */
  readonly sleep?: Sleep | undefined;
  /** By which the timeouts of requests to upstreams and nodes run; absent: really. */
  readonly timeouts?: Timers | undefined;
  readonly observe?: ((exchange: HttpExchange) => void) | undefined;
  /** Spans of everything; off when absent. */
  readonly tracing?: Tracing | undefined;
}
