/** Enumerations and bounds of the contract, shared by the catalog's data, the domain and the answers. */
export const COLLATERAL_CATEGORIES = ['stable', 'ETH', 'BTC', 'stable-PT', 'stocks', 'Other'] as const;
export const APY_SOURCES = ['yieldmarket', 'aggregator', 'incentivemarket', 'stableindex', 'onchain', 'none'] as const;
export const SWAP_SOURCES = ['AggregatorOne', 'AggregatorTwo', 'YieldMarket'] as const;

/** The chart provider's public plan reaches one year back and refuses longer ranges. */
export const MAX_CHART_DAYS = 365;
export const COIN_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const CURRENCY_PATTERN = /^[A-Za-z]{3,5}$/;
/** Most decimals of a token that the catalog takes. */
export const MAX_DECIMALS = 36;
/** Interface 4.2: candle sizes by timeframe, and the maximum number of candles in an answer. */
export const CANDLE_AGGREGATES = { minute: [1, 5, 15], hour: [1, 4, 12], day: [1] } as const;
export const MAX_CANDLES = 1000;
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
/** Contract function that the main call of a bundle runs. */
export const TRANSACTION_PATHS = [
  'leverage',
  'swapAndLeverage',
  'reallocateAndLeverage',
  'reallocateSwapAndLeverage',
  'deleverage',
  'increaseLeverage',
  'supplyCollateral',
  'swapAndSupplyCollateral',
  'repay',
  'swapAndRepay',
  'withdrawCollateral',
  'borrow',
] as const;
export const MANAGE_ACTIONS = [
  'close',
  'increase_leverage',
  'add_collateral',
  'remove_collateral',
  'repay',
  'borrow',
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
export const WARNING_CODES = [
  'suspect_price',
  'suspect_apy',
  'suspect_incentive',
  'suspect_exit',
  'off_peg',
  'oracle_divergence',
  'oracle_out_of_range',
  'oracle_jump',
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];
/** The values that warnings are about, as paths in a strategy of /v1. */
export const WARNED_FIELDS = [
  'collateral.priceUsd',
  'loan.priceUsd',
  'collateralApyPct',
  'borrowIncentive',
  'exitLiquidity',
  'oracle',
] as const;
export type WarnedField = (typeof WARNED_FIELDS)[number];
/** Whether a wallet holds the amount that an option takes. */
export const AFFORDABILITIES = ['affordable', 'not_affordable', 'nothing_to_pay', 'unknown'] as const;
/** Actions that lower the LTV of a position. */
export const DELEVERAGE_ACTIONS = ['repay', 'add_collateral', 'close'] as const;
/** States of a position that a holder has to know before choosing a way to a lower LTV. */
export const DELEVERAGE_REASONS = ['under_water'] as const;
export const COST_KINDS = [
  'ENTRY_SWAP',
  'LEVERAGE_SWAP',
  'EXIT_SWAP',
  'STOCK_SWAP',
  'REFERRAL_FEE',
  'REALLOCATION_FEE',
  'DEPOSIT_FEE',
  'YIELD_FEE',
] as const;
/** Issues of a plan that a signer has to know or to resolve. */
export const ISSUE_KINDS = [
  'INSUFFICIENT_BALANCE',
  'APPROVAL_NEEDED',
  'PRICE_UNVERIFIED',
  'NOT_SIMULATED',
  'SLIPPAGE_TIGHTENED',
  'SLIPPAGE_CAPPED',
  'REFERENCE_OLD',
  'REFERENCE_UNDATED',
  'LOOPS_STAY_OPEN',
  'HIGH_COST',
  'UNDER_WATER',
] as const;
/** The rules that decide whether a strategy is listed. */
export const VISIBILITY_CHECKS = [
  'has_yield',
  'swap_route',
  'maturity',
  'liquidity',
  'unsupported',
  'paused',
  'venue_not_allowed',
  'catalog_mismatch',
  'operator_not_approved',
] as const;
/** Kinds of disagreement between the catalog and a chain. */
export const DISAGREEMENT_KINDS = [
  'decimals',
  'symbol',
  'not_created',
  'parameters',
  'oracle',
  'correlated',
  'no_code',
  'contract',
] as const;
/** Consequences of a disagreement. */
export const DISAGREEMENT_EFFECTS = ['no_builds', 'no_new_risk', 'warning'] as const;

/** The change that a row of a stress table assumes. */
const STRESS_SCENARIOS = [
  'TODAY',
  'COLLATERAL_PRICE',
  'LOAN_PRICE',
  'BORROW_RATE',
  'FULL_UTILIZATION',
  'MARKET_BELOW_ORACLE',
  'EXIT_AT_MEASURED_SLIPPAGE',
  'NO_EXIT',
] as const;
export type StressScenario = (typeof STRESS_SCENARIOS)[number];
/** The ways in which a position ends in a scenario, the worst first. */
export const STRESS_ENDS = ['LIQUIDATION', 'NO_EXIT', 'CARRY', 'NOTHING'] as const;
export type StressEnd = (typeof STRESS_ENDS)[number];
/** Borrow rates that the drift of an LTV is projected with. */
export const RATE_PATHS = ['TODAYS_RATE', 'CONSTANT_UTILIZATION', 'FULL_UTILIZATION'] as const;
export type RatePath = (typeof RATE_PATHS)[number];
/** Whether and when a drifting LTV reaches a limit. */
const REACH_STATES = ['ALREADY', 'IN_DAYS', 'NEVER'] as const;
export type ReachState = (typeof REACH_STATES)[number];

/** Why a strategy is not among the best ones of a request. */
const BEST_EXCLUSIONS = [
  'NOT_LISTED',
  'EQUITY_VAULT',
  'PAY_TOKEN',
  'MATURITY',
  'PRICE_UNKNOWN',
  'EXIT_UNKNOWN',
  'NO_ROUTE',
  'EXIT_TOO_SMALL',
  'DRAWDOWN',
  'LIQUIDITY',
] as const;
export type BestExclusion = (typeof BEST_EXCLUSIONS)[number];

/** One server, the primary of sentinels, or a cluster. */
export const REDIS_MODES = ['single', 'sentinel', 'cluster'] as const;
export type RedisMode = (typeof REDIS_MODES)[number];
/** The reasons for which Redis does not serve a process. */
export const REDIS_FAULTS = [
  'unreachable',
  'timeout',
  'tls',
  'certificate_expired',
  'certificate_host',
  'certificate_authority',
  'wrong_password',
  'no_permission',
  'unknown_primary',
  'not_primary',
  'primary_down',
  'too_few_replicas',
  'memory_full',
  'cannot_save',
  'loading',
  'protected_mode',
  'too_many_clients',
  'wrong_mode',
  'cluster_down',
  'busy',
  'refused',
] as const;
export type RedisFaultReason = (typeof REDIS_FAULTS)[number];

export const ALERT_SUBJECTS = ['wallet', 'position', 'vault', 'strategy'] as const;
export const ALERT_CONDITIONS = [
  'headroom_below',
  'apy_below',
  'liquidity_below',
  'stale',
  'paused',
  'liquidated',
] as const;
/** `unknown`: not evaluated yet. `armed`: the condition does not hold. `firing`: it holds, or has not re-armed yet. */
export const ALERT_STATUSES = ['unknown', 'armed', 'firing', 'not_applicable'] as const;
/** Dependencies of an alert that may be stale: groups of facts, the reading of the wallet, and a strategy's place in the catalog. */
export const ALERT_STALE_GROUPS = [
  'lendingState',
  'oracle',
  'collateralApy',
  'price',
  'incentives',
  'deployment',
  'wallet',
  'catalog',
] as const;
export const ALERT_EVENT_TYPES = ['fired', 'cleared', 'ended', 'ping'] as const;
export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const;
/** Why a repeated registration is not answered like the first one. */
export const CONFLICTS = ['other_request', 'deleted', 'secret_shown'] as const;
/** Why a receiver did not take a webhook. */
export const WEBHOOK_FAILURES = [
  'address_not_public',
  'unknown_host',
  'unreachable',
  'tls',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_host',
  'certificate_self_signed',
  'certificate_authority',
  'certificate_revoked',
  'certificate_weak',
  'certificate_refused',
  'timeout',
  'redirect',
  'status',
  'malformed',
  'invalid_url',
] as const;

/** States of a job of alerts, the worst first for those that ran. */
export const ALERT_JOB_STATUSES = ['never', 'failing', 'unknown', 'stopped', 'late', 'running'] as const;
/** States of the reading of position logs, the worst first for those that are read. */
export const INDEXER_STATUSES = [
  'never',
  'failing',
  'unknown',
  'stopped',
  'behind',
  'backfilling',
  'following',
] as const;

/** Why a campaign is in no APY. */
export const RESTRICTIONS = ['whitelist', 'no_market_price', 'test'] as const;
export type Restriction = (typeof RESTRICTIONS)[number];
