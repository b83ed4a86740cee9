import type { Gap } from '../../domain/freshness/types.ts';
import type { Strategy } from '../../domain/strategy/types.ts';
import { STRATEGY_NAMES } from '../../shared/contract/strategy-names.ts';
import { renamedGaps } from '../common/gap-names.ts';

/** Give the reasons of a strategy's empty fields, by their names in the schema. */
export const strategyGaps = ({ kind, gaps }: Strategy): readonly Gap[] =>
  renamedGaps(gaps, STRATEGY_NAMES[kind]).map((gap) =>
    gap.field.startsWith(RULES) ? { ...gap, field: `${RULES}${gap.field.slice(RULES.length).toUpperCase()}` } : gap,
  );

/** Listing rules have the names of their enum. */
const RULES = 'visibility.checks.';
