import { type Address, type PublicClient, parseAbi } from 'viem';
import type { Chain, Market } from '../../src/catalog/index.ts';
import type { MarketId } from '../../src/shared/ids.ts';

const morphoAbi = parseAbi([
  'struct MarketState { uint128 totalSupplyAssets; uint128 totalSupplyShares; uint128 totalBorrowAssets; uint128 totalBorrowShares; uint128 lastUpdate; uint128 fee; }',
  'struct Position { uint256 supplyShares; uint128 borrowShares; uint128 collateral; }',
  'function market(bytes32 id) view returns (MarketState)',
  'function position(bytes32 id, address user) view returns (Position)',
]);
const irmAbi = parseAbi([
  'struct MarketParams { address loanToken; address collateralToken; address oracle; address irm; uint256 lltv; }',
  'struct MarketState { uint128 totalSupplyAssets; uint128 totalSupplyShares; uint128 totalBorrowAssets; uint128 totalBorrowShares; uint128 lastUpdate; uint128 fee; }',
  'function borrowRateView(MarketParams marketParams, MarketState market) view returns (uint256)',
]);
const vaultAbi = parseAbi([
  'function name() view returns (string)',
  'function withdrawQueue(uint256) view returns (bytes32)',
  'function withdrawQueueLength() view returns (uint256)',
  'function config(bytes32 id) view returns (uint184 cap, bool enabled, uint64 removableAt)',
]);
const allocatorAbi = parseAbi([
  'function fee(address vault) view returns (uint256)',
  'function flowCaps(address vault, bytes32 id) view returns (uint128 maxIn, uint128 maxOut)',
]);

const SECONDS_PER_YEAR = 31_536_000;
const VIRTUAL_SHARES = 1_000_000n;
const VIRTUAL_ASSETS = 1n;

export interface MarketNow {
  readonly totalSupplyAssets: bigint;
  readonly totalBorrowAssets: bigint;
  /** Fractions per year. */
  readonly borrowApy: number;
  readonly supplyApy: number;
}

export interface SharedLiquiditySource {
  readonly vault: Address;
  readonly vaultName: string;
  readonly feeWei: bigint;
  readonly withdrawMarketId: MarketId;
  readonly assets: bigint;
}

export interface LendingReader {
  now(market: Market): Promise<MarketNow>;
  /** Liquidity that the public allocator can move into the market at this block, all sources. Empty without an allocator. */
  sharedLiquidity(market: Market): Promise<readonly SharedLiquiditySource[]>;
}

interface VaultMarket {
  readonly id: MarketId;
  readonly supplied: bigint;
  readonly liquidity: bigint;
  readonly cap: bigint;
  readonly maxIn: bigint;
  readonly maxOut: bigint;
}

interface VaultNow {
  readonly address: Address;
  readonly name: string;
  readonly feeWei: bigint;
  readonly markets: readonly VaultMarket[];
}

/** Read the lending protocol in the form of its indexer. */
export function createLendingReader(client: PublicClient, chain: Chain, vaults: readonly Address[]): LendingReader {
  const { morphoBlue, publicAllocator } = chain.contracts;
  const stateOf = (id: MarketId) =>
    client.readContract({ address: morphoBlue, abi: morphoAbi, functionName: 'market', args: [id] });

  async function readVaultMarket(allocator: Address, vault: Address, id: MarketId): Promise<VaultMarket> {
    const [state, position, [cap], [maxIn, maxOut]] = await Promise.all([
      stateOf(id),
      client.readContract({ address: morphoBlue, abi: morphoAbi, functionName: 'position', args: [id, vault] }),
      client.readContract({ address: vault, abi: vaultAbi, functionName: 'config', args: [id] }),
      client.readContract({ address: allocator, abi: allocatorAbi, functionName: 'flowCaps', args: [vault, id] }),
    ]);
    const assets = state.totalSupplyAssets + VIRTUAL_ASSETS;
    const supplied = (position.supplyShares * assets) / (state.totalSupplyShares + VIRTUAL_SHARES);
    return { id, supplied, liquidity: state.totalSupplyAssets - state.totalBorrowAssets, cap, maxIn, maxOut };
  }

  async function readVault(allocator: Address, address: Address): Promise<VaultNow> {
    const [name, length, feeWei] = await Promise.all([
      client.readContract({ address, abi: vaultAbi, functionName: 'name' }),
      client.readContract({ address, abi: vaultAbi, functionName: 'withdrawQueueLength' }),
      client.readContract({ address: allocator, abi: allocatorAbi, functionName: 'fee', args: [address] }),
    ]);
    const ids = await Promise.all(
      Array.from({ length: Number(length) }, (_, i) =>
        client.readContract({ address, abi: vaultAbi, functionName: 'withdrawQueue', args: [BigInt(i)] }),
      ),
    );
    const markets = await Promise.all(ids.map((id) => readVaultMarket(allocator, address, id as MarketId)));
    return { address, name, feeWei, markets };
  }

  // Thirty markets of one request read the same vaults, so they share one reading.
  let reading: Promise<readonly VaultNow[]> | undefined;
  const readVaults = (allocator: Address): Promise<readonly VaultNow[]> => {
    reading ??= Promise.all(vaults.map((vault) => readVault(allocator, vault))).finally(() => {
      reading = undefined;
    });
    return reading;
  };

  return {
    async now(market) {
      const state = await stateOf(market.id);
      const { loan, collateral, oracle, irm, lltv } = market;
      const rate = await client.readContract({
        address: irm,
        abi: irmAbi,
        functionName: 'borrowRateView',
        args: [{ loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv }, state],
      });
      const borrowApy = Math.expm1((Number(rate) / 1e18) * SECONDS_PER_YEAR);
      const utilization =
        state.totalSupplyAssets === 0n ? 0 : Number(state.totalBorrowAssets) / Number(state.totalSupplyAssets);
      return {
        totalSupplyAssets: state.totalSupplyAssets,
        totalBorrowAssets: state.totalBorrowAssets,
        borrowApy,
        supplyApy: borrowApy * utilization * (1 - Number(state.fee) / 1e18),
      };
    },

    async sharedLiquidity(market) {
      return publicAllocator === undefined ? [] : shareOut(market.id, await readVaults(publicAllocator));
    },
  };
}

/**
 * For each vault, the amount that each of its other markets can give: within the vault's supply there, the market's liquidity (of
 * which an earlier vault may have taken a part), its outflow cap, and the inflow cap of the target.
 */
function shareOut(target: MarketId, vaults: readonly VaultNow[]): SharedLiquiditySource[] {
  const taken = new Map<MarketId, bigint>();
  return vaults.flatMap((vault) => {
    const into = vault.markets.find(({ id }) => id === target);
    if (into === undefined) return [];
    let room = min(into.maxIn, into.cap > into.supplied ? into.cap - into.supplied : 0n);
    return vault.markets.flatMap((from) => {
      if (from.id === target) return [];
      const liquid = from.liquidity - (taken.get(from.id) ?? 0n);
      const assets = min(room, min(from.maxOut, min(from.supplied, liquid)));
      if (assets <= 0n) return [];
      room -= assets;
      taken.set(from.id, (taken.get(from.id) ?? 0n) + assets);
      return [{ vault: vault.address, vaultName: vault.name, feeWei: vault.feeWei, withdrawMarketId: from.id, assets }];
    });
  });
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
