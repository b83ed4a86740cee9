import type { ErrorCode } from '../../shared/errors.ts';
import type { createDerive } from '../derive/row.ts';
import type { ToolList } from '../types.ts';

export interface RouteOptions {
  /** Supported chain ids; the first one is the default. */
  readonly chainIds: readonly number[];
  readonly equityChainIds: readonly number[];
  /** Adds to a row the body that its operation describes. */
  readonly derive: ReturnType<typeof createDerive>;
}

/** Convert an exact decimal string to a JSON number of the contract, which rounds it. */
export function toNumber(value: string | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/** Show how old a list is: past its budget, or not known at all, is stale. */
export function projectFreshness(freshness: { readonly status: string; readonly asOf: string | null } | null) {
  return { asOf: freshness?.asOf ?? null, stale: freshness === null || freshness.status === 'stale' };
}

/** Read when a value was measured, ms; one that was never measured is the oldest. */
export function timeOf({ asOf }: { readonly asOf: string | null }): number {
  return asOf === null ? 0 : Date.parse(asOf);
}

/** Whether a gap says that an empty field was measured as "there is none", or cannot apply. */
export function noneIn(
  gaps: readonly { readonly field: string; readonly reason: string }[],
): (path: string) => boolean {
  const none = new Set(
    gaps.filter(({ reason }) => reason === 'NONE' || reason === 'NOT_APPLICABLE').map(({ field }) => field),
  );
  return (path) => none.has(path);
}

/** Required fields with a conservative value, named in their description, while an input is not known. */
const ASSUMED: ReadonlySet<string> = new Set([
  'collateralApyPct',
  'totalCollateralApyPct',
  'netBorrowApyPct',
  'effectiveCollateralApyPct',
  'maxLtvPct',
  'safeLtvPct',
  'ltvPct.max',
  'fees.yieldFeePct',
  'fees.depositFeePct',
  'maxLeverage',
  'equityVault.yieldLegApyPct',
  'leverageLadder',
  'defaultLeverage',
  'noSwapRoute',
  'freshness.exitLiquidity',
]);

/** Listing rules without a value: their decision is formatted as one word. */
const RULE = 'visibility.checks.';

/** Pick the gaps of required fields; `null`, which is left out of an answer, when there are none. */
export function assumedIn(
  gaps: readonly { readonly field: string; readonly reason: string; readonly message: string }[],
): readonly { readonly field: string; readonly reason: string; readonly message: string }[] | null {
  const assumed = gaps.filter(({ field }) => ASSUMED.has(field) || field.startsWith(RULE));
  if (assumed.length === 0) return null;
  return assumed.map(({ field, reason, message }) => ({
    field: field.startsWith(RULE) ? 'listed' : field,
    reason,
    message,
  }));
}

/**
 * Take the data of an operation without errors: its root fields are nullable only so that an error beside one leaves the
 * others as they are.
 */
export function answered<T>(data: T | null): T {
  if (data === null) throw new Error('an operation answered neither data nor an error');
  return data;
}

/** The page of a history in a tool: the newest points. */
export const HISTORY_PAGE: ToolList = { fields: ['history'], limit: 30, newestFirst: true };

export const PUBLIC_ERRORS = ['bad_request', 'rate_limited', 'internal'] as const satisfies readonly ErrorCode[];
/** Error codes of a build whose calls were executed in simulation. */
export const SIMULATION_ERRORS = ['simulation_reverted', 'simulation_mismatch'] as const satisfies readonly ErrorCode[];
export const PARTNER_ERRORS = [
  'bad_request',
  'unauthorized',
  'rate_limited',
  'internal',
] as const satisfies readonly ErrorCode[];
/** Error codes of a preview or build. */
export const BUILD_ERRORS = [
  ...PARTNER_ERRORS,
  'not_ready',
  'stale_data',
  'no_route',
  'insufficient_liquidity',
  'upstream_unavailable',
] as const;
