import type { Admission } from './admission.ts';
import { COST_PER_POINT, DOOR_POINTS } from './limits.ts';
import type { Visit } from './visit.ts';

/**
 * What one operation has paid. Reading its document and executing it share the account: each is paid before it begins, and
 * what was not used is given back.
 */
export interface Account {
  /** Pay until the operation has paid for this much. @throws RateLimitedError */
  pay(used: { readonly reading: number; readonly execution: number }): Promise<number>;
  /** Give back what was paid for more reading than this. */
  settle(reading: number): Promise<void>;
}

/** Points of what an operation costs; small documents are read for the point that every request costs. */
export function pointsFor(reading: number, execution: number): number {
  return Math.max(DOOR_POINTS, Math.floor(reading / COST_PER_POINT) + Math.ceil(execution / COST_PER_POINT));
}

/** Open the account of an operation that has paid what every request pays. */
export function openAccount(admission: Pick<Admission, 'charge' | 'refund'>, visit: Visit): Account {
  let paid = DOOR_POINTS;
  return {
    async pay({ reading, execution }) {
      const points = pointsFor(reading, execution);
      if (points > paid) await admission.charge(visit, points - paid);
      paid = Math.max(paid, points);
      return paid;
    },
    async settle(reading) {
      const points = pointsFor(reading, 0);
      if (points < paid) await admission.refund(visit, paid - points);
      paid = Math.min(paid, points);
    },
  };
}
