/** Areas that are checked, in the order of the report. */
export const AREAS = ['settings', 'postgres', 'redis', 'clocks', 'nodes', 'catalog', 'providers', 'doctor'] as const;
export type Area = (typeof AREAS)[number];

/**
 * `failure`: the service, or a part of it, does not work with this. `warning`: it works, but needs attention.
 * `not_applicable`: nothing to check, such as a Redis that is not configured.
 */
export const STATUSES = ['ok', 'warning', 'failure', 'not_applicable'] as const;

interface LineBase {
  readonly area: Area;
  /** Subject of the check: a setting's name, `RPC_URL_1 #2`, a token or market of the catalog. */
  readonly subject: string;
  /** Name of the check, one stable word, e.g. `chain_id`. */
  readonly check: string;
  /** Result, one sentence. It may quote text from outside and is only shown through `safeText`. */
  readonly found: string;
}

/** One result. A line that is not `ok` has the next step. */
export type Line =
  | (LineBase & { readonly status: 'ok' | 'not_applicable'; readonly todo?: never })
  | (LineBase & { readonly status: 'warning' | 'failure'; readonly todo: string });

/** Makes the lines of one subject. */
export interface LineMaker {
  ok(check: string, found: string): Line;
  none(check: string, found: string): Line;
  warning(check: string, found: string, todo: string): Line;
  failure(check: string, found: string, todo: string): Line;
}

/** Create lines that share their area and subject. */
export function linesOf(area: Area, subject: string): LineMaker {
  return {
    ok: (check, found) => ({ area, subject, check, status: 'ok', found }),
    none: (check, found) => ({ area, subject, check, status: 'not_applicable', found }),
    warning: (check, found, todo) => ({ area, subject, check, status: 'warning', found, todo }),
    failure: (check, found, todo) => ({ area, subject, check, status: 'failure', found, todo }),
  };
}

/** One independent check. */
export interface Check {
  readonly area: Area;
  readonly subject: string;
  readonly limitMs: number;
  /** An error becomes a line and affects no other check. `signal` aborts at the time limit. */
  readonly run: (signal: AbortSignal) => Promise<readonly Line[]>;
}
