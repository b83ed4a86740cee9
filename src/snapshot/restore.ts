import { type ChainFacts, FACT_GROUPS, type FactGroup, type GroupState } from '../domain/facts.ts';
import { withoutFuture } from '../domain/freshness/future.ts';
import { type KeepItem, retain, withGroups } from './merge.ts';

/**
 * Prepare persisted facts for use: items outside of the current catalog and values from the future are removed, the others
 * keep their age. Returns the same object when there is nothing to remove.
 */
export function admit(facts: ChainFacts, keep: KeepItem, nowMs: number): ChainFacts {
  const cleaned: Partial<Record<FactGroup, GroupState<unknown>>> = {};
  for (const group of FACT_GROUPS) {
    const state = facts.groups[group];
    const clean = withoutFuture<FactGroup>(group, state, nowMs);
    if (clean !== state) cleaned[group] = clean;
  }
  const isClean = Object.keys(cleaned).length === 0 && facts.publishedMs <= nowMs;
  const known = isClean ? facts : withGroups(facts, cleaned, facts.version, Math.min(facts.publishedMs, nowMs));
  return retain(known, keep);
}
