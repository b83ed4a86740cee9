import type { ServiceProcess } from '../../test/support/process/spawn-service.ts';

export interface Age {
  readonly asOfMs: number;
  readonly ageSec: number;
}

/** Continuous check of the ages that processes report of their facts. */
export interface Watch {
  /** Last report of a process on a group of chain 1. */
  last(service: ServiceProcess, group: WatchedGroup): Age | undefined;
  /** Since the last call. */
  take(): { readonly oldestSec: number; readonly looks: number; readonly untrue: readonly string[] };
  stop(): void;
}

export type WatchedGroup = (typeof GROUPS)[number];

/** With the time of the answer. */
interface ObservedAge extends Age {
  readonly observedMs: number;
}

const POLL_MS = 250;
/** Ages and block times are whole seconds. */
const TOLERANCE_SEC = 2;
/** Market state and prices, by their names in the schema. */
const GROUPS = ['LENDING_STATE', 'PRICE'] as const;
const QUERY = JSON.stringify({
  query: '{ freshness(chainIds: [1]) { groups { group freshness { asOf ageSec } } } }',
});

/**
 * Watch processes. An age is correct when it is the time since `asOf`, and `asOf` never decreases: an outage does not make
 * data younger, and an older answer does not replace a newer one.
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
      // Correct at a time between request and answer, which are seconds apart on a busy machine.
      const isYounger = ageSec < (sentMs - age.asOfMs) / 1_000 - TOLERANCE_SEC;
      const isOlder = ageSec > (nowMs - age.asOfMs) / 1_000 + TOLERANCE_SEC;
      if (isYounger || isOlder) untrue.push(`${group} told ${ageSec} s`);
      // An answer that was in flight at the time of this request is not compared.
      const earlier = before && before.observedMs <= sentMs ? before : undefined;
      if (earlier && age.asOfMs < earlier.asOfMs) untrue.push(`${group} went back`);
      if (!before || age.asOfMs >= before.asOfMs) ages.set(group, { ...age, observedMs: nowMs });
      if (group === 'LENDING_STATE') oldestSec = Math.max(oldestSec, ageSec);
    }
  };
  const timer = setInterval(() => {
    for (const service of services()) look(service).catch(() => {});
  }, POLL_MS);
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
