import { type Hex, keccak256, stringToHex } from 'viem';
import { labelAddress } from '../../seed/accounts.ts';
import { aprSteps, CAMPAIGN_TYPES, type Campaign, campaigns } from '../campaigns.ts';
import { matchPath, ok } from '../respond.ts';
import { round } from '../series.ts';
import type { SimRequest, SimResponse, SimulatedProvider, World } from '../types.ts';

const DEFAULT_ITEMS = 20;
const MAX_ITEMS = 100;

export const merkl: SimulatedProvider = {
  base: '/merkl/v4',
  handle,
  shape: { values: ['apr', 'params'], times: ['timestamp'] },
  refusal: (status, message) => ({ name: 'Error', message, status }),
};

function handle(request: SimRequest, world: World): SimResponse {
  if (request.method !== 'GET') return error(404, 'NOT_FOUND');
  if (request.path === '/campaigns') return list(request.query, world);
  const user = matchPath('/users/{address}/rewards', request.path)?.address;
  if (user !== undefined) return rewards(user, request.query.get('chainId'), world);
  const id = matchPath('/campaigns/{id}/metrics', request.path)?.id;
  const campaign = id === undefined ? undefined : campaigns(world).find((candidate) => candidate.id === id);
  return campaign === undefined ? error(404, 'Campaign not found') : metrics(campaign, world);
}

function list(query: URLSearchParams, world: World): SimResponse {
  const items = Number(query.get('items') ?? DEFAULT_ITEMS);
  const page = Number(query.get('page') ?? 0);
  if (!Number.isInteger(items) || items < 1 || items > MAX_ITEMS) return error(422, 'items must be between 1 and 100');
  if (!Number.isInteger(page) || page < 0) return error(422, 'page must be 0 or more');
  const types = query.get('type')?.split(',');
  if (types?.some((type) => !CAMPAIGN_TYPES.some((known) => known === type))) return error(422, 'unknown type');
  const chainIds = query.get('chainId')?.split(',');
  const statuses = query.get('status')?.split(',');
  const matching = campaigns(world).filter(
    (campaign) =>
      (types === undefined || types.includes(campaign.type)) &&
      (chainIds === undefined || chainIds.includes(String(campaign.chainId))) &&
      (statuses === undefined || statuses.includes(statusOf(campaign, world))),
  );
  return ok(matching.slice(page * items, (page + 1) * items).map((campaign) => campaignBody(campaign, world)));
}

function statusOf({ startMs, endMs }: Campaign, world: World): 'LIVE' | 'PAST' | 'SOON' {
  const now = world.clock.now();
  if (now < startMs) return 'SOON';
  return now < endMs ? 'LIVE' : 'PAST';
}

const hashes = new Map<string, Hex>();

/** Every page names the same campaigns: computing their hashes took a tenth of a world's start. */
function hashOf(text: string): Hex {
  const known = hashes.get(text);
  if (known) return known;
  const hash = keccak256(stringToHex(text));
  hashes.set(text, hash);
  return hash;
}

function campaignBody(campaign: Campaign, world: World): unknown {
  const { id, type, chainId, marketId, symbol, apr, startMs, endMs } = campaign;
  const market = world.catalog.chain(chainId)?.markets.find((candidate) => candidate.id === marketId);
  const token = labelAddress(`reward ${symbol}`);
  const chain = { id: chainId, name: world.catalog.chain(chainId)?.name ?? '', icon: '' };
  const live = statusOf(campaign, world) === 'LIVE';
  return {
    id,
    computeChainId: chainId,
    distributionChainId: chainId,
    campaignId: hashOf(id),
    type,
    distributionType: 'DUTCH_AUCTION',
    subType: null,
    rewardTokenId: id.slice(0, 10),
    amount: '250000000000000000000000',
    opportunityId: BigInt(hashOf(`${type} ${marketId}`))
      .toString()
      .slice(0, 19),
    startTimestamp: startMs / 1000,
    endTimestamp: endMs / 1000,
    dailyRewards: live ? round(apr * 1_000, 2) : 0,
    apr: live ? apr : 0,
    creatorAddress: labelAddress('campaign creator'),
    rootCampaignId: null,
    parentCampaignId: null,
    createdAt: new Date(startMs - 3_600_000).toISOString(),
    params: {
      url: `https://app.morpho.org/market/${marketId}`,
      market: marketId,
      duration: (endMs - startMs) / 1000,
      whitelist: [],
      blacklist: [],
      LLTV: market?.lltv.toString() ?? '860000000000000000',
      loanToken: market?.loan.address ?? labelAddress(`loan ${marketId}`),
      collateralToken: market?.collateral.address ?? labelAddress(`collateral ${marketId}`),
      symbolLoanToken: market?.loan.symbol ?? 'USDC',
      symbolCollateralToken: market?.collateral.symbol ?? 'WETH',
      symbolRewardToken: symbol,
      decimalsRewardToken: 18,
    },
    chain,
    distributionChain: chain,
    rewardToken: {
      id: id.slice(0, 10),
      name: symbol,
      chainId,
      address: token,
      decimals: 18,
      symbol,
      displaySymbol: symbol,
      icon: '',
      verified: true,
      isTest: false,
      type: 'TOKEN',
      isNative: false,
      price: 0.41,
    },
    campaignStatus: {
      campaignId: id,
      status: 'SUCCESS',
      error: '',
      details: '',
      computedUntil: Math.floor(world.clock.now() / 1000),
    },
  };
}

function metrics(campaign: Campaign, world: World): SimResponse {
  const steps = aprSteps(campaign, world.clock.now());
  return ok({
    aprRecords: steps.map(({ atMs, apr }) => ({ timestamp: atMs / 1000, apr })),
    tvlRecords: steps.map(({ atMs }) => ({ timestamp: atMs / 1000, total: 12_500_000 })),
    dailyRewardsRecords: steps.map(({ atMs, apr }) => ({ timestamp: atMs / 1000, total: round(apr * 1_000, 2) })),
  });
}

function error(status: number, message: string): SimResponse {
  return { status, body: { name: 'Error', message, status } };
}

/** Accounts with an address that ends in 0 have earned nothing. */
const EARNS_NOTHING = /0$/;
const UNIT = 10n ** 18n;

/** Rewards of any account, by its address: a real record is made of the campaigns that it takes part in. */
function rewards(address: string, chainId: string | null, world: World): SimResponse {
  if (!/^0x[0-9a-f]{40}$/.test(address)) return error(422, 'address must be an address in lower case');
  const chain = chainId === null ? undefined : world.catalog.chain(Number(chainId));
  if (chain === undefined) return error(422, 'chainId is required');
  if (EARNS_NOTHING.test(address)) return ok([]);
  const amount = BigInt(address) % (1_000n * UNIT);
  const token = { chainId: chain.chainId, address: labelAddress('reward MORPHO'), symbol: 'MORPHO', decimals: 18 };
  const reward = {
    root: hashOf('rewards root'),
    recipient: address,
    amount: String(amount),
    claimed: String(amount / 4n),
    pending: String(amount / 100n),
    proofs: [hashOf(`proof ${address}`)],
    token: { ...token, name: 'MORPHO', icon: '', price: 0.41 },
    breakdowns: [],
  };
  return ok([{ chain: { id: chain.chainId, name: chain.name, icon: '' }, rewards: [reward] }]);
}
