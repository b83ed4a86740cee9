import { type Awaitable, andThen } from '../shared/awaitable.ts';
import type { Admission } from './admission.ts';
import { ADMISSION_POINTS, COST_PER_POINT } from './points.ts';
import type { RequestContext } from './request-context.ts';

/** Parts of an operation that are charged, in units of query cost. */
export interface Work {
  /** Scanning, parsing and validating the document, and coercing the variables. */
  readonly reading: number;
  readonly execution: number;
}

/**
 * Payments of one operation. Reading its document and executing it share the account: each is paid before it begins, and
 * unused points are refunded.
 */
export interface Account {
  /** Points that the operation has paid so far. */
  readonly points: number;
  /**
   * Pay the difference up to this cost.
   * @throws RateLimitedError
   */
  pay(expected: Work): Awaitable<void>;
  /** Refund payments beyond this cost. The answer states the budget after `requestContext.refunds`. */
  settle(used: Work): void;
}

/** Points of an operation's cost. Reading a small document is covered by the point that every request costs. */
function pointsFor({ reading, execution }: Work): number {
  return Math.max(ADMISSION_POINTS, Math.floor(reading / COST_PER_POINT) + Math.ceil(execution / COST_PER_POINT));
}

/** Open the account of an operation whose admission is paid. */
export function openAccount(admission: Pick<Admission, 'charge' | 'refund'>, requestContext: RequestContext): Account {
  let points = ADMISSION_POINTS;
  /** Points charged beside the admission, at most a whole budget. */
  let counted = 0;
  return {
    get points() {
      return points;
    },
    pay(expected) {
      const due = pointsFor(expected);
      if (due <= points) return undefined;
      return andThen(admission.charge(requestContext, due - points), (charged) => {
        counted += charged;
        points = due;
      });
    },
    settle(used) {
      const due = pointsFor(used);
      if (due >= points) return;
      const back = Math.max(0, counted - (due - ADMISSION_POINTS));
      points = due;
      counted -= back;
      const refund = back > 0 ? admission.refund(requestContext, back) : undefined;
      if (refund instanceof Promise) requestContext.refunds.push(refund);
    },
  };
}
