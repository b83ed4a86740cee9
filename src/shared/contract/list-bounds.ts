/** Maximum lengths of the lists that are answered without pages. Longer lists from outside are cut or refused at these numbers. */

/** The catalog, per chain unless stated otherwise; a larger one is refused at the start. */
export const MAX_CHAINS = 10;
export const MAX_TOKENS = 20_000;
export const MAX_MARKETS = 20_000;
export const MAX_VAULTS = 1_000;
export const MAX_STRATEGIES: number = MAX_MARKETS + MAX_VAULTS;
/** No market of Morpho Blue has an LLTV above 98 %, WAD: whole leverages up to 50, and the exact maximum. */
export const MAX_LLTV_WAD = 980_000_000_000_000_000n;
export const MAX_LADDER_RUNGS = 51;

/** Positions of a wallet on a chain; a longer array is implausible. */
export const MAX_WALLET_POSITIONS = 25_000;
/** An exit closes each loop, and then grants, leaves and revokes; a grant that is left over is revoked first. */
export const MAX_PLAN_CALLS: number = MAX_WALLET_POSITIONS + 4;
/** Loss and referral fee of each swap, a fee of the contract, and one of the vaults that liquidity is moved from. */
export const MAX_COSTS: number = 2 * (MAX_WALLET_POSITIONS + 1) + 2;
/** Entries of one kind among the issues of a plan, e.g. one per token or oracle of a trade. */
export const MAX_ISSUES_PER_KIND = 2;
/** Arguments of a call by name: 40 sources of liquidity at most, and the rest of the function. */
export const MAX_CALL_ARGUMENTS = 500;
/** Arguments of a contract error that are shown. */
export const MAX_ERROR_ARGUMENTS = 16;

/** Running campaigns of one kind on one chain; a longer list is implausible. */
export const MAX_CAMPAIGNS = 2_000;
/** Pools of the stablecoin yield index. */
export const MAX_INDEX_POOLS = 1_000;
/** Points of the history of a pool: 400 days, up to one point an hour. */
export const MAX_POOL_POINTS = 10_000;
/** Points of one series of a price chart. */
export const MAX_CHART_POINTS = 10_000;
/** Vaults and markets that liquidity could be moved from into one market. */
export const MAX_LIQUIDITY_SOURCES = 1_000;
/** Wallets that could not be read, as far as a report lists them. */
export const MAX_FAILED_WALLETS = 1_000;
