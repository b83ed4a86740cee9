import { z } from 'zod';
import { ADDRESS_PATTERN, MARKET_ID_PATTERN } from '../shared/ids.ts';

export const COLLATERAL_CATEGORIES = ['stable', 'ETH', 'BTC', 'stable-PT', 'stocks', 'Other'] as const;
export const APY_SOURCES = ['yieldmarket', 'aggregator', 'incentivemarket', 'stableindex', 'onchain', 'none'] as const;
export const SWAP_SOURCES = ['AggregatorOne', 'AggregatorTwo', 'YieldMarket'] as const;
/** Most decimals of a token that the catalog takes. */
export const MAX_DECIMALS = 36;

const address = z.string().regex(ADDRESS_PATTERN, 'expected 0x + 40 hex characters');
const marketId = z.string().regex(MARKET_ID_PATTERN, 'expected 0x + 64 hex characters');

/** A curated fact is as good as its source. */
const evidence = { sourceUrl: z.url({ protocol: /^https$/ }), checkedOn: z.iso.date() };

const tokenSchema = z.strictObject({
  symbol: z.string().min(1),
  address,
  decimals: z.int().min(0).max(MAX_DECIMALS),
  name: z.string().min(1),
  category: z.enum(COLLATERAL_CATEGORIES).optional(),
  project: z.string().optional(),
  yieldSource: z.string().optional(),
  description: z.string().optional(),
  coingeckoId: z.string().optional(),
  stableIndexId: z.string().optional(),
  defillamaId: z.string().optional(),
  apySource: z.enum(APY_SOURCES).optional(),
  /** Name of the view that returns the per-second accumulator rate in ray. */
  onchainRate: z.enum(['str', 'vsr']).optional(),
  /** Unix seconds; only principal tokens have one. */
  maturity: z.int().positive().optional(),
  /** Symbol of the token, on the same chain, that a principal token redeems to. */
  underlying: z.string().optional(),
  noSwapRoute: z.boolean().optional(),
  /** approve() reverts when a non-zero allowance is changed to another non-zero value. */
  resetsApproval: z.boolean().optional(),
  /** Off-chain points program, with the page that says so and the day of its reading; absent = not known. */
  points: z
    .union([
      z.strictObject({ program: z.string().min(1), perDayPerCollateralToken: z.number().positive(), ...evidence }),
      z.strictObject({ program: z.null('null, for a collateral that is known to have none'), ...evidence }),
    ])
    .optional(),
});

const marketSchema = z.strictObject({
  id: marketId,
  collateral: z.string(),
  loan: z.string(),
  oracle: address,
  irm: address,
  lltv: z.string().regex(/^\d+$/),
  correlated: z.boolean(),
  curator: z.string().optional(),
  /** `nav`: redemption rate; `market`: traded price. */
});

const equityVaultSchema = z.strictObject({
  id: z.string().regex(/^equity-0x[0-9a-fA-F]{64}$/),
  stockMarketId: marketId,
  stock: z.string(),
  depositToken: z.string(),
  oracle: address,
  irm: address,
  lltv: z.string().regex(/^\d+$/),
  curator: z.string(),
  targetLtvPct: z.string().regex(/^\d+(\.\d+)?$/),
  yieldMarketId: marketId,
});

/** A price feed with its published heartbeat. */
const feedSchema = z.strictObject({
  address,
  description: z.string().min(1),
  heartbeatSec: z.int().positive(),
});

export const chainDataSchema = z.strictObject({
  chainId: z.int().positive(),
  name: z.string(),
  /** Start of the block explorer's addresses, for links. */
  explorerUrl: z
    .url({ protocol: /^https$/ })
    .regex(/[^/]$/, 'expected no slash at the end')
    .optional(),
  contracts: z.strictObject({
    morphoBlue: address,
    adaptiveCurveIrm: address,
    multicall3: address,
    flashLeverage: address,
    flashLeverageRouter: address,
    publicAllocator: address.optional(),
    equityRouter: address.optional(),
  }),
  /** Symbol of the stablecoin in which exits are quoted. */
  stable: z.string(),
  wrappedNative: z.string().optional(),
  /** The chain's name at each provider; a provider that does not serve it is absent. */
  providers: z.strictObject({
    kyberswap: z.string().optional(),
    openocean: z.string().optional(),
    geckoterminal: z.string().optional(),
    pendle: z.boolean().optional(),
  }),
  /** Router addresses that are allowed in calldata, per quote source. */
  swapRouters: z.partialRecord(z.enum(SWAP_SOURCES), z.array(address).min(1).max(3)),
  tokens: z.array(tokenSchema),
  markets: z.array(marketSchema),
  equityVaults: z.array(equityVaultSchema).default([]),
  feeds: z.array(feedSchema).default([]),
});

/** Additions to one chain of the catalog: new tokens, markets and feeds, and fields completed on tokens that it already has. */
export const overlaySchema = z.array(
  z.strictObject({
    chainId: z.int().positive(),
    tokens: z.array(tokenSchema).default([]),
    markets: z.array(marketSchema).default([]),
    feeds: z.array(feedSchema).default([]),
    complete: z
      .array(tokenSchema.omit({ address: true, decimals: true, name: true }).partial().required({ symbol: true }))
      .default([]),
  }),
);

export type ChainData = z.input<typeof chainDataSchema>;
export type CatalogOverlay = z.input<typeof overlaySchema>;
export type CollateralCategory = (typeof COLLATERAL_CATEGORIES)[number];
export type CollateralApySource = (typeof APY_SOURCES)[number];
export type SwapSource = (typeof SWAP_SOURCES)[number];
