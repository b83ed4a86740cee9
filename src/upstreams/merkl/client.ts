import type { IncentiveHistory } from '../../domain/facts.ts';
import { gather, toBatch } from '../batch.ts';
import { ABSENT, type AdapterDeps, createHttp } from '../http.ts';
import type { Series } from '../series.ts';
import type { Batch, CallOptions, IncentivesPort } from '../types.ts';
import { mapCampaigns, mapMetrics, sumSteps } from './map.ts';
import { metricsSchema, pageSchema } from './schema.ts';

const PAGE_SIZE = 100;
/** 2000 running campaigns of one kind on one chain: about twenty times what there is. */
const MAX_PAGES = 20;
type CampaignType = 'MORPHOBORROW' | 'MORPHOCOLLATERAL';

/** Read running incentive campaigns and their APR over time. */
export function createMerkl(deps: AdapterDeps): IncentivesPort {
  const { apiKey } = deps.config;
  const http = createHttp({
    ...deps,
    provider: 'merkl',
    publicName: 'incentives',
    secrets: apiKey === undefined ? {} : { headers: { 'x-api-key': apiKey } },
  });

  /** All pages, or `null` when there are more than the bound: a part of the list proves nothing. */
  async function listAll(type: CampaignType, chainId: number, options?: CallOptions): Promise<unknown[] | null> {
    const rows: unknown[] = [];
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const body = await http.request({
        path: '/campaigns',
        query: { type, chainId: String(chainId), items: String(PAGE_SIZE), page: String(page), status: 'LIVE' },
        signal: options?.signal,
      });
      const answer = http.parse(pageSchema, body);
      rows.push(...answer);
      if (answer.length < PAGE_SIZE) return rows;
    }
    return null;
  }

  async function marketHistory(
    marketId: string,
    campaignIds: readonly string[],
    options?: CallOptions,
  ): Promise<Batch<IncentiveHistory>> {
    const steps: Series['points'][] = [];
    for (const id of campaignIds) {
      const body = await http.request({
        path: '/campaigns/:id/metrics',
        params: { id },
        absentOn: [404],
        signal: options?.signal,
      });
      const series = body === ABSENT ? 'missing' : mapMetrics(http.parse(metricsSchema, body), deps.clock.now());
      if (typeof series === 'string') return toBatch([[marketId, { ok: false, reason: series }]]);
      http.reportDropped('points', series.dropped);
      steps.push(series.points);
    }
    return toBatch([[marketId, { ok: true, value: sumSteps(steps) }]]);
  }

  return {
    async live(chain, marketIds, options) {
      if (marketIds.length === 0) return { values: new Map(), failures: new Map() };
      const borrow = await listAll('MORPHOBORROW', chain.chainId, options);
      const collateral = borrow === null ? null : await listAll('MORPHOCOLLATERAL', chain.chainId, options);
      if (borrow === null || collateral === null) {
        http.reportDropped('pages beyond the bound', 1);
        return { values: new Map(), failures: new Map(marketIds.map((id) => [id, 'missing'])) };
      }
      const { unattributed, ...batch } = mapCampaigns(marketIds, { borrow, collateral }, deps.clock.now());
      http.reportDropped('campaigns', unattributed);
      return batch;
    },
    history: (campaigns, options) =>
      gather(
        [...campaigns],
        ([marketId]) => [marketId],
        ([marketId, ids]) => marketHistory(marketId, ids, options),
      ),
  };
}
