import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap, Stamp } from '../../domain/freshness/types.ts';
import { type Decimal, ZERO } from '../../shared/decimal.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { RatePoint } from '../../shared/rate-history.ts';
import type { AppContext } from '../common/context.ts';
import type { TvlSample } from '../common/services.ts';
import { selectChains } from './chains.ts';
import { downsample, type Resolution } from './downsample.ts';
import { type HistoryArgs, rangeOf } from './histories.ts';

export interface TvlPoint {
  readonly atMs: number;
  readonly grossTvlUsd: Decimal;
  readonly borrowedUsd: Decimal;
}

export interface TvlHistory {
  readonly chainIds: readonly ChainId[];
  readonly range: { readonly fromMs: number; readonly toMs: number };
  readonly resolution: Resolution;
  /** Of the chain whose newest sample is the oldest; `null` = a chain has none. */
  readonly stamp: Stamp | null;
  readonly points: readonly TvlPoint[];
  readonly gaps: readonly Gap[];
}

export interface TvlHistoryArgs extends HistoryArgs {
  readonly chainIds?: readonly ChainId[] | null | undefined;
}

const AMOUNTS = ['grossTvlUsd', 'borrowedUsd'] as const;

/**
 * Read the TVL over time. A bucket in which a requested chain has no sample is left out: its sum would be too small.
 * @throws BadRequestError, UpstreamUnavailableError
 */
export async function readTvlHistory(args: TvlHistoryArgs, ctx: AppContext): Promise<TvlHistory> {
  const chainIds = selectChains(ctx, args.chainIds).map(({ chainId }) => chainId);
  const range = rangeOf(args, ctx, chainIds.length);
  const samples = await ctx.live().tvlSamples.since(chainIds, range.fromMs);
  const newest = chainIds.map((chainId) => samples.findLast((sample) => sample.chainId === chainId)?.atMs);
  const missing = chainIds.filter((_chainId, i) => newest[i] === undefined);
  const times = newest.filter((atMs) => atMs !== undefined);
  // Samples of chains are some seconds apart: they are added by the hour.
  const resolution = args.resolution === 'RAW' && chainIds.length > 1 ? 'HOUR' : args.resolution;
  const perChain = chainIds.map((chainId) => {
    const own = samples.filter((sample) => sample.chainId === chainId && sample.atMs < range.toMs);
    return AMOUNTS.map((name) => byTime(own, name, resolution, args));
  });
  return {
    chainIds,
    range,
    resolution,
    stamp:
      missing.length > 0 ? null : { asOfMs: Math.min(...times), staleAfterSec: ctx.services.budgets.borrowHistory },
    points: missing.length > 0 ? [] : added(perChain),
    gaps:
      missing.length > 0 ? ['points', 'freshness'].map((field) => gap(field, 'NOT_MEASURED', lacking(missing))) : [],
  };
}

function lacking(chainIds: readonly ChainId[]): string {
  return `No TVL of chain ${chainIds.join(', ')} was kept since the begin of the range. Ask for the other chains alone.`;
}

function byTime(
  samples: readonly TvlSample[],
  name: (typeof AMOUNTS)[number],
  resolution: Resolution,
  { downsampling }: HistoryArgs,
): ReadonlyMap<number, Decimal> {
  const points = samples.map((sample): RatePoint => ({ atMs: sample.atMs, ratePct: sample[name] }));
  return new Map(downsample(points, resolution, downsampling).map(({ atMs, ratePct }) => [atMs, ratePct]));
}

/** Add the chains at the times that all of them have. */
function added(perChain: readonly (readonly ReadonlyMap<number, Decimal>[])[]): readonly TvlPoint[] {
  const times = [...(perChain[0]?.[0]?.keys() ?? [])].filter((atMs) => perChain.every(([gross]) => gross?.has(atMs)));
  const sum = (i: number, atMs: number) => perChain.reduce((total, of) => total.plus(of[i]?.get(atMs) ?? ZERO), ZERO);
  return times.map((atMs) => ({ atMs, grossTvlUsd: sum(0, atMs), borrowedUsd: sum(1, atMs) }));
}
