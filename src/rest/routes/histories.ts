import { z } from 'zod';
import { NotFoundError } from '../../shared/errors.ts';
import type {
  BorrowApyHistoriesQuery,
  BorrowApyHistoryQuery,
  CollateralApyHistoriesQuery,
  CollateralApyHistoryQuery,
  IncentiveHistoryQuery,
} from '../generated/operations.ts';
import { chainIdChoice, marketIdParam } from '../schemas/common.ts';
import {
  borrowApyHistories,
  borrowApyHistory,
  collateralApyHistories,
  collateralApyHistory,
  incentiveHistory,
} from '../schemas/reads.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { PUBLIC_ERRORS, type RouteOptions } from './shared.ts';

interface RatePoint {
  readonly atMs: number;
  readonly ratePct: string;
}
interface FractionPoint {
  readonly atSec: number;
  readonly fraction: string;
}
interface Series<P> {
  readonly id: string;
  readonly asOf: string | null;
  readonly stale: boolean;
  readonly points: readonly P[];
  readonly gap: HistoryGap | null;
}
interface HistoryGap {
  readonly reason: string;
  readonly message: string;
}

const borrowPoint = ({ atSec, fraction }: FractionPoint) => ({ x: atSec, y: Number(fraction) });
const apyPoint = ({ atMs, ratePct }: RatePoint) => ({ ts: atMs, apy: Number(ratePct) });
const aprPoint = ({ atMs, ratePct }: RatePoint) => ({ ts: atMs, apr: Number(ratePct) });

function one<P>(series: Series<P> | null, id: string, point: (value: P) => unknown): unknown {
  if (!series) {
    throw new NotFoundError(`No market has the id ${id}. The ids are listed in /v1/app/markets.`, {
      resource: 'market',
      id,
    });
  }
  return {
    id: series.id,
    asOf: series.asOf,
    stale: series.stale,
    history: series.points.map(point),
    gap: series.gap ? gapOf(series.gap) : undefined,
  };
}

function all<P>(
  answer: {
    readonly asOf: string | null;
    readonly stale: boolean;
    readonly items: readonly Pick<Series<P>, 'id' | 'points' | 'gap'>[];
  },
  point: (value: P) => unknown,
): unknown {
  const gaps = answer.items.flatMap(({ id, gap }) => (gap ? [[id, gapOf(gap)] as const] : []));
  return {
    asOf: answer.asOf,
    stale: answer.stale,
    // Unknown histories are left out, because an empty list would mean that there was none.
    histories: Object.fromEntries(
      answer.items.flatMap(({ id, points, gap }) => (gap && !KNOWN.has(gap.reason) ? [] : [[id, points.map(point)]])),
    ),
    gaps: gaps.length === 0 ? undefined : Object.fromEntries(gaps),
  };
}

/** Reasons of known absence: there is no history. */
const KNOWN: ReadonlySet<string> = new Set(['NONE', 'NOT_APPLICABLE']);

function gapOf({ reason, message }: HistoryGap): HistoryGap {
  return { reason, message };
}

const byId = z.object({ id: marketIdParam });
const chainsOf = ({ params }: { readonly params: { readonly chainId?: number | undefined } }) =>
  params.chainId === undefined ? {} : { chainIds: [params.chainId] };
const EXAMPLE_ID = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const ONE_ERRORS = [...PUBLIC_ERRORS, 'not_found', 'upstream_unavailable'] as const;
const ALL_ERRORS = [...PUBLIC_ERRORS, 'upstream_unavailable'] as const;

export function historyRoutes({ chainIds }: RouteOptions): AnyRoute[] {
  const ofChain = z.object({
    chainId: chainIdChoice(chainIds)
      .optional()
      .describe('Limits the answer to markets of this chain; all chains when left out.'),
  });
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
      project: (data: BorrowApyHistoriesQuery) => all(data.borrowApyHistories, borrowPoint),
      response: borrowApyHistories,
      errors: ALL_ERRORS,
      examples: [{ summary: 'All markets' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/markets/{id}/borrow-apy-history',
      surface: 'Public',
      summary: 'Borrow-APY history of one market',
      description: 'Our own samples; the indexer fills days without samples. x is unix seconds, y a fraction.',
      operation: 'BorrowApyHistory',
      params: byId,
      variables: ({ params }) => ({ id: params.id }),
      project: (data: BorrowApyHistoryQuery, { params }) => one(data.borrowApyHistory, params.id, borrowPoint),
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
      project: (data: CollateralApyHistoriesQuery) => all(data.collateralApyHistories, apyPoint),
      response: collateralApyHistories,
      errors: ALL_ERRORS,
      examples: [{ summary: 'All markets' }, { summary: 'Robinhood Chain', query: { chainId: '4663' } }],
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/collateral/{id}/apy-history',
      surface: 'Public',
      summary: 'Collateral-APY history of one market',
      description: 'ts is unix milliseconds, apy is in percent.',
      operation: 'CollateralApyHistory',
      params: byId,
      variables: ({ params }) => ({ id: params.id }),
      project: (data: CollateralApyHistoryQuery, { params }) => one(data.collateralApyHistory, params.id, apyPoint),
      response: collateralApyHistory,
      errors: ONE_ERRORS,
      examples: [{ summary: 'sUSDe / PYUSD', params: { id: EXAMPLE_ID } }],
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/markets/{id}/incentive-history',
      surface: 'Public',
      summary: 'Borrow-incentive APR history of one market',
      description: 'A step function: each point holds until the next. ts is unix milliseconds, apr is in percent.',
      operation: 'IncentiveHistory',
      params: byId,
      variables: ({ params }) => ({ id: params.id }),
      project: (data: IncentiveHistoryQuery, { params }) => one(data.incentiveHistory, params.id, aprPoint),
      response: incentiveHistory,
      errors: ONE_ERRORS,
      examples: [{ summary: 'sUSDe / PYUSD', params: { id: EXAMPLE_ID } }],
    }),
  ];
}
