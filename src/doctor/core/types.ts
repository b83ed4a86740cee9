/** Parts of the outside, in the order in which they are shown. */
export const AREAS = ['settings', 'postgres', 'redis', 'clocks', 'nodes', 'catalog', 'providers', 'doctor'] as const;
export type Area = (typeof AREAS)[number];

/**
 * `failure`: the service, or a part of it, does not work with this. `warning`: it works, and somebody should look.
 * `not_applicable`: there is nothing to check, such as a Redis that is not configured.
 */
export const STATUSES = ['ok', 'warning', 'failure', 'not_applicable'] as const;
export type Status = (typeof STATUSES)[number];

interface LineBase {
  readonly area: Area;
  /** What was looked at: a setting's name, `RPC_URL_1 #2`, a token or market of the catalog. */
  readonly subject: string;
  /** What was checked, one word that stays the same, e.g. `chain_id`. */
  readonly check: string;
  /** What was found, one sentence. May quote what the outside said: shown only through `safeText`. */
  readonly found: string;
}

/** One result. What is not in order says what to do. */
export type Line =
  | (LineBase & { readonly status: 'ok' | 'not_applicable'; readonly todo?: never })
  | (LineBase & { readonly status: 'warning' | 'failure'; readonly todo: string });

/** Make the lines of one subject. */
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

/** One independent piece of work. */
export interface Check {
  readonly area: Area;
  readonly subject: string;
  readonly limitMs: number;
  /** May throw: that becomes a line, and ends nothing else. `signal` aborts at the time limit. */
  readonly run: (signal: AbortSignal) => Promise<readonly Line[]>;
}
