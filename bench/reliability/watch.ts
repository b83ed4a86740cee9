import type { ServiceProcess } from '../../test/support/process/spawn-service.ts';

export interface Age {
  readonly asOfMs: number;
  readonly ageSec: number;
}

/** Looks at what processes say of their facts, all the time, and whether it is true. */
export interface Watch {
  /** What a process said last of a group of chain 1. */
  last(service: ServiceProcess, group: string): Age | undefined;
  /** Since the last time that it was asked. */
  take(): { readonly oldestSec: number; readonly looks: number; readonly untrue: readonly string[] };
  stop(): void;
}

/** With when it was answered. */
interface ObservedAge extends Age {
  readonly observedMs: number;
}

const LOOK_MS = 250;
/** Ages are whole seconds, and block times are as well. */
const TOLERANCE_SEC = 2;
const GROUPS = ['lendingState', 'price'] as const;
const QUERY = JSON.stringify({
  query: '{ freshness(chainIds: [1]) { groups { group freshness { asOf ageSec } } } }',
});

/**
 * Watch processes. An age is true when it is the time since `asOf`, and `asOf` never goes back: neither does an outage make
 * data younger nor does an older answer replace a newer one.
 */
export function startWatch(services: () => readonly ServiceProcess[]): Watch {
  const known = new Map<ServiceProcess, Map<string, ObservedAge>>();
  let oldestSec = 0;
  let looks = 0;
  let untrue: string[] = [];
  const look = async (service: ServiceProcess): Promise<void> => {
    const sentMs = Date.now();
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: QUERY,
    });
    const nowMs = Date.now();
    const body = (await response.json()) as {
      data?: {
        freshness: { groups: { group: string; freshness: { asOf: string | null; ageSec: number | null } }[] }[];
      };
    };
    const ages = known.get(service) ?? new Map<string, ObservedAge>();
    known.set(service, ages);
    for (const {
      group,
      freshness: { asOf, ageSec },
    } of body.data?.freshness[0]?.groups ?? []) {
      if (!GROUPS.some((name) => name === group) || asOf === null || ageSec === null) continue;
      const age = { asOfMs: Date.parse(asOf), ageSec };
      const before = ages.get(group);
      looks += 1;
      // True at some time between the question and its answer, which on a busy machine are seconds apart.
      const isYounger = ageSec < (sentMs - age.asOfMs) / 1_000 - TOLERANCE_SEC;
      const isOlder = ageSec > (nowMs - age.asOfMs) / 1_000 + TOLERANCE_SEC;
      if (isYounger || isOlder) untrue.push(`${group} told ${ageSec} s`);
      // An answer that was on its way when this one was asked for says nothing about it.
      const earlier = before && before.observedMs <= sentMs ? before : undefined;
      if (earlier && age.asOfMs < earlier.asOfMs) untrue.push(`${group} went back`);
      if (!before || age.asOfMs >= before.asOfMs) ages.set(group, { ...age, observedMs: nowMs });
      if (group === 'lendingState') oldestSec = Math.max(oldestSec, ageSec);
    }
  };
  const timer = setInterval(() => {
    for (const service of services()) look(service).catch(() => {});
  }, LOOK_MS);
  return {
    last: (service, group) => known.get(service)?.get(group),
    take() {
      const taken = { oldestSec, looks, untrue };
      oldestSec = 0;
      looks = 0;
      untrue = [];
      return taken;
    },
    stop: () => clearInterval(timer),
  };
}
