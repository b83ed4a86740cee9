import type { ErrorCode } from '../../shared/errors.ts';

export interface RouteOptions {
  /** Supported chain ids; the first is the default. */
  readonly chainIds: readonly number[];
  /** Those of them that have equity vaults. */
  readonly equityChainIds: readonly number[];
}

/** Numbers that the contract shows as JSON numbers come as exact decimal strings and are shown rounded by JSON alone. */
export function toNumber(value: string | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
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

/** Required fields that carry the conservative value that their description names while an input is not known. */
const ASSUMED: ReadonlySet<string> = new Set([
  'collateralApyPct',
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

/** Listing rules that cannot tell: what they decide is shown as one word. */
const RULE = 'visibility.';

/** Pick the gaps of required fields; `null`, and so left out of an answer, when there is none. */
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

export const PUBLIC_ERRORS = ['bad_request', 'rate_limited', 'internal'] as const satisfies readonly ErrorCode[];
/** What a build is refused for once its calls were executed in simulation. */
export const SIMULATION_ERRORS = ['simulation_reverted', 'simulation_mismatch'] as const satisfies readonly ErrorCode[];
export const PARTNER_ERRORS = [
  'bad_request',
  'unauthorized',
  'rate_limited',
  'internal',
] as const satisfies readonly ErrorCode[];
