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
