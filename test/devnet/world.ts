import type { MarketId } from '@morpho-org/blue-sdk';
import type { Hex } from 'viem';
import { afterAll, beforeAll } from 'vitest';
import type { LocalChain, LocalChains } from '../../devnet/chain/index.ts';
import { createOverlay } from '../../devnet/overlay.ts';
import { createCatalog, curatedChains, type Market } from '../../src/catalog/index.ts';
import { startPooledChains } from '../support/chain-pool.ts';

/** When the local chains of these tests begin. */
export const STARTED_AT = Date.UTC(2026, 8, 1, 12);

const overlay = createOverlay(STARTED_AT);
export const catalog = createCatalog(curatedChains, overlay);

/** Run the local chains for one test file, on free ports. */
export function useChains(chainIds: readonly number[] = catalog.chainIds): (chainId: number) => LocalChain {
  let running: LocalChains | undefined;
  beforeAll(async () => {
    const chains = catalog.chains.filter(({ chainId }) => chainIds.includes(chainId));
    running = await startPooledChains({ chains, mining: 'auto', clock: { now: () => STARTED_AT } });
  });
  afterAll(() => running?.stop());
  return (chainId) => {
    if (running === undefined) throw new Error('The local chains are not running');
    return running.on(chainId);
  };
}

/** The market's id in the SDK's brand. */
export function sdkId({ id }: Market): MarketId {
  return id as Hex as MarketId;
}
