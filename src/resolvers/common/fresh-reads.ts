import { MAX_AGE_BOUNDS, REFRESH_POINTS, WAIT_POINTS } from '../../shared/contract/fresh-reads.ts';
import { AppError, BadRequestError } from '../../shared/errors.ts';
import type { ChainId, Hex } from '../../shared/ids.ts';
import { momentOf } from './age.ts';
import type { AppContext } from './context.ts';
import {
  type FreshnessReceipt,
  type PinnedBlock,
  REFRESHABLE,
  type ReadAfterReceipt,
  type Refreshable,
  type RefreshOutcome,
  type WaitOutcome,
  type WaitStatus,
  type WaitTarget,
} from './read-services.ts';

/** How fresh a read has to be. */
export interface FreshArgs {
  /** Answer from the block of this transaction on. */
  readonly afterTx?: Hex | null | undefined;
  /** Answer from this block on. */
  readonly minBlock?: bigint | null | undefined;
  /** Measure facts again that are older, seconds. */
  readonly maxAge?: number | null | undefined;
}

/** The source of a field: chains live, or facts that were measured before. */
type Source = 'live' | 'facts';

/**
 * Wait and measure as a field requires, and add the receipt to the answer, which is then not cached.
 * @returns the block to read at, by chain; a chain without one is read at its newest block
 * @throws BadRequestError, RateLimitedError, ChainReadError
 */
async function makeFresh(
  field: string,
  args: FreshArgs,
  chainIds: readonly ChainId[],
  source: Source,
  ctx: AppContext,
): Promise<ReadonlyMap<ChainId, PinnedBlock>> {
  const { afterTx = null, minBlock = null, maxAge = null } = args;
  checkArgs(args, chainIds);
  const services = ctx.live();
  const target = targetOf(args);
  const freshness: FreshnessReceipt[] = [];
  let readAfter: ReadAfterReceipt | undefined;
  let blocks = NO_BLOCKS;
  if (target) {
    await ctx.client?.charge(WAIT_POINTS);
    const outcome = await services.blockWaits.wait(target, chainIds, clientOf(ctx));
    if (outcome.chainId !== null && outcome.block) blocks = new Map([[outcome.chainId, outcome.block]]);
    if (source === 'facts') freshness.push(...(await stateAfter(outcome, ctx)));
    readAfter = afterReceipt({ afterTx, minBlock }, outcome, source, ctx);
  }
  if (maxAge !== null) freshness.push(...(await youngFacts(maxAge, chainIds, freshness, ctx)));
  await Promise.all(chainIds.map((chainId) => services.caughtUp(chainId)));
  for (const chainId of chainIds) ctx.loaders.renew(chainId);
  for (const [chainId, block] of blocks) ctx.blocks.set(blockKey(chainId, block.number), block);
  ctx.receipts.push({ field, readAfter, freshness: freshness.length === 0 ? undefined : freshness });
  return blocks;
}

const NO_BLOCKS: ReadonlyMap<ChainId, PinnedBlock> = new Map();

/** The part of a field's execution that its place in the answer is read from. */
export interface FieldPath {
  readonly path: { readonly key: string | number; readonly prev: FieldPath['path'] | undefined };
}

/**
 * Answer a field as fresh as its arguments require; at once without them.
 * @param read gets the block to read at, by chain
 * @throws as `makeFresh`, and any error of the reading
 */
export function readFresh<T>(
  info: FieldPath,
  args: FreshArgs,
  chainIds: () => readonly ChainId[],
  source: Source,
  ctx: AppContext,
  read: (blocks: ReadonlyMap<ChainId, PinnedBlock>) => T | Promise<T>,
): T | Promise<T> {
  if (args.afterTx == null && args.minBlock == null && args.maxAge == null) return read(NO_BLOCKS);
  return makeFresh(fieldOf(info), args, chainIds(), source, ctx).then(read);
}

function fieldOf({ path: { key, prev } }: FieldPath): string {
  return prev === undefined ? String(key) : `${fieldOf({ path: prev })}.${key}`;
}

/** The block that a value of this request was read at, if the request named it; further values of it are read there too. */
export function blockOf(
  { chainId, readAt }: { readonly chainId: ChainId; readonly readAt: { readonly blockNumber: bigint } },
  ctx: AppContext,
): PinnedBlock | undefined {
  return ctx.blocks.get(blockKey(chainId, readAt.blockNumber));
}

function blockKey(chainId: ChainId, number: bigint): string {
  return `${chainId} ${number}`;
}

const TX_HASH = /^0x[0-9a-f]{64}$/;

/** @throws BadRequestError */
function checkArgs({ afterTx, minBlock, maxAge }: FreshArgs, chainIds: readonly ChainId[]): void {
  const refuse = (field: string, value: unknown, expectation: string, limit: Record<string, string | number>) => {
    throw new BadRequestError(`${field} is ${String(value)}. Send ${expectation}.`, {
      field,
      value: String(value),
      limit,
    });
  };
  if (afterTx != null && minBlock != null)
    refuse('minBlock', minBlock, 'afterTx or minBlock, not both', { maxEntries: 1 });
  if (afterTx != null && !TX_HASH.test(afterTx)) {
    refuse('afterTx', afterTx, 'the hash of a transaction: 0x followed by 64 hex characters', {
      pattern: TX_HASH.source,
    });
  }
  if (minBlock != null && minBlock < 0n) refuse('minBlock', minBlock, 'the number of a block', { min: 0 });
  if (minBlock != null && chainIds.length !== 1) {
    refuse('minBlock', minBlock, 'exactly one chain with it, because each chain counts its own blocks', { chains: 1 });
  }
  const { min, max } = MAX_AGE_BOUNDS;
  if (maxAge != null && (maxAge < min || maxAge > max))
    refuse('maxAge', maxAge, `${min} to ${max} seconds`, { min, max });
}

function targetOf({ afterTx, minBlock }: FreshArgs): WaitTarget | null {
  if (afterTx != null) return { kind: 'transaction', hash: afterTx };
  return minBlock == null ? null : { kind: 'block', number: minBlock };
}

function clientOf({ client, caller }: AppContext) {
  const tier = caller.kind === 'key' ? caller.tier : 'anonymous';
  const { identity = '', network } = client ?? {};
  return { identity, network, tier, signal: client?.left() } as const;
}

const REACHED: readonly WaitStatus[] = ['included', 'reverted', 'reached'];

function afterReceipt(
  { afterTx, minBlock }: { readonly afterTx: Hex | null; readonly minBlock: bigint | null },
  { status, chainId, targetBlock, block, waitedMs }: WaitOutcome,
  source: Source,
  ctx: AppContext,
): ReadAfterReceipt {
  const answered =
    source === 'live' ? (block?.number ?? null) : chainId === null ? null : ctx.services.refreshes.stateBlock(chainId);
  const isThere = targetBlock !== null && answered !== null && answered >= targetBlock;
  return {
    afterTx,
    minBlock: minBlock === null ? null : String(minBlock),
    status,
    reached: REACHED.includes(status) && isThere,
    chainId,
    targetBlock: targetBlock === null ? null : String(targetBlock),
    answeredAtBlock: answered === null ? null : String(answered),
    waitedMs,
    pointsCharged: WAIT_POINTS,
  };
}

/** Measure the market state again if it is of before the block that was waited for. */
async function stateAfter(outcome: WaitOutcome, ctx: AppContext): Promise<FreshnessReceipt[]> {
  const { chainId, targetBlock, status } = outcome;
  if (chainId === null || targetBlock === null || !REACHED.includes(status)) return [];
  const { refreshes } = ctx.services;
  const isDone = () => (refreshes.stateBlock(chainId) ?? -1n) >= targetBlock;
  return [await measured(chainId, 'market_state', isDone, ctx)];
}

/** Measure the facts again that are too old, each group of each chain once. */
async function youngFacts(
  maxAge: number,
  chainIds: readonly ChainId[],
  already: readonly FreshnessReceipt[],
  ctx: AppContext,
): Promise<FreshnessReceipt[]> {
  const { refreshes } = ctx.services;
  const wanted = chainIds
    .flatMap((chainId) => REFRESHABLE.map((group) => ({ chainId, group })))
    .filter(({ chainId, group }) => !already.some((one) => one.chainId === chainId && one.group === group));
  return Promise.all(
    wanted.map(({ chainId, group }) => {
      const isDone = () => (refreshes.measuredAtMs(chainId, group) ?? 0) >= momentOf(ctx) - maxAge * 1_000;
      return measured(chainId, group, isDone, ctx);
    }),
  );
}

/** Measure a group again unless it is good enough, within the budget of the client. */
async function measured(
  chainId: ChainId,
  group: Refreshable,
  isDone: () => boolean,
  ctx: AppContext,
): Promise<FreshnessReceipt> {
  const { outcome, pointsCharged } = await attempt(chainId, group, isDone, ctx);
  const asOfMs = ctx.services.refreshes.measuredAtMs(chainId, group);
  return {
    chainId,
    group,
    asOf: asOfMs === null ? null : new Date(asOfMs).toISOString(),
    ageSec: asOfMs === null ? null : Math.max(0, Math.floor((momentOf(ctx) - asOfMs) / 1_000)),
    refreshed: outcome === 'refreshed',
    outcome,
    pointsCharged,
  };
}

async function attempt(
  chainId: ChainId,
  group: Refreshable,
  isDone: () => boolean,
  ctx: AppContext,
): Promise<{ readonly outcome: RefreshOutcome; readonly pointsCharged: number }> {
  const { refreshes } = ctx.services;
  const free = (outcome: RefreshOutcome) => ({ outcome, pointsCharged: 0 });
  if (isDone()) return free('fresh');
  // Providers count requests by our key, not by the caller's address.
  if (group === 'prices' && ctx.caller.kind === 'anonymous') return free('key_required');
  if (refreshes.isTooRecent(chainId, group)) return free('too_recent');
  try {
    await ctx.client?.charge(REFRESH_POINTS);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code !== 'rate_limited') return free('unavailable');
    // A refused charge is counted, so that floods end. This request goes on, and costs what it says.
    await ctx.client?.refund(REFRESH_POINTS);
    return free('budget');
  }
  const outcome = await refreshes.refresh(chainId, group, isDone, ctx.client?.left());
  if (outcome === 'refreshed') return { outcome, pointsCharged: REFRESH_POINTS };
  await ctx.client?.refund(REFRESH_POINTS);
  return free(outcome);
}
