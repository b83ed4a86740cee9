import type { Chain } from '../../catalog/types.ts';
import type { ComposedWallet } from '../../domain/position/wallet.ts';
import { MOMENTS } from '../../domain/strategy/fingerprint.ts';
import type { ChainId } from '../../shared/ids.ts';
import type { AppContext } from '../common/context.ts';
import { type MissingChain, requireChain, selectChains } from '../market/chains.ts';
import { follow } from '../strategy/subscriptions.ts';
import { readWallet } from './positions.ts';
import { missingChain, type WalletArgs, type WalletView } from './wallets.ts';

export interface WalletChange {
  readonly chain: Chain;
  /** Of the facts that the wallet was valued with. */
  readonly version: number;
  /** Time of the block of the latest reading; `null` = there was none yet. */
  readonly asOfMs: number | null;
  /** Why it cannot be read now; `null` = it was read. */
  readonly missing: MissingChain | null;
  /** On this chain alone, as it was read last. */
  readonly wallet: WalletView | null;
}

/**
 * Follow the holdings of a wallet: first as they are, chain by chain, then whenever they read differently after a refresh of
 * market state, and when they cannot be read or can be read again. @throws BadRequestError, RateLimitedError, NotReadyError
 */
export function watchWallet(args: WalletArgs, ctx: AppContext): AsyncIterableIterator<WalletChange> {
  const chainIds = selectChains(ctx, args.chainIds).map(({ chainId }) => chainId);
  const sent = new Map<ChainId, { readonly state: string; readonly reading: ComposedWallet | null }>();
  const options = { caller: ctx.caller, groups: ['lendingState'] } as const;
  return follow(ctx.live().changes.open('walletChanged', chainIds, options), ctx, async (event) => {
    const read = await Promise.allSettled(
      event.chainIds.map((chainId) => readWallet({ address: args.address, chainId }, ctx)),
    );
    return read.flatMap((one, i) => {
      const chainId = event.chainIds[i] as ChainId;
      const before = sent.get(chainId);
      const missing = one.status === 'rejected' ? missingChain(chainId, one.reason) : null;
      const reading = one.status === 'fulfilled' ? one.value : (before?.reading ?? null);
      const state = `${missing?.reason} ${reading && holdingOf(reading)}`;
      sent.set(chainId, { state, reading });
      if (before?.state === state) return [];
      const { version } = ctx.loaders.facts(chainId);
      const asOfMs = reading && Number(reading.block.timestamp) * 1_000;
      const wallet = reading && {
        address: args.address,
        chainIds: [chainId],
        readings: [reading],
        missingChains: missing ? [missing] : [],
      };
      return [{ chain: requireChain(ctx, chainId), version, asOfMs, missing, wallet }];
    });
  });
}

/** The content of a wallet without the time of its reading. */
function holdingOf({ positions, equityPositions }: ComposedWallet): string {
  return JSON.stringify([positions, equityPositions], (key, value: unknown) =>
    MOMENTS.has(key) ? undefined : typeof value === 'bigint' ? value.toString() : value,
  );
}
