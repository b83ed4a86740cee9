import { z } from 'zod';
import { Decimal } from '../../shared/decimal.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { BorrowApyHistoriesQuery } from '../generated/operations.ts';
import { chainIdChoice, chainIdOfStrategy, strategyIdParam } from '../schemas/common.ts';
import {
  borrowApyHistories,
  borrowApyHistory,
  collateralApyHistories,
  collateralApyHistory,
  incentiveHistory,
} from '../schemas/reads.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { answered, HISTORY_PAGE, PUBLIC_ERRORS, type RouteOptions, timeOf } from './shared.ts';

/** All rows of histories have the same fields of one field. */
type HistoriesData = BorrowApyHistoriesQuery;
type Series = NonNullable<NonNullable<BorrowApyHistoriesQuery['chains']>[number]['rateHistories']>[number];
type Point = Series['points'][number];
interface OneParams {
  readonly id: string;
  readonly chainId?: number | undefined;
}
type Aged = Pick<Series, 'freshness' | 'complete' | 'gaps'>;

const PCT_PLACES = 2;
const borrowPoint = ({ at, ratePct }: Point) => ({
  x: Math.floor(Date.parse(at) / 1000),
  y: new Decimal(ratePct).shiftedBy(-PCT_PLACES).toNumber(),
});
const apyPoint = ({ at, ratePct }: Point) => ({ ts: Date.parse(at), apy: Number(ratePct) });
const aprPoint = ({ at, ratePct }: Point) => ({ ts: Date.parse(at), apr: Number(ratePct) });

/** The histories of all chains. */
function seriesOf(data: HistoriesData): readonly (Series & { readonly chainId: number })[] {
  return answered(data.chains).flatMap(({ chainId, rateHistories }) =>
    answered(rateHistories).map((series) => ({ ...series, chainId })),
  );
}

/** The history of one id, which is on one chain. @throws BadRequestError when another chain was asked for */
function one(data: HistoriesData, { id, chainId }: OneParams, point: (value: Point) => unknown): unknown {
  const [series = null] = seriesOf(data);
  const found = answered(series);
  if (chainId !== undefined && chainId !== found.chainId) {
    throw new BadRequestError(
      `The requested chains contradict the id ${found.marketId}, which is on chain ${found.chainId}. Send chain ${found.chainId}, or none.`,
      { field: 'query.chainId', value: String(chainId), limit: { oneOf: [found.chainId] } },
    );
  }
  return bodyOf(found, id, point);
}

function bodyOf(series: Series, id: string, point: (value: Point) => unknown): unknown {
  const [gap] = series.gaps;
  return {
    id,
    marketId: series.marketId === id ? undefined : series.marketId,
    asOf: series.freshness?.asOf ?? null,
    stale: isStaleHistory(series),
    history: series.points.map(point),
    gap,
  };
}

function all(data: HistoriesData, point: (value: Point) => unknown): unknown {
  const items = seriesOf(data);
  const ageing = items.filter(({ complete }) => !complete).flatMap(({ freshness }) => freshness ?? []);
  const oldest = ageing.reduce<(typeof ageing)[number] | undefined>(
    (found, next) => (found === undefined || timeOf(next) < timeOf(found) ? next : found),
    undefined,
  );
  const gaps = items.flatMap(({ marketId, gaps: [gap] }) => (gap ? [[marketId, gap] as const] : []));
  return {
    asOf: oldest?.asOf ?? null,
    stale: items.some(isUnknown) || oldest?.status === 'stale',
    // Unknown histories are left out: an empty list would mean a history without points.
    histories: Object.fromEntries(
      items.flatMap((item) => (isUnknown(item) ? [] : [[item.marketId, item.points.map(point)]])),
    ),
    gaps: gaps.length === 0 ? undefined : Object.fromEntries(gaps),
  };
}

/** Whether a history is missing that could be there: it is as stale as can be. */
function isUnknown({ freshness, gaps: [gap] }: Aged): boolean {
  return freshness === null && gap !== undefined && !KNOWN.has(gap.reason);
}

/** A history that cannot grow any more does not become stale. */
export function isStaleHistory(series: Aged): boolean {
  return isUnknown(series) || (!series.complete && series.freshness?.status === 'stale');
}

/** Reasons that are known facts: there is no history, and there cannot be one. */
const KNOWN: ReadonlySet<string> = new Set(['NONE', 'NOT_APPLICABLE']);

const chainsOf = ({ params }: { readonly params: { readonly chainId?: number | undefined } }) =>
  params.chainId === undefined ? {} : { chainIds: [params.chainId] };
const EXAMPLE_ID = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const ONE_ERRORS = [...PUBLIC_ERRORS, 'not_found', 'upstream_unavailable'] as const;
const ALL_ERRORS = [...PUBLIC_ERRORS, 'upstream_unavailable'] as const;

export function historyRoutes({ chainIds }: RouteOptions): AnyRoute[] {
  const ofChain = z.object({
    chainId: chainIdChoice(chainIds)
      .optional()
      .describe('Chain id; limits the answer to markets of this chain. All chains when left out.'),
  });
  const byId = z.object({ id: strategyIdParam, chainId: chainIdOfStrategy(chainIds) });
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/markets/borrow-apy-history',
      surface: 'Public',
      summary: 'Borrow-APY history of all markets',
      description: 'Our own samples; the indexer fills days without samples. x is unix seconds, y a fraction.',
      operation: 'BorrowApyHistories',
      params: ofChain,
      variables: chainsOf,
      project: (data: HistoriesData) => all(data, borrowPoint),
      response: borrowApyHistories,
      errors: ALL_ERRORS,
      examples: [{ summary: 'All markets' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/markets/{id}/borrow-apy-history',
      surface: 'Public',
      summary: 'Borrow-APY history of one market',
      description:
        'Our own samples; the indexer fills days without samples. x is unix seconds, y a fraction. Of an equity vault the history of its stock market, which `marketId` names.',
      operation: 'BorrowApyHistory',
      tool: { name: 'get_borrow_apy_history', list: HISTORY_PAGE },
      params: byId,
      variables: ({ params: { id } }) => ({ id }),
      project: (data: HistoriesData, { params }) => one(data, params, borrowPoint),
      response: borrowApyHistory,
      errors: ONE_ERRORS,
      examples: [{ summary: 'sUSDe / PYUSD', params: { id: EXAMPLE_ID } }],
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/collateral/apy-history',
      surface: 'Public',
      summary: 'Collateral-APY history of all markets',
      description: 'Keyed by market id. ts is unix milliseconds, apy is in percent.',
      operation: 'CollateralApyHistories',
      params: ofChain,
      variables: chainsOf,
      project: (data: HistoriesData) => all(data, apyPoint),
      response: collateralApyHistories,
      errors: ALL_ERRORS,
      examples: [{ summary: 'All markets' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/collateral/{id}/apy-history',
      surface: 'Public',
      summary: 'Collateral-APY history of one market',
      description:
        'ts is unix milliseconds, apy is in percent. Of an equity vault the history of the market of its yield leg, which `marketId` names.',
      operation: 'CollateralApyHistory',
      tool: { name: 'get_collateral_apy_history', list: HISTORY_PAGE },
      params: byId,
      variables: ({ params: { id } }) => ({ id }),
      project: (data: HistoriesData, { params }) => one(data, params, apyPoint),
      response: collateralApyHistory,
      errors: ONE_ERRORS,
      examples: [{ summary: 'sUSDe / PYUSD', params: { id: EXAMPLE_ID } }],
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/markets/{id}/incentive-history',
      surface: 'Public',
      summary: 'Borrow-incentive APR history of one market',
      description:
        'A step function: each point holds until the next. ts is unix milliseconds, apr is in percent. Of an equity vault the history of its stock market, which `marketId` names.',
      operation: 'IncentiveHistory',
      tool: { name: 'get_incentive_history', list: HISTORY_PAGE },
      params: byId,
      variables: ({ params: { id } }) => ({ id }),
      project: (data: HistoriesData, { params }) => one(data, params, aprPoint),
      response: incentiveHistory,
      errors: ONE_ERRORS,
      examples: [{ summary: 'sUSDe / PYUSD', params: { id: EXAMPLE_ID } }],
    }),
  ];
}
