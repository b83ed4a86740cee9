import { MAX_CAMPAIGNS } from '../../shared/contract/list-bounds.ts';
import type { RateHistory } from '../../shared/rate-history.ts';
import { gather, toBatch } from '../batch.ts';
import { type AdapterDeps, createHttp, LIST_BYTES } from '../http.ts';
import { historyOf } from '../series.ts';
import type { Batch, CallOptions, IncentivesPort, RewardsPort } from '../types.ts';
import { mapCampaigns, mapEnded, mapMetrics, mapRewards } from './map.ts';
import { metricsSchema, pageSchema, userRewardsSchema } from './schema.ts';

const PAGE_SIZE = 100;
/** About twenty times today's number. */
const MAX_PAGES = MAX_CAMPAIGNS / PAGE_SIZE;
type CampaignType = 'MORPHOBORROW' | 'MORPHOCOLLATERAL';

/** Read running incentive campaigns and their APR over time. */
export function createMerkl(deps: AdapterDeps): IncentivesPort & RewardsPort {
  const { apiKey } = deps.config;
  const http = createHttp({
    ...deps,
    provider: 'merkl',
    publicName: 'incentives',
    secrets: apiKey === undefined ? {} : { headers: { 'x-api-key': apiKey } },
  });

  /** All pages, or `null` when there are more than the bound: an incomplete list cannot show that a market has no campaign. */
  async function listAll(
    type: CampaignType,
    chainId: number,
    status: 'LIVE' | 'PAST',
    options?: CallOptions,
  ): Promise<unknown[] | null> {
    const rows: unknown[] = [];
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const body = await http.request({
        path: '/campaigns',
        maxBytes: LIST_BYTES,
        query: { type, chainId: String(chainId), items: String(PAGE_SIZE), page: String(page), status },
        signal: options?.signal,
      });
      const answer = http.parse(pageSchema, body);
      rows.push(...answer);
      if (answer.length < PAGE_SIZE) return rows;
    }
    return null;
  }

  async function steps(id: string, options?: CallOptions): Promise<Batch<RateHistory>> {
    const body = await http.request({
      path: '/campaigns/:id/metrics',
      maxBytes: LIST_BYTES,
      params: { id },
      signal: options?.signal,
    });
    const series = mapMetrics(http.parse(metricsSchema, body), deps.clock.now());
    if (typeof series === 'string') return toBatch([[id, { ok: false, reason: series }]]);
    http.reportDropped('points', series.dropped);
    return toBatch([[id, { ok: true, value: historyOf(series.points) }]]);
  }

  return {
    async live(chain, marketIds, options) {
      if (marketIds.length === 0) return { values: new Map(), failures: new Map() };
      const borrow = await listAll('MORPHOBORROW', chain.chainId, 'LIVE', options);
      const collateral = borrow === null ? null : await listAll('MORPHOCOLLATERAL', chain.chainId, 'LIVE', options);
      if (borrow === null || collateral === null) {
        http.reportDropped('pages beyond the bound', 1);
        return { values: new Map(), failures: new Map(marketIds.map((id) => [id, 'missing'])) };
      }
      const { unattributed, unread, ...batch } = mapCampaigns(marketIds, { borrow, collateral }, deps.clock.now());
      http.reportDropped('campaigns', unattributed + unread);
      return batch;
    },
    async ended(chain, marketIds, options) {
      const borrow = await listAll('MORPHOBORROW', chain.chainId, 'PAST', options);
      const collateral = await listAll('MORPHOCOLLATERAL', chain.chainId, 'PAST', options);
      return mapEnded(marketIds, { borrow: borrow ?? [], collateral: collateral ?? [] });
    },
    async earned(chainId, account, options) {
      const body = await http.request({
        path: '/users/:address/rewards',
        maxBytes: LIST_BYTES,
        params: { address: account.toLowerCase() },
        query: { chainId: String(chainId) },
        signal: options?.signal,
      });
      return mapRewards(http.parse(userRewardsSchema, body), chainId);
    },
    history: (campaignIds, options) =>
      gather(
        campaignIds,
        (id) => [id],
        (id) => steps(id, options),
      ),
  };
}
