import { keccak256, stringToHex } from 'viem';
import type { Market } from '../../src/catalog/index.ts';
import { labelAddress } from '../seed/accounts.ts';
import { marketKey } from '../seed/markets.ts';
import { DAY_MS, fraction, round } from './series.ts';
import type { World } from './types.ts';

export const CAMPAIGN_TYPES = ['MORPHOBORROW', 'MORPHOCOLLATERAL'] as const;
export type CampaignType = (typeof CAMPAIGN_TYPES)[number];

export interface Campaign {
  readonly id: string;
  readonly type: CampaignType;
  readonly chainId: number;
  readonly marketId: string;
  readonly symbol: string;
  /** Percent per year now. */
  readonly apr: number;
  readonly startMs: number;
  readonly endMs: number;
}

interface CampaignSeed {
  readonly type: CampaignType;
  readonly chainId: number;
  /** As `marketKey` names it. */
  readonly market: string;
  readonly symbol: string;
  readonly apr: number;
  /** Days relative to the beginning of the world. */
  readonly from: number;
  readonly to: number;
}

const borrow = (
  chainId: number,
  market: string,
  symbol: string,
  apr: number,
  from: number,
  to: number,
): CampaignSeed => ({
  type: 'MORPHOBORROW',
  chainId,
  market,
  symbol,
  apr,
  from,
  to,
});

const SEEDS: readonly CampaignSeed[] = [
  // Two reward tokens at once; the first campaign renews an ended one.
  borrow(1, 'syrupUSDC/PYUSD 91.5', 'PYUSD', 1.25, -45, 45),
  borrow(1, 'syrupUSDC/PYUSD 91.5', 'PYUSD', 0.9, -150, -45),
  borrow(1, 'syrupUSDC/PYUSD 91.5', 'SYRUP', 0.4, -20, 40),
  borrow(1, 'sUSDe/PYUSD 91.5', 'PYUSD', 0.85, -60, 30),
  borrow(1, 'stcUSD/USDT 91.5', 'CAP', 0.75, -30, 60),
  borrow(1, 'wstETH/WETH 94.5', 'LDO', 0.35, -90, 90),
  borrow(1, 'wsrUSD/USDC 94.5', 'DAM', 1.6, -120, -10),
  { type: 'MORPHOCOLLATERAL', chainId: 1, market: 'siUSD/USDC 91.5', symbol: 'INFI', apr: 0.6, from: -40, to: 50 },
  borrow(4663, 'syrupUSDG/USDG 91.5', 'SYRUP', 1.1, -35, 55),
  // USDe itself earns nothing there: this is all of its yield.
  { type: 'MORPHOCOLLATERAL', chainId: 4663, market: 'USDe/USDG 91.5', symbol: 'ENA', apr: 8.2, from: -50, to: 70 },
];

/** A campaign that begins while the world runs. */
export interface NewCampaign {
  readonly type: CampaignType;
  readonly chainId: number;
  /** As `marketKey` names it. */
  readonly market: string;
  readonly symbol: string;
  readonly apr: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** Changes of the seeded campaigns while the world runs. */
export interface CampaignChanges {
  /** Begin a further campaign. */
  begin(campaign: NewCampaign): void;
  /** Let the campaign of a market that runs until then end earlier, and another one of another APR take its place. */
  roll(which: Pick<NewCampaign, 'type' | 'chainId' | 'market'>, atMs: number, apr: number): void;
}

export interface CampaignBook extends CampaignChanges {
  readonly begun: readonly NewCampaign[];
  /** By `type chainId market`. */
  readonly endsMs: ReadonlyMap<string, number>;
}

const ROLLED_DAYS = 60;

/** Store the changes. */
export function createCampaignBook(): CampaignBook {
  const begun: NewCampaign[] = [];
  const endsMs = new Map<string, number>();
  return {
    begun,
    endsMs,
    begin: (campaign) => {
      begun.push(campaign);
    },
    roll: (which, atMs, apr) => {
      endsMs.set(bookKey(which), atMs);
      begun.push({ ...which, symbol: 'NEXT', apr, startMs: atMs, endMs: atMs + ROLLED_DAYS * DAY_MS });
    },
  };
}

function bookKey({ type, chainId, market }: Pick<NewCampaign, 'type' | 'chainId' | 'market'>): string {
  return `${type} ${chainId} ${market}`;
}

/** More live campaigns of markets that are not curated than one page holds. */
const FOREIGN_CAMPAIGNS = 115;
/** Every this many foreign campaigns a curated one is listed, so that they spread over the pages. */
const SPREAD = 23;

const FOREIGN = Array.from({ length: FOREIGN_CAMPAIGNS }, (_, i) => {
  const label = `foreign market ${i}`;
  const seed = borrow(1, label, 'MORPHO', round(0.2 + fraction(label) * 3, 4), -30, 60);
  return { label, seed, marketId: keccak256(stringToHex(label)) };
});

/** List all campaigns, ended ones included, in the order of the API. */
export function campaigns(world: World): Campaign[] {
  const own = SEEDS.flatMap((seed) => {
    const market = findMarket(world, seed);
    return market === undefined
      ? []
      : [endedEarly(world, seed, campaignOf(world, seed, market.id, `${seed.market} ${seed.symbol} ${seed.from}`))];
  });
  const all: Campaign[] = [];
  for (const [i, { label, seed, marketId }] of FOREIGN.entries()) {
    all.push(campaignOf(world, seed, marketId, label));
    const next = i % SPREAD === 0 ? own[i / SPREAD] : undefined;
    if (next !== undefined) all.push(next);
  }
  const begun = world.campaigns.begun.flatMap((campaign) => {
    const market = findMarket(world, campaign);
    const { startMs, endMs } = campaign;
    const label = `${campaign.market} ${campaign.type} ${campaign.symbol} ${startMs}`;
    return market ? [{ ...campaignOf(world, { ...campaign, from: 0, to: 0 }, market.id, label), startMs, endMs }] : [];
  });
  return [...all, ...own.slice(Math.ceil(FOREIGN_CAMPAIGNS / SPREAD)), ...begun];
}

/** APR over time, oldest first: it holds until the next record, and the last one holds now. */
export function aprSteps({ id, apr, startMs, endMs }: Campaign, nowMs: number): { atMs: number; apr: number }[] {
  const until = Math.min(nowMs, endMs);
  const step = 6 * DAY_MS;
  const count = Math.max(1, Math.ceil((until - startMs) / step));
  return Array.from({ length: count }, (_, i) => {
    const last = i === count - 1;
    return { atMs: startMs + i * step, apr: last ? apr : round(apr * (0.75 + fraction(`${id} ${i}`) * 0.5), 6) };
  });
}

function campaignOf(world: World, seed: CampaignSeed, marketId: string, label: string): Campaign {
  const { type, chainId, symbol, apr, from, to } = seed;
  const day = Math.floor(world.startedMs / DAY_MS) * DAY_MS;
  const id = BigInt(labelAddress(`campaign ${chainId} ${label}`))
    .toString()
    .slice(0, 19);
  return { id, type, chainId, marketId, symbol, apr, startMs: day + from * DAY_MS, endMs: day + to * DAY_MS };
}

function endedEarly(world: World, seed: CampaignSeed, campaign: Campaign): Campaign {
  const atMs = world.campaigns.endsMs.get(bookKey(seed));
  const isRunning = atMs !== undefined && campaign.startMs < atMs && atMs < campaign.endMs;
  return isRunning ? { ...campaign, endMs: atMs } : campaign;
}

function findMarket(world: World, seed: Pick<CampaignSeed, 'chainId' | 'market'>): Market | undefined {
  return world.catalog.chain(seed.chainId)?.markets.find((market) => marketKey(market) === seed.market);
}
