import { type ChainFacts, FACT_GROUPS } from '../domain/facts.ts';
import { type KeepItem, retain } from './merge.ts';

/** How far ahead of our clock a measurement may be: block times and clocks of machines differ by seconds, not minutes. */
const MAX_AHEAD_MS = 10 * 60_000;

/**
 * Make persisted facts fit for use: items outside today's catalog go, and so do those measured in the future (their age
 * cannot be told, and they would refuse every true measurement as older). Everything else keeps its true age.
 */
export function admit(facts: ChainFacts, keep: KeepItem, nowMs: number): ChainFacts {
  const future = new Set(
    FACT_GROUPS.flatMap((group) =>
      [...facts.groups[group].items].flatMap(([key, fact]) =>
        fact.asOfMs > nowMs + MAX_AHEAD_MS ? [`${group}:${key}`] : [],
      ),
    ),
  );
  return retain(facts, (group, key) => keep(group, key) && !future.has(`${group}:${key}`));
}
