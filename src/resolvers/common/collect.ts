import { createLoaders } from '../../loaders/index.ts';
import type { AppContext } from './context.ts';
import type { Services } from './services.ts';
import { type Collected, collectValidity } from './validity.ts';

/** Services that never change while the process runs. */
const FIXED: ReadonlySet<string> = new Set(['catalog', 'budgets']);
/** Recorded histories grow beside the versions of the facts: a new sample may be this late in an answer. */
const HISTORY_MS = 10_000;
/** Who looks at the clock without saying when the answer changes gets one that holds for a second. */
const SECOND_MS = 1_000;

/** A context that collects how long its answer holds. */
export type CollectingContext = AppContext & { readonly validity: Collected };

/**
 * Make a context of the same request that collects how long its answer holds. Composed chains, facts and the TVL tie the
 * answer to their version; the clock bounds it; any other service makes it good for one time only, unless it is listed here
 * as safe.
 */
export function collecting(context: AppContext): CollectingContext {
  const { nowMs } = context;
  const validity = collectValidity(nowMs);
  const services = collectingServices(context.services, validity);
  return {
    caller: context.caller,
    correlationId: context.correlationId,
    maxPageSize: context.maxPageSize,
    get nowMs() {
      validity.until(nowMs + SECOND_MS);
      return nowMs;
    },
    services,
    loaders: createLoaders(services),
    validity,
  };
}

/** Make a context collect that others hold already. */
export function collectIn(context: AppContext): Collected {
  const { services, loaders, validity, ...made } = Object.getOwnPropertyDescriptors(collecting(context));
  Object.defineProperties(context, { services, loaders, validity, nowMs: made.nowMs });
  return validity.value as Collected;
}

const VALIDITY = Symbol('validity');
const MADE = Symbol('made');

interface Lazy {
  readonly [VALIDITY]: Collected;
  readonly [MADE]: Record<string, unknown>;
}

/** One prototype per set of services, which lasts for as long as the process: its members are made when they are used. */
const prototypes = new WeakMap<Services, object>();

function collectingServices(services: Services, validity: Collected): Services {
  let prototype = prototypes.get(services);
  if (prototype === undefined) {
    prototype = prototypeOf(services);
    prototypes.set(services, prototype);
  }
  return Object.assign(Object.create(prototype), { [VALIDITY]: validity, [MADE]: {} }) as Services;
}

function prototypeOf(services: Services): object {
  const prototype = Object.create(null) as object;
  for (const name of Object.keys(services) as (keyof Services)[]) {
    const make = makerOf(name);
    Object.defineProperty(prototype, name, {
      enumerable: true,
      get(this: Lazy) {
        this[MADE][name] ??= make(services, this[VALIDITY]);
        return this[MADE][name];
      },
    });
  }
  return prototype;
}

function makerOf(name: keyof Services): (services: Services, validity: Collected) => unknown {
  if (FIXED.has(name)) return (services) => services[name];
  return (Object.hasOwn(SAFE, name) ? SAFE[name] : undefined) ?? ((all, validity) => usedOnce(all[name], validity));
}

/** Hand a service on and notice when it is used; loaders may hold it without using it. */
function usedOnce(service: unknown, validity: Collected): unknown {
  if (typeof service === 'function') {
    return (...args: unknown[]) => {
      validity.once();
      return Reflect.apply(service, undefined, args);
    };
  }
  if (typeof service !== 'object' || service === null) return service;
  return new Proxy(service, {
    get(target, name) {
      validity.once();
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

const SAFE: { readonly [K in keyof Services]?: (services: Services, validity: Collected) => Services[K] } = {
  composed: (services, validity) => (chainId) => {
    const composed = services.composed(chainId);
    validity.tie(
      `composed:${chainId}`,
      sameAs(services, composed, () => services.composed(chainId)),
    );
    if (composed.recomposeAtMs !== undefined) validity.until(composed.recomposeAtMs);
    return composed;
  },
  facts: (services, validity) => (chainId) => {
    const facts = services.facts(chainId);
    validity.tie(
      `facts:${chainId}`,
      sameAs(services, facts, () => services.facts(chainId)),
    );
    return facts;
  },
  histories: ({ histories }, validity) => ({
    read(...asked) {
      validity.until(validity.nowMs + HISTORY_MS);
      return histories.read(...asked);
    },
  }),
  health: ({ health }) => health,
  tvl: (services, validity) => () => {
    const tvl = services.tvl();
    if (tvl)
      validity.tie(
        'tvl',
        sameAs(services, tvl, () => services.tvl()),
      );
    else validity.once();
    return tvl;
  },
};

interface Comparison {
  readonly services: Services;
  readonly same: () => boolean;
}

/** One comparison per version and process, however many answers are made from it. */
const comparisons = new WeakMap<object, Comparison>();

/** Compare with what was read, without keeping old versions in memory for as long as answers made from them are kept. */
function sameAs<T extends object>(services: Services, seen: T, read: () => T | null): () => boolean {
  const known = comparisons.get(seen);
  if (known?.services === services) return known.same;
  const reference = new WeakRef(seen);
  const same = () => read() === reference.deref();
  comparisons.set(seen, { services, same });
  return same;
}
