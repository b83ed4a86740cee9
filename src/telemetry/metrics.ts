import { GraphQLError } from 'graphql';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { PayloadTooLargeError } from '../http/body.ts';
import type { HttpExchange } from '../http/handler.ts';
import { RateLimitedError } from '../limits/budgets.ts';
import { QueryTooComplexError } from '../limits/query-too-complex.ts';
import { appErrorBehind } from '../schema/common/input-errors.ts';
import type { CacheFill } from '../shared/byte-cache.ts';
import { eventLoopDelay } from './event-loop-delay.ts';
import { type BudgetMetrics, budgetMetrics } from './metrics-budgets.ts';
import { type FactsMetricsDeps, registerFactsMetrics } from './metrics-facts.ts';
import { type FreshReadMetrics, freshReadMetrics } from './metrics-fresh-reads.ts';
import { type HistoryMetrics, historyMetrics } from './metrics-history.ts';
import { type ToolMetrics, toolMetrics } from './metrics-tools.ts';

/**
 * Recording functions for all parts. The values of every label are bounded by configuration or code: route templates, provider
 * names, warmer names, chain ids, error codes; never a URL, an id, an address, a key or an operation name of a client.
 */
export interface Metrics extends BudgetMetrics, FreshReadMetrics, HistoryMetrics, ToolMetrics {
  request(exchange: Pick<HttpExchange, 'method' | 'route' | 'status' | 'durationMs'>): void;
  upstreamCall(call: { readonly provider: string; readonly outcome: string; readonly ms: number }): void;
  rpcCall(call: {
    readonly chainId: number;
    readonly node: number;
    readonly outcome: string;
    readonly ms: number;
  }): void;
  /** Count a simulated build by its method, `none` included. */
  simulation(chainId: number, way: string): void;
  /** Count a reading by the node that was chosen. */
  nodeChosen(chainId: number, node: number): void;
  warmerRun(run: { readonly name: string; readonly ok: boolean; readonly ms: number }): void;
  query(query: { readonly durationMs: number; readonly failed: boolean }): void;
  cacheLookup(cache: string, hit: boolean): void;
  /** Register the gauges of a cache. */
  cacheFill(cache: string, fill: CacheFill): void;
  /** Count a charge that this process counted while Redis did not answer. */
  insuredCharge(): void;
  /** Count an answer with remembered rates or records. */
  rememberedHistory(): void;
  /** Count the outcome of a key check. */
  keyCheck(outcome: string): void;
  /** Record an error of an answer; counted when it is the refusal of a limit. */
  refused(error: unknown): void;
  /** `outcome`: `ok` or the error code. */
  build(verb: string, outcome: string): void;
  swapQuote(event: { readonly chainId: number; readonly venue: string; readonly outcome: string }): void;
  subscription(event: { readonly field: string; readonly change: 'opened' | 'closed' }): void;
  slowReader(): void;
  /** Count an answer that ended with an error after its headers were sent. */
  brokenAnswer(route: string): void;
  /** Count a refused connection above the limit of its address. */
  connectionRefused(): void;
  /** Register the gauges of connections and unread bytes, read at scrape time. */
  watchEdge(edge: { readonly connections: () => number; readonly unreadBytes: () => number }): void;
  publish(chainId: number, group: string): void;
  /** Register the gauges of facts, nodes and jobs, read at scrape time. */
  watchFacts(facts: FactsMetricsDeps): void;
  /** Where features register theirs. */
  readonly registers: Registry[];
  /** Return the metrics in the Prometheus text format. */
  render(): Promise<string>;
  readonly contentType: string;
  /** Return the names of all metrics, including those of the runtime. */
  names(): readonly string[];
  close(): void;
}

/** From a cached read (under a millisecond) to the longest timeout of a caller. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const CALL_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const RUN_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const QUERY_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** Create the metrics of one process in a separate registry. */
export function createMetrics(): Metrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const registered = registeredIn(register);
  const delay = eventLoopDelay(register);
  return {
    ...answerMetrics(registered),
    ...sourceMetrics(registered),
    ...budgetMetrics(registered.registers),
    ...historyMetrics(registered.registers),
    ...freshReadMetrics(registered.registers),
    ...cacheMetrics(registered),
    ...limitMetrics(registered),
    ...transactionMetrics(registered),
    ...subscriptionMetrics(registered),
    ...toolMetrics(registered.registers),
    registers: registered.registers,
    watchFacts: (facts) => registerFactsMetrics(register, facts),
    render: () => register.metrics(),
    contentType: register.contentType,
    names: () => register.getMetricsAsArray().map((metric) => (metric as unknown as { name: string }).name),
    close: () => {
      delay.disable();
      register.clear();
    },
  };
}

type Registered = ReturnType<typeof registeredIn>;

function registeredIn(register: Registry) {
  const registers = [register];
  return {
    registers,
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
      new Counter<L>({ name, help, labelNames, registers }),
    histogram: <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
      new Histogram<L>({ name, help, labelNames, buckets, registers }),
  };
}

/** Answers and connections. */
function answerMetrics({ counter, histogram, registers }: Registered) {
  const requests = counter('spiral_http_requests_total', 'Answered requests.', ['route', 'method', 'status']);
  const requestSeconds = histogram(
    'spiral_http_request_duration_seconds',
    'Time from the first byte of a request to the end of its answer.',
    ['route'],
    REQUEST_BUCKETS,
  );
  const cuts = counter('spiral_slow_readers_cut_total', 'Answers cut off because their reader stopped reading.', []);
  const broken = counter(
    'spiral_http_broken_answers_total',
    'Answers that ended with an error after their headers were sent: the connection was closed.',
    ['route'],
  );
  const refusedConnections = counter(
    'spiral_connections_refused_total',
    'Connections refused above the limit of their address.',
    [],
  );
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  return {
    request: ({ route, method, status, durationMs }) => {
      requests.inc({ route, method, status: String(status) });
      requestSeconds.observe({ route }, durationMs / 1_000);
    },
    slowReader: () => cuts.inc(),
    brokenAnswer: (route) => broken.inc({ route }),
    connectionRefused: () => refusedConnections.inc(),
    watchEdge({ connections, unreadBytes }) {
      gauge('spiral_connections_open', 'Open connections of callers.', connections);
      gauge('spiral_unread_bytes', 'Bytes of unread answers.', unreadBytes);
    },
  } satisfies Partial<Metrics>;
}

/** Requests to providers, chain nodes and the database, and the runs of warmers. */
function sourceMetrics({ counter, histogram }: Registered) {
  const calls = counter('spiral_upstream_calls_total', 'Requests to providers, retries included, by outcome.', [
    'provider',
    'outcome',
  ]);
  const callSeconds = histogram(
    'spiral_upstream_call_duration_seconds',
    'Duration of requests to providers.',
    ['provider'],
    CALL_BUCKETS,
  );
  const rpcs = counter('spiral_rpc_requests_total', 'HTTP requests to chain nodes, batches counted once.', [
    'chain_id',
    'node',
    'outcome',
  ]);
  const rpcSeconds = histogram(
    'spiral_rpc_request_duration_seconds',
    'Duration of requests to chain nodes until the response headers.',
    ['chain_id', 'node'],
    CALL_BUCKETS,
  );
  const chosen = counter('spiral_node_readings_total', 'Readings by the chain node that was chosen.', [
    'chain_id',
    'node',
  ]);
  const runs = counter('spiral_warmer_runs_total', 'Runs of warmers in this process.', ['warmer', 'outcome']);
  const runSeconds = histogram(
    'spiral_warmer_run_duration_seconds',
    'Duration of warmer runs.',
    ['warmer'],
    RUN_BUCKETS,
  );
  const queries = counter('spiral_database_queries_total', 'SQL statements.', ['outcome']);
  const querySeconds = histogram(
    'spiral_database_query_duration_seconds',
    'Duration of SQL statements.',
    [],
    QUERY_BUCKETS,
  );
  const publishes = counter(
    'spiral_snapshot_changes_total',
    'Versions that changed a group, published by this or another process.',
    ['chain_id', 'group'],
  );
  return {
    upstreamCall: ({ provider, outcome, ms }) => {
      calls.inc({ provider, outcome });
      // A request that our own budget held back was not sent.
      if (outcome !== 'throttled') callSeconds.observe({ provider }, ms / 1_000);
    },
    rpcCall: ({ chainId, node, outcome, ms }) => {
      const labels = { chain_id: String(chainId), node: String(node) };
      rpcs.inc({ ...labels, outcome });
      rpcSeconds.observe(labels, ms / 1_000);
    },
    nodeChosen: (chainId, node) => chosen.inc({ chain_id: String(chainId), node: String(node) }),
    warmerRun: ({ name, ok, ms }) => {
      runs.inc({ warmer: name, outcome: ok ? 'ok' : 'failed' });
      runSeconds.observe({ warmer: name }, ms / 1_000);
    },
    query: ({ durationMs, failed }) => {
      queries.inc({ outcome: failed ? 'failed' : 'ok' });
      querySeconds.observe(durationMs / 1_000);
    },
    publish: (chainId, group) => publishes.inc({ chain_id: String(chainId), group }),
  } satisfies Partial<Metrics>;
}

/** Metrics of caches and of answers from memory. */
function cacheMetrics({ counter, registers }: Registered) {
  const lookups = new Map<string, { hit: number; miss: number }>();
  new Counter({
    name: 'spiral_cache_lookups_total',
    help: 'Look-ups in caches.',
    labelNames: ['cache', 'result'] as const,
    registers,
    // Read at scrape time, because every request looks into several caches.
    collect() {
      this.reset();
      for (const [cache, { hit, miss }] of lookups) {
        this.inc({ cache, result: 'hit' }, hit);
        this.inc({ cache, result: 'miss' }, miss);
      }
    },
  });
  const remembered = counter(
    'spiral_histories_from_memory_total',
    'Reads of recorded rates and prices that were served from memory while the database did not answer.',
    [],
  );
  const fills = new Map<string, CacheFill>();
  const fillGauge = (name: string, help: string, read: (fill: CacheFill) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['cache'] as const,
      registers,
      collect() {
        for (const [cache, fill] of fills) this.set({ cache }, read(fill));
      },
    });
  fillGauge('spiral_cache_bytes', 'Memory of cached answers.', ({ bytes }) => bytes);
  fillGauge('spiral_cache_limit_bytes', 'Maximum memory of cached answers.', ({ maxBytes }) => maxBytes);
  return {
    cacheLookup(cache, hit) {
      const counts = lookups.get(cache) ?? { hit: 0, miss: 0 };
      counts[hit ? 'hit' : 'miss'] += 1;
      lookups.set(cache, counts);
    },
    cacheFill: (cache, fill) => {
      fills.set(cache, fill);
    },
    rememberedHistory: () => remembered.inc(),
  } satisfies Partial<Metrics>;
}

/** Limits and keys. */
function limitMetrics({ counter }: Registered) {
  const refusals = counter('spiral_limiter_refusals_total', 'Requests refused by a limit.', ['limiter']);
  const insured = counter(
    'spiral_limiter_insured_total',
    'Charges that this process counted while Redis did not answer.',
    [],
  );
  const keyChecks = counter('spiral_key_checks_total', 'Checks of keys by outcome.', ['outcome']);
  return {
    refused: (error) => {
      const limiter = limiterOf(error instanceof GraphQLError ? appErrorBehind(error) : error);
      if (limiter !== null) refusals.inc({ limiter });
    },
    insuredCharge: () => insured.inc(),
    keyCheck: (outcome) => keyChecks.inc({ outcome }),
  } satisfies Partial<Metrics>;
}

/** Transaction builds. */
function transactionMetrics({ counter }: Registered) {
  const simulations = counter(
    'spiral_simulations_total',
    'Simulated builds by method; none = no node could simulate.',
    ['chain_id', 'way'],
  );
  const builds = counter('spiral_transaction_builds_total', 'Transaction builds, by verb and error code.', [
    'verb',
    'outcome',
  ]);
  const quotes = counter(
    'spiral_swap_quotes_total',
    'Requests to swap venues by outcome (quoted, no_route, or the reason of a refusal), and quotes that were chosen or failed in simulation.',
    ['chain_id', 'venue', 'outcome'],
  );
  return {
    simulation: (chainId, way) => simulations.inc({ chain_id: String(chainId), way }),
    build: (verb, outcome) => builds.inc({ verb, outcome }),
    swapQuote: ({ chainId, venue, outcome }) => quotes.inc({ chain_id: String(chainId), venue, outcome }),
  } satisfies Partial<Metrics>;
}

/** Open subscriptions. */
function subscriptionMetrics({ registers }: Registered) {
  const open = new Gauge({
    name: 'spiral_subscriptions_open',
    help: 'Open subscriptions.',
    labelNames: ['field'] as const,
    registers,
  });
  return {
    subscription: ({ field, change }) => {
      if (change === 'opened') open.inc({ field });
      else open.dec({ field });
    },
  } satisfies Partial<Metrics>;
}

/** The limit that an error refuses by; `null` = it is not the refusal of a limit. */
function limiterOf(error: unknown): string | null {
  if (error instanceof RateLimitedError)
    return `${error.details?.scope ?? 'client'} ${error.details?.policy ?? ''}`.trim();
  if (error instanceof QueryTooComplexError) return 'query';
  return error instanceof PayloadTooLargeError ? 'body' : null;
}
