import type { Clock } from '../../src/shared/clock.ts';
import { fieldsOf } from './respond.ts';
import type { Provider, SimRequest } from './types.ts';

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 86_400_000;
const MONTH_MS = 30 * 86_400_000;

/** A window that begins with its first request and ends all at once. */
interface Window {
  readonly ms: number;
  readonly limit: number;
}

/** How a provider counts a request. */
interface Counted {
  /** Whose requests are counted together: a key, or the address. */
  readonly caller: string;
  readonly cost: number;
  readonly windows: readonly Window[];
}

/** Headers of the answer, and whether the request is refused. */
export interface Verdict {
  readonly isRefused: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Limiter {
  take(provider: Provider, request: SimRequest): Verdict;
}

interface Use {
  readonly window: Window;
  readonly remaining: number;
  readonly resetMs: number;
}

type State = (uses: readonly Use[], counted: Counted, nowMs: number) => Record<string, string>;

interface Rule {
  readonly count: (request: SimRequest) => Counted;
  readonly headers: State;
}

/** Computing units of the aggregators behind the converter. */
const AGGREGATOR_UNITS: Readonly<Record<string, number>> = { kyberswap: 1, okx: 1, paraswap: 15 };
const CONVERT_UNITS = 5;

/** The limits of the real providers that publish them, in their units and with their headers. */
const RULES: Partial<Record<Provider, Rule>> = {
  kyberswap: {
    count: ({ headers }) => {
      const id = headers['x-client-id'];
      return { caller: id ?? '', cost: 1, windows: [{ ms: 10_000, limit: id === undefined ? 10 : 30 }] };
    },
    headers: ([use]) => ({
      'x-ratelimit-limit': `${use?.window.limit}, 10`,
      'x-ratelimit-remaining': String(use?.remaining),
      'x-ratelimit-reset-after': String(Math.ceil((use?.resetMs ?? 0) / 1_000)),
    }),
  },
  pendle: {
    count: (request) => ({
      caller: request.headers.authorization ?? '',
      cost: computingUnits(request),
      windows: [
        { ms: MINUTE_MS, limit: 100 },
        { ms: WEEK_MS, limit: 200_000 },
      ],
    }),
    headers: ([minute, week], { cost }, nowMs) => ({
      'x-computing-unit': String(cost),
      ...windowHeaders('x-ratelimit', minute, nowMs),
      ...windowHeaders('x-ratelimit-weekly', week, nowMs),
    }),
  },
  coingecko: {
    count: ({ headers }) => {
      const key = headers['x-cg-demo-api-key'];
      const windows = [
        { ms: MINUTE_MS, limit: key === undefined ? 10 : 100 },
        { ms: MONTH_MS, limit: 10_000 },
      ];
      return { caller: key ?? '', cost: 1, windows };
    },
    headers: () => ({}),
  },
  geckoterminal: {
    count: () => ({ caller: '', cost: 1, windows: [{ ms: MINUTE_MS, limit: 30 }] }),
    headers: () => ({}),
  },
};

function windowHeaders(prefix: string, use: Use | undefined, nowMs: number): Record<string, string> {
  if (use === undefined) return {};
  return {
    [`${prefix}-limit`]: String(use.window.limit),
    [`${prefix}-remaining`]: String(use.remaining),
    [`${prefix}-reset`]: String(Math.ceil((nowMs + use.resetMs) / 1_000)),
  };
}

function computingUnits({ method, body }: SimRequest): number {
  if (method !== 'POST') return 1;
  const { aggregators, enableAggregator } = fieldsOf(body);
  if (enableAggregator !== true) return CONVERT_UNITS;
  const named = Array.isArray(aggregators) ? aggregators.map(String) : Object.keys(AGGREGATOR_UNITS);
  return named.reduce((sum, name) => sum + (AGGREGATOR_UNITS[name] ?? 0), CONVERT_UNITS);
}

/** Count the requests of every provider as it does. */
export function createLimiter(clock: Clock): Limiter {
  const counts = new Map<string, { endsAtMs: number; used: number }>();
  return {
    take(provider, request) {
      const rule = RULES[provider];
      if (!rule) return { isRefused: false, headers: {} };
      const nowMs = clock.now();
      const counted = rule.count(request);
      const states = counted.windows.map((window) => {
        const key = `${provider} ${counted.caller} ${window.ms}`;
        const known = counts.get(key);
        const state = known && known.endsAtMs > nowMs ? known : { endsAtMs: nowMs + window.ms, used: 0 };
        counts.set(key, state);
        return { window, state };
      });
      const isRefused = states.some(({ window, state }) => state.used + counted.cost > window.limit);
      if (!isRefused) for (const { state } of states) state.used += counted.cost;
      const uses = states.map(({ window, state }) => ({
        window,
        remaining: Math.max(0, window.limit - state.used),
        resetMs: state.endsAtMs - nowMs,
      }));
      return { isRefused, headers: rule.headers(uses, counted, nowMs) };
    },
  };
}

/** No provider counts its requests, as for tests whose clock stands still. */
export const noLimiter: Limiter = { take: () => ({ isRefused: false, headers: {} }) };
