import { Decimal } from '../../../shared/decimal.ts';
import type { AlertCondition, AlertSubject, AlertSubjectKind, LeastValue, SubjectObservation } from './types.ts';

/** Conditions with a number, and where it is in an observation. */
const MEASURES: Readonly<Partial<Record<AlertCondition, (seen: SubjectObservation) => LeastValue>>> = {
  headroom_below: ({ headroomPct }) => headroomPct,
  apy_below: ({ apyPct }) => apyPct,
  liquidity_below: ({ liquidityUsd }) => liquidityUsd,
};

/** Find the value that a condition compares with its threshold; `undefined` for conditions without a number. */
export function measureOf(condition: AlertCondition): ((seen: SubjectObservation) => LeastValue) | undefined {
  return MEASURES[condition];
}

/** Unit of the threshold and of the value of a condition; `null` = it has no number. */
export const ALERT_UNITS = {
  headroom_below: 'pct',
  apy_below: 'pct',
  liquidity_below: 'usd',
  stale: null,
  paused: null,
  liquidated: 'count',
} as const satisfies Readonly<Record<AlertCondition, string | null>>;

/** The conditions that a kind of subject has. A strategy has no LTV and cannot be liquidated. */
export const CONDITIONS_OF: Readonly<Record<AlertSubjectKind, readonly AlertCondition[]>> = {
  wallet: ['headroom_below', 'apy_below', 'liquidity_below', 'stale', 'paused', 'liquidated'],
  position: ['headroom_below', 'apy_below', 'liquidity_below', 'stale', 'paused', 'liquidated'],
  vault: ['headroom_below', 'apy_below', 'liquidity_below', 'stale', 'paused', 'liquidated'],
  strategy: ['apy_below', 'liquidity_below', 'stale', 'paused'],
};

const POINTS = new Decimal('0.5');
const LIQUIDITY_FACTOR = new Decimal('1.05');

/** Distance of the value that ends a fired condition, unless the caller chooses one: 0.5 points, or 5 % of the liquidity. */
export function defaultRearmAt(condition: AlertCondition, threshold: Decimal): Decimal {
  return condition === 'liquidity_below' ? threshold.times(LIQUIDITY_FACTOR) : threshold.plus(POINTS);
}

/** A text that is the same for the same subject. */
export function subjectKey(subject: AlertSubject): string {
  const { chainId } = subject;
  switch (subject.kind) {
    case 'wallet':
      return `wallet:${chainId}:${subject.wallet}`;
    case 'position':
      return `position:${chainId}:${subject.wallet}:${subject.positionIndex}`;
    case 'vault':
      return `vault:${chainId}:${subject.wallet}:${subject.strategyId}`;
    case 'strategy':
      return `strategy:${chainId}:${subject.strategyId}`;
  }
}
