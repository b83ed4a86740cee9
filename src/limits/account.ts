import type { Admission } from './admission.ts';
import { ADMISSION_POINTS, COST_PER_POINT } from './limits.ts';
import type { RequestContext } from './request-context.ts';

/** What of an operation is paid, in units of the cost of a query. */
export interface Work {
  /** Scanning, parsing and validating the document, and coercing the variables. */
  readonly reading: number;
  readonly execution: number;
}

/**
 * What one operation has paid. Reading its document and executing it share the account: each is paid before it begins, and
 * what was not used is given back.
 */
export interface Account {
  /** Points that the operation has paid by now. */
  readonly points: number;
  /** Pay until the operation has paid for this much. @throws RateLimitedError */
  pay(expected: Work): Promise<void>;
  /** Give back what was paid for more than this. The answer tells the budget once `requestContext.refunds` are over. */
  settle(used: Work): void;
}

/** Points of what an operation costs; small documents are read for the point that every request costs. */
export function pointsFor({ reading, execution }: Work): number {
  return Math.max(ADMISSION_POINTS, Math.floor(reading / COST_PER_POINT) + Math.ceil(execution / COST_PER_POINT));
}

/** Open the account of an operation that has paid what every request pays. */
export function openAccount(admission: Pick<Admission, 'charge' | 'refund'>, requestContext: RequestContext): Account {
  let points = ADMISSION_POINTS;
  /** What of that was counted beside the point on admission: never more than a whole budget. */
  let counted = 0;
  return {
    get points() {
      return points;
    },
    async pay(expected) {
      const due = pointsFor(expected);
      if (due <= points) return;
      counted += await admission.charge(requestContext, due - points);
      points = due;
    },
    settle(used) {
      const due = pointsFor(used);
      if (due >= points) return;
      const back = Math.max(0, counted - (due - ADMISSION_POINTS));
      points = due;
      counted -= back;
      if (back > 0) requestContext.refunds.push(admission.refund(requestContext, back));
    },
  };
}
