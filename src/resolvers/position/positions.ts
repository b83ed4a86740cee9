import type { EquityVault, Market } from '../../catalog/types.ts';
import type { EquityPosition } from '../../domain/equity/position.ts';
import type { Gap } from '../../domain/freshness/types.ts';
import { strategiesById } from '../../domain/market/lookup.ts';
import type { Position, PositionStatus } from '../../domain/position/types.ts';
import { type ComposedWallet, composeWallet } from '../../domain/position/wallet.ts';
import type { Strategy } from '../../domain/strategy/types.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { type Address, type ChainId, formatValue, type PositionName, type StrategyId } from '../../shared/ids.ts';
import { buildManualExit, buildSetAuthorization, type ProxyOwner } from '../../transactions/index.ts';
import { type CallView, formatCalls } from '../common/calls.ts';
import type { AppContext } from '../common/context.ts';
import type { PinnedBlock } from '../common/read-services.ts';
import { readComposed, requireChain } from '../market/chains.ts';

/** Wallets of one list: they cost a constant number of RPC requests, but each takes its place in the answer. */
export const MAX_WALLETS = 200;

/**
 * Read one wallet, live from the chain, at a block or at the newest one.
 * @throws BadRequestError, NotReadyError, ChainReadError, UpstreamUnavailableError
 */
export async function readWallet(
  args: { readonly address: Address; readonly chainId: ChainId; readonly block?: PinnedBlock | undefined },
  ctx: AppContext,
): Promise<ComposedWallet> {
  const chain = requireChain(ctx, args.chainId);
  readComposed(ctx, chain.chainId);
  const { holdings, tags } = await ctx.loaders.wallet.load({
    chainId: chain.chainId,
    wallet: args.address,
    block: args.block,
  });
  return composeWallet(chain, ctx.loaders.marketsAt(chain.chainId, holdings.markets), holdings, tags);
}

/**
 * Tell whose position an address holds, where it is no wallet but the contract of a position. Such a contract has nothing
 * of its own, so only an empty wallet is asked.
 * @throws ChainReadError
 */
export async function proxyOwnerOf(
  { chainId, wallet, positions, equityPositions }: ComposedWallet,
  ctx: AppContext,
): Promise<ProxyOwner | null> {
  if (positions.length > 0 || equityPositions.length > 0) return null;
  return ctx.loaders.proxyOwner.load({ chainId, wallet });
}

/** Check the number of requested wallets. @throws BadRequestError */
export function checkAddresses(addresses: readonly Address[]): void {
  if (addresses.length > 0 && addresses.length <= MAX_WALLETS) return;
  throw new BadRequestError(`addresses has ${addresses.length} entries. Send 1 to ${MAX_WALLETS} at a time.`, {
    field: 'addresses',
    value: String(addresses.length),
    limit: { min: 1, max: MAX_WALLETS },
  });
}

/** Keep the positions with one of the statuses; all when none is named. */
export function withStatus(
  positions: readonly Position[],
  status: readonly PositionStatus[] | null | undefined,
): Position[] {
  return positions.filter((position) => status == null || status.includes(position.status));
}

/** Count the requested wallets: the multiplier of the cost. Never throws. */
export function requestedWallets({ addresses }: { readonly addresses: readonly unknown[] }): number {
  return Math.min(MAX_WALLETS, Math.max(1, addresses.length));
}

/** Build the calls that end a position in manual mode; `null` = it is in none, or its market is not known. */
export function manualModeCalls(
  { chainId, wallet, proxy, marketId, manual }: Position,
  ctx: AppContext,
): CallView[] | null {
  const chain = ctx.services.catalog.chain(chainId);
  const market = ctx.services.catalog.market(chainId, marketId);
  if (!manual || !chain || !market) return null;
  return formatCalls(buildManualExit(chain, market, { user: wallet, proxy, holding: manual }), wallet);
}

/** An authorization left by an unfinished batch. */
export interface LeftAuthorization {
  readonly authorized: Address;
  /** Takes it back. */
  readonly call: CallView;
}

/** Build the calls that revoke the rights left by a wallet's unfinished batches; `null` = the node did not answer. */
export function leftAuthorizations(
  { chainId, wallet, leftAuthorizations: left }: ComposedWallet,
  ctx: AppContext,
): LeftAuthorization[] | null {
  const { contracts } = requireChain(ctx, chainId);
  if (!left) return null;
  return left.flatMap((authorized) =>
    formatCalls([buildSetAuthorization(contracts, { authorized, newIsAuthorized: false })], wallet).map((call) => ({
      authorized,
      call,
    })),
  );
}

/** Give the reason why the authorizations of a wallet are unknown. */
export function walletGaps({ leftAuthorizations: left }: ComposedWallet): Gap[] {
  return left ? [] : [UNKNOWN_AUTHORIZATIONS];
}
const UNKNOWN_AUTHORIZATIONS: Gap = {
  field: 'leftAuthorizations',
  reason: 'NOT_MEASURED',
  message: 'The lending protocol did not tell whether a router of the product may act for the wallet.',
};

/** Find a position by its identity, a vault's loops included; `null` = the wallet has none of that index. @throws as `readWallet` */
export async function findPosition(
  { chainId, wallet, index }: { readonly chainId: ChainId; readonly wallet: Address; readonly index: number },
  ctx: AppContext,
): Promise<Position | null> {
  const { positions, equityPositions } = await readWallet({ address: wallet, chainId }, ctx);
  const all = [...positions, ...equityPositions.flatMap(({ yieldLoops }) => yieldLoops)];
  return all.find(({ id }) => id === index) ?? null;
}

/** Find the position that an id names. @throws BadRequestError for an id without its chain or its owner, and as `readWallet` */
export async function readPosition(
  { id, wallet }: { readonly id: PositionName; readonly wallet?: Address | null | undefined },
  ctx: AppContext,
): Promise<Position | null> {
  const at = requirePlace(id, wallet, 'id', ctx);
  const position = await findPosition(at, ctx);
  if (!position || id.marketId === undefined || id.marketId === position.marketId) return position;
  throw new BadRequestError(
    `Position ${id.index} of ${at.wallet} on chain ${at.chainId} has the positionId ${position.positionId}, not ${formatValue(id.text)}. Send that.`,
    { field: 'id', value: formatValue(id.text) },
  );
}

/** Complete the place of a position by its owner. @throws BadRequestError for an id without its chain, and for no owner or another one */
export function requirePlace(
  { chainId, wallet: owner, index, text }: PositionName,
  wallet: Address | null | undefined,
  field: string,
  ctx: AppContext,
): { readonly chainId: ChainId; readonly wallet: Address; readonly index: number } {
  const value = formatValue(text);
  if (chainId === undefined) {
    throw new BadRequestError(`${field} ${value} names no chain. Send {chainId}-${value}, or the positionId.`, {
      field,
      value,
    });
  }
  requireChain(ctx, chainId, field);
  if (owner === undefined) {
    if (wallet != null) return { chainId, wallet, index };
    throw new BadRequestError(`${field} ${value} names no owner. Send wallet too, or the global id of the position.`, {
      field: 'wallet',
    });
  }
  if (wallet == null || wallet === owner) return { chainId, wallet: owner, index };
  throw new BadRequestError(
    `wallet ${wallet} contradicts ${field}, which is a position of ${owner}. Send wallet ${owner}.`,
    { field: 'wallet', value: wallet, limit: { oneOf: [owner] } },
  );
}

/** Find an open vault of a wallet; `null` = it has none. @throws as `readWallet` */
export async function findEquityPosition(
  { chainId, wallet, strategyId }: Pick<EquityPosition, 'chainId' | 'wallet' | 'strategyId'>,
  ctx: AppContext,
): Promise<EquityPosition | null> {
  const { equityPositions } = await readWallet({ address: wallet, chainId }, ctx);
  return equityPositions.find((position) => position.strategyId === strategyId) ?? null;
}

/** The tokens of a position; `null` = its market is not in the catalog. */
export function tokensOfPosition(
  { chainId, marketId }: Pick<Position, 'chainId' | 'marketId'>,
  ctx: AppContext,
): Pick<Market, 'collateral' | 'loan'> | null {
  return ctx.services.catalog.market(chainId, marketId) ?? null;
}

/** Find the vault of a position or deposit: both are made from the catalog. */
export function vaultOf(
  { chainId, strategyId }: Pick<EquityPosition, 'chainId' | 'strategyId'>,
  ctx: AppContext,
): EquityVault {
  const vault = ctx.services.catalog.vault(chainId, strategyId);
  if (vault) return vault;
  throw new Error(`the vault ${strategyId} is not in the catalog`);
}

/** Find the strategy of a position; `null` while it is not composed. */
export function strategyOf(
  { chainId, strategyId }: { readonly chainId: ChainId; readonly strategyId: StrategyId },
  ctx: AppContext,
): Strategy | null {
  return strategiesById(ctx.loaders.composed(chainId)).get(strategyId) ?? null;
}
