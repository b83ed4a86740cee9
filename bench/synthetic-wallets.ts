import { getAddress, type Hex, numberToHex, pad } from 'viem';
import type { Chain } from '../src/catalog/types.ts';
import type { PositionReader } from '../src/chain/positions.ts';
import type { Registration } from '../src/database/registrations.ts';
import type { HeldPosition, WalletHoldings } from '../src/domain/position/types.ts';
import { Decimal, ZERO } from '../src/shared/decimal.ts';
import type { Address } from '../src/shared/ids.ts';
import { DAY, NOW_MS } from '../test/domain/world.ts';

export const PER_WALLET = 5;

/** A wallet's positions: most are open, one is closed, some were liquidated. */
function positionsOf(chain: Chain, wallet: number, count = PER_WALLET): HeldPosition[] {
  const loops = chain.markets.filter(({ kind }) => kind === 'loop');
  return Array.from({ length: count }, (_, id): HeldPosition => {
    const market = loops[(wallet + id) % loops.length];
    if (!market) throw new Error('no market');
    const open = id !== 1;
    const holds = open && (wallet + id) % 23 !== 0;
    const unit = 10n ** BigInt(market.collateral.decimals);
    return {
      id,
      marketId: market.id,
      proxy: getAddress(pad(numberToHex(wallet * PER_WALLET + id + 1_000_000), { size: 20 })),
      open,
      depositedAssets: BigInt(1_000 + (wallet % 977)) * 10n ** BigInt(market.loan.decimals),
      returnedAssets: open ? 0n : 990n * 10n ** BigInt(market.loan.decimals),
      collateral: holds ? BigInt(4_000 + (wallet % 977)) * unit : 0n,
      borrowShares: holds ? 3_000n * 10n ** BigInt(market.loan.decimals + 6) : 0n,
    };
  });
}

/** Rows that agree with the chain, except for one position in fifty without a row. */
export function registrationsOf(chain: Chain, owners: readonly Address[]): Registration[] {
  return owners.flatMap((wallet, n) =>
    positionsOf(chain, n).flatMap(({ id, marketId, open, collateral }): Registration[] => {
      if ((n * PER_WALLET + id) % 50 === 0) return [];
      const isOpen = open && collateral > 0n;
      return [
        {
          wallet,
          chainId: chain.chainId,
          marketId,
          positionIndex: id,
          isOpen,
          depositedUsd: new Decimal(1_000),
          addedUsd: ZERO,
          removedUsd: ZERO,
          returnedUsd: ZERO,
          collateralApyPctAtOpen: new Decimal('6.1'),
          borrowApyPctAtOpen: new Decimal('3.9'),
          leverageApyPctAtOpen: new Decimal('14.2'),
          desiredLtvPct: new Decimal(80),
          entryPrice: new Decimal('1.07'),
          exitPrice: null,
          equityVaultId: null,
          createdAtMs: NOW_MS - 30 * DAY,
          updatedAtMs: NOW_MS - 30 * DAY,
          closedAtMs: isOpen ? null : NOW_MS - 2 * DAY,
        },
      ];
    }),
  );
}

/**
 * A chain reader with the holdings of all owners that answers at once and counts the requests of the real one.
 * @param sized further wallets, with their number of positions
 */
export function syntheticReader(
  chain: Chain,
  owners: readonly Address[],
  sized: ReadonlyMap<Address, number> = new Map(),
) {
  const held = new Map(owners.map((wallet, n) => [wallet, positionsOf(chain, n)]));
  for (const [wallet, count] of sized) held.set(wallet, positionsOf(chain, owners.length, count));
  const requests = { count: 0 };
  const block = { number: 100_000n, timestamp: BigInt(NOW_MS / 1_000) };
  const proxyCount = owners.length * PER_WALLET + 1;
  const reader: PositionReader = {
    chainId: chain.chainId,
    readProxyHead: async () => {
      requests.count += 3;
      return {
        block: { ...block, hash: `0x${'22'.repeat(32)}` as Hex, nodeIndex: 1 },
        proxyCount,
        finalCount: proxyCount,
        genesisHash: `0x${'11'.repeat(32)}` as Hex,
      };
    },
    readProxyOwners: async (nonces) => {
      if (nonces.length > 0) requests.count += 1;
      const ownerOf = (nonce: number) => (nonce === 1 ? null : (owners[(nonce - 2) % owners.length] ?? null));
      return { owners: new Map(nonces.map((nonce) => [nonce, ownerOf(nonce)])), failures: new Map() };
    },
    readHoldings: async (wallets) => {
      requests.count += 2;
      const values = wallets.map((wallet): [Address, WalletHoldings] => {
        const positions = held.get(wallet) ?? [];
        return [wallet, { chainId: chain.chainId, wallet, block, positions, stocks: [] }];
      });
      return { block, wallets: { values: new Map(values), failures: new Map() } };
    },
  };
  return { reader, requests };
}

/** A history of drift that keeps nothing. */
export const noDriftHistory = {
  known: async () => new Map(),
  record: async () => {},
  list: async () => ({ records: [], totalCount: 0, hasPreviousPage: false, hasNextPage: false }),
};
