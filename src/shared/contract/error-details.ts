/** Measures of the text of a GraphQL document that a tier limits. */
export const QUERY_MEASURES = [
  'tokens',
  'lines',
  'brackets',
  'selections',
  'fragments',
  'validation',
  'depth',
  'fields',
  'aliases',
  'directives',
] as const;
/** Why an action is not available on a strategy or position. */
export const INELIGIBILITIES = [
  'matured',
  'near_maturity',
  'no_swap_route',
  'not_listed',
  'off_peg',
  'oracle_divergence',
  'equity_vault',
  'not_equity_vault',
  'market_closed',
  'venue_not_allowed',
  'operator_not_approved',
  'catalog_mismatch',
  'position_closed',
  'position_liquidated',
  'manual_mode',
  'nothing_to_do',
] as const;
/** Where liquidity can be too low: in one market, or in the lending protocol's balance of a token. */
export const LIQUIDITY_PLACES = ['market', 'protocol'] as const;
/** Why a repeated registration is not answered like the first one. */
export const CONFLICTS = ['other_request', 'deleted', 'secret_shown'] as const;
