import { z } from 'zod';
import {
  CAMPAIGN_SIDES,
  EXIT_SIZES_USD,
  FAILURE_REASONS,
  type Fact,
  type FactGroup,
  type FactGroups,
  type Failure,
  RESTRICTIONS,
} from '../domain/facts.ts';
import { Decimal } from '../shared/decimal.ts';
import { isRecord } from '../shared/input/record.ts';

/**
 * Schemas of persisted facts, checked before any of them is used. The checksum shows that the file is complete, but not that
 * its fields have today's meaning. Additions of a later version are tolerated, because both may run side by side: fields that
 * are not known stay, other names in a list or map of names are left out, and another reason of a failure is a general one.
 */

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const marketId = z.string().regex(/^0x[0-9a-f]{64}$/);
const decimal = z.custom<Decimal>((value) => Decimal.isBigNumber(value) && value.isFinite());
/** Milliseconds since 1970. */
const time = z.number().min(0);
const amount = z.bigint().min(0n);
const rates = z.array(z.object({ atMs: time, ratePct: decimal }));

const campaign = z.object({
  id: z.string(),
  symbol: z.string(),
  aprPct: decimal,
  startsAtMs: time,
  endsAtMs: time,
  url: z.string().optional(),
});
const restricted = campaign.extend({
  side: z.enum(CAMPAIGN_SIDES),
  reason: z.enum(RESTRICTIONS),
  aprPct: decimal.optional(),
});
const record = z.object({
  id: z.string(),
  side: z.enum(CAMPAIGN_SIDES),
  symbol: z.string(),
  startsAtMs: time,
  endsAtMs: time,
  steps: rates,
});
const allowed = z.array(z.object({ address, isAllowed: z.boolean() }));
const divergence = z.object({
  against: z.string(),
  oracleUsd: decimal,
  referenceUsd: decimal,
  divergencePct: decimal,
  marketId,
  oracle: address,
  grossTvlUsd: decimal,
  borrowedUsd: decimal,
  positions: z.int().min(0),
});
const marketParams = z.object({
  loanToken: address,
  collateralToken: address,
  oracle: address,
  irm: address,
  lltv: amount,
});

const VALUES: { readonly [G in FactGroup]: z.ZodType<unknown> } = {
  lendingState: z.object({
    totalSupplyAssets: amount,
    totalSupplyShares: amount,
    totalBorrowAssets: amount,
    totalBorrowShares: amount,
    lastUpdate: amount,
    fee: amount,
    rateAtTarget: z.bigint(),
    borrowRate: amount,
    blockNumber: amount,
    blockTimestamp: amount,
  } satisfies Record<keyof FactGroups['lendingState'], z.ZodType>),
  oracle: z.object({
    price: amount,
    blockNumber: amount,
    feeds: z
      .array(z.object({ address, updatedAt: amount.optional(), isOfBlock: z.literal(true).optional() }))
      .optional(),
    basis: z.enum(['nav', 'market', 'mixed', 'fixed', 'unstated']).optional(),
    before: z.object({ price: amount, atMs: time }).optional(),
  } satisfies Record<keyof FactGroups['oracle'], z.ZodType>),
  collateralApy: z.object({ apyPct: decimal, history: rates.optional() }),
  incentives: z.object({
    borrow: z.array(campaign),
    collateral: z.array(campaign),
    restricted: z.array(restricted).optional(),
    unread: z.array(z.object({ side: z.enum(CAMPAIGN_SIDES), id: z.string().optional() })).optional(),
  }),
  incentiveHistory: z.object({ campaigns: z.array(record) }),
  price: z.object({ usd: decimal }),
  exitLiquidity: z.object({ slippagePct: z.record(z.enum(EXIT_SIZES_USD), decimal.nullable()) }),
  sharedLiquidity: z.object({
    sources: z.array(
      z.object({
        vault: address,
        vaultName: z.string().optional(),
        withdrawMarketId: marketId,
        assets: amount,
        feeWei: amount,
      }),
    ),
  }),
  borrowHistory: z.object({ points: rates }),
  stableIndex: z.object({ id: z.string(), asset: z.string(), avg7dPct: decimal, history: rates }),
  tvl: z.object({
    chainId: z.int(),
    tvlUsd: decimal,
    grossTvlUsd: decimal,
    borrowedUsd: decimal,
    badDebtUsd: decimal.optional(),
    divergentUsd: decimal.optional(),
    positions: z.int().min(0),
    users: z.int().min(0),
    oracleDivergences: z.array(divergence).optional(),
    asOfMs: time,
    wallets: z.array(address),
    outsideCatalog: z.int().min(0),
    unreadableWallets: z.int().min(0),
  } satisfies Record<keyof FactGroups['tvl'], z.ZodType>),
  deployment: z.object({
    hasCode: z.boolean().optional(),
    liquidationBuffer: amount.optional(),
    yieldFee: amount.optional(),
    depositFee: amount.optional(),
    treasury: address.optional(),
    isPaused: z.boolean().optional(),
    swapRouters: allowed,
    operators: allowed,
    code: z.array(z.object({ address, hasCode: z.boolean() })).optional(),
    links: z.array(z.object({ address, to: z.string(), target: address })).optional(),
    implausible: z.array(z.string()).optional(),
  } satisfies Record<keyof FactGroups['deployment'], z.ZodType>),
  marketSupport: z.object({
    isSupported: z.boolean().optional(),
    isCorrelated: z.boolean().optional(),
    params: marketParams.nullable().optional(),
  } satisfies Record<keyof FactGroups['marketSupport'], z.ZodType>),
  tokenContract: z.object({
    hasCode: z.boolean(),
    decimals: amount.optional(),
    symbol: z.string().optional(),
  } satisfies Record<keyof FactGroups['tokenContract'], z.ZodType>),
};

const factSchemas = Object.fromEntries(
  Object.entries(VALUES).map(([group, value]) => [group, z.object({ value, asOfMs: time, source: z.string() })]),
);

const failureSchema = z.object({
  reason: z.string(),
  source: z.string(),
  sinceMs: time,
  suspect: z
    .object({
      value: decimal,
      readings: z.int().min(0),
      atMs: time.optional(),
      measuredMs: time.optional(),
    })
    .optional(),
} satisfies Record<keyof Failure, z.ZodType>);

/** Return a decoded value as a fact of that group; `undefined` = it is none. */
export function readFact<G extends FactGroup>(group: G, decoded: unknown): Fact<FactGroups[G]> | undefined {
  const fact = withKnownNames(group, decoded);
  return factSchemas[group]?.safeParse(fact).success === true ? (fact as Fact<FactGroups[G]>) : undefined;
}

/** Return a decoded value as a failure; `undefined` = it is none. */
export function readFailure(decoded: unknown): Failure | undefined {
  if (!failureSchema.safeParse(decoded).success) return undefined;
  const failure = decoded as Failure;
  return isOneOf(FAILURE_REASONS, failure.reason) ? failure : { ...failure, reason: 'server_error' };
}

/** Leave out fields with names that this version does not know; a later version may have written them. */
function withKnownNames(group: FactGroup, decoded: unknown): unknown {
  if (!isRecord(decoded) || !isRecord(decoded.value)) return decoded;
  const { value } = decoded;
  if (group === 'incentiveHistory' && Array.isArray(value.campaigns)) {
    const campaigns = value.campaigns.filter((one) => !isNamed(one, 'side') || isOneOf(CAMPAIGN_SIDES, one.side));
    return campaigns.length === value.campaigns.length ? decoded : { ...decoded, value: { ...value, campaigns } };
  }
  if (group === 'incentives') {
    const known = [value.restricted].flat().filter((one) => isRecord(one) && isNamedOne(one));
    if (Array.isArray(value.restricted) && known.length < value.restricted.length)
      return { ...decoded, value: { ...value, restricted: known } };
  }
  if (group === 'exitLiquidity' && isRecord(value.slippagePct)) {
    const sizes = Object.entries(value.slippagePct);
    const known = sizes.filter(([size]) => isOneOf(EXIT_SIZES_USD, size));
    return known.length === sizes.length
      ? decoded
      : { ...decoded, value: { ...value, slippagePct: Object.fromEntries(known) } };
  }
  return decoded;
}

function isNamedOne({ side, reason }: Readonly<Record<string, unknown>>): boolean {
  return isOneOf(CAMPAIGN_SIDES, String(side)) && isOneOf(RESTRICTIONS, String(reason));
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

function isNamed<K extends string>(value: unknown, key: K): value is Record<K, string> {
  return isRecord(value) && typeof value[key] === 'string';
}
