import type { Chain } from '../../catalog/types.ts';
import type { Position, PositionStatus } from '../../domain/position/types.ts';
import type { ComposedWallet } from '../../domain/position/wallet.ts';
import { ZERO } from '../../shared/decimal.ts';
import { AppError, NotReadyError } from '../../shared/errors.ts';
import type { Address, ChainId } from '../../shared/ids.ts';
import type { AppContext } from '../common/context.ts';
import { type FieldPath, type FreshArgs, readFresh } from '../common/fresh-reads.ts';
import { type Page, type PageArgs, pageByRank } from '../common/page.ts';
import type { PinnedBlock } from '../common/read-services.ts';
import { type MissingChain, notReadyChain, selectChains } from '../market/chains.ts';
import { checkAddresses, readWallet, withStatus } from './positions.ts';

/** A wallet's holdings on the requested chains. */
export interface WalletView {
  readonly address: Address;
  /** The requested ones, in catalog order: part of its identity. */
  readonly chainIds: readonly ChainId[];
  /** One per chain that could be read. */
  readonly readings: readonly ComposedWallet[];
  readonly missingChains: readonly MissingChain[];
}

export interface WalletArgs {
  readonly address: Address;
  readonly chainIds?: readonly ChainId[] | null | undefined;
  /** Blocks to read at, by chain; absent for a chain: the newest one. */
  readonly blocks?: ReadonlyMap<ChainId, PinnedBlock> | undefined;
}

/**
 * Read a wallet on several chains; one that cannot be read is reported, and the others are answered.
 * @throws BadRequestError; the error of the first chain when all of them fail
 */
async function showWallet({ address, chainIds, blocks }: WalletArgs, ctx: AppContext): Promise<WalletView> {
  const chains = selectChains(ctx, chainIds);
  const read = await Promise.allSettled(
    chains.map(({ chainId }) => readWallet({ address, chainId, block: blocks?.get(chainId) }, ctx)),
  );
  const readings = read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failures = read.flatMap((one, i) =>
    one.status === 'rejected' ? [{ chain: chains[i] as Chain, error: one.reason as unknown }] : [],
  );
  if (readings.length === 0 && failures[0]) throw failures[0].error;
  return {
    address,
    chainIds: chains.map(({ chainId }) => chainId),
    readings,
    missingChains: failures.map(({ chain, error }) => missingChain(chain.chainId, error)),
  };
}

/** Report a chain on which a wallet cannot be read now. @throws any error that is not a passing failure */
export function missingChain(chainId: ChainId, error: unknown): MissingChain {
  if (error instanceof NotReadyError) return notReadyChain(chainId, error);
  if (!(error instanceof AppError) || !error.retryable) throw error;
  const { message, retryAfterSec = null } = error;
  return { chainId, reason: 'upstream_unavailable', message, retryAfterSec, waitingFor: [] };
}

interface WalletsArgs extends Omit<WalletArgs, 'address'> {
  readonly addresses: readonly Address[];
}

/** Read wallets in the requested order; each is a separate promise, so that one failure does not affect the others. @throws BadRequestError */
export function showWallets({ addresses, ...on }: WalletsArgs, ctx: AppContext): Promise<WalletView>[] {
  checkAddresses(addresses);
  selectChains(ctx, on.chainIds);
  return addresses.map((address) => showWallet({ address, ...on }, ctx));
}

/** Read a wallet as fresh as required. @throws as `showWallet` and `readFresh` */
export function freshWallet(
  args: WalletArgs & FreshArgs,
  ctx: AppContext,
  info: FieldPath,
): WalletView | Promise<WalletView> {
  return readFresh(
    info,
    args,
    () => chainIdsOf(args, ctx),
    'live',
    ctx,
    (blocks) => showWallet({ ...args, blocks }, ctx),
  );
}

/** Read wallets as fresh as required, all at one block of a chain. @throws as `showWallets` and `readFresh` */
export function freshWallets(args: WalletsArgs & FreshArgs, ctx: AppContext, info: FieldPath) {
  checkAddresses(args.addresses);
  return readFresh(
    info,
    args,
    () => chainIdsOf(args, ctx),
    'live',
    ctx,
    (blocks) => showWallets({ ...args, blocks }, ctx),
  );
}

function chainIdsOf({ chainIds }: Pick<WalletArgs, 'chainIds'>, ctx: AppContext): readonly ChainId[] {
  return selectChains(ctx, chainIds).map(({ chainId }) => chainId);
}

interface PositionsArgs extends PageArgs {
  readonly statuses?: readonly PositionStatus[] | null | undefined;
}

/** More than any wallet has on a chain. */
const MAX_INDEX = 9_999_999;

/** Cut a page out of the plain positions of a wallet, chain by chain, newest first. @throws BadRequestError */
export function positionsOf(
  { readings, missingChains }: WalletView,
  args: PositionsArgs,
  ctx: AppContext,
): Page<Position> & { readonly asOfMs: number | null; readonly missingChains: readonly MissingChain[] } {
  const { chainIds } = ctx.services.catalog;
  const entries = readings.flatMap(({ positions }) => withStatus(positions, args.statuses));
  const rankOf = ({ chainId, id }: Position) => chainIds.indexOf(chainId) * (MAX_INDEX + 1) + MAX_INDEX - id;
  const times = readings.map(({ block }) => Number(block.timestamp) * 1_000);
  return {
    ...pageByRank(entries, rankOf, args, ctx.maxPageSize, 'positions'),
    asOfMs: times.length === 0 ? null : Math.min(...times),
    missingChains,
  };
}

/** Sum the net values of what a wallet holds; `null` = one of them is not known. */
export function netValueUsdOf({ readings, missingChains }: WalletView): string | null {
  const values = readings.flatMap(({ positions, equityPositions }) => [
    ...positions.filter(({ open }) => open).map(({ netValueUsd }) => netValueUsd),
    ...equityPositions.map(({ netValueUsd }) => netValueUsd),
  ]);
  if (missingChains.length > 0 || values.some((value) => value == null)) return null;
  return values.reduce((sum, value) => sum.plus(value ?? 0), ZERO).toFixed(2);
}

const JOINT = '+';

/** Name the chains of a wallet in its global id. */
export function chainsKey({ chainIds }: Pick<WalletView, 'chainIds'>): string {
  return chainIds.join(JOINT);
}

/** Find a wallet by its identity; `null` = the chains are none that an id names. @throws as `showWallet` */
export async function findWallet(chains: string, address: Address, ctx: AppContext): Promise<WalletView | null> {
  const chainIds = chains.split(JOINT).map(Number);
  if (!chainIds.every((chainId) => Number.isSafeInteger(chainId) && chainId > 0)) return null;
  return showWallet({ address, chainIds }, ctx);
}
