import type { OracleBasis, OraclePrice } from '../facts.ts';
import { gap } from '../freshness/gaps.ts';
import type { Gap } from '../freshness/types.ts';

/** The contracts that an oracle of the kind MorphoChainlinkOracleV2 names. */
export interface OracleParts {
  /** Number of vaults whose conversion rate is in the price. */
  readonly vaults: number;
  /** How each feed describes itself; `undefined` = it does not answer. */
  readonly feeds: readonly (string | undefined)[];
}

/** As feeds of redemption rates describe themselves, e.g. `WSTETH / STETH Exchange Rate`. */
const RATE = /\bexchange ?rate\b/i;
/** As feeds of traded prices describe themselves, e.g. `USDC / USD`. */
const PAIR = /^[\w.$+-]{1,40} ?\/ ?[\w.$+-]{1,40}$/;

/** Tell what a price is computed from, as the contracts behind it state it. */
export function basisOf({ vaults, feeds }: OracleParts): OracleBasis {
  const kinds = new Set(feeds.map(kindOf));
  if (vaults > 0) kinds.add('nav');
  if (kinds.has('unstated')) return 'unstated';
  const [only = 'fixed', ...others] = kinds;
  return others.length === 0 ? only : 'mixed';
}

function kindOf(description: string | undefined): Extract<OracleBasis, 'nav' | 'market' | 'unstated'> {
  if (description === undefined) return 'unstated';
  if (RATE.test(description)) return 'nav';
  return PAIR.test(description.trim()) ? 'market' : 'unstated';
}

export type OracleType = 'nav' | 'market';

/** The price that an oracle follows; `undefined` = not known, see `oracleTypeGap`. */
export function oracleTypeOf({ basis }: Pick<OraclePrice, 'basis'>): OracleType | undefined {
  return basis === 'nav' || basis === 'market' ? basis : undefined;
}

const WHY_UNKNOWN = {
  mixed: 'Its price is computed from a redemption rate and from a traded price.',
  fixed: 'Its contract names neither a vault nor a feed: the price is fixed.',
  unstated: 'A feed behind it does not state whether it is a traded price or a redemption rate.',
} as const;
const UNNAMED = 'Its contract does not name the vaults and feeds behind it.';

/** Why the type of an oracle is not known; `undefined` = it is. */
export function oracleTypeGap({ basis }: Pick<OraclePrice, 'basis'>): Gap | undefined {
  if (basis === 'nav' || basis === 'market') return undefined;
  return gap('oracle.type', 'NOT_MEASURED', basis === undefined ? UNNAMED : WHY_UNKNOWN[basis]);
}
