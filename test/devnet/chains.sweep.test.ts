import type { MarketId } from '@morpho-org/blue-sdk';
import { blueAbi, fetchMarket, fetchVaultMarketPublicAllocatorConfig } from '@morpho-org/blue-sdk-viem';
import { type Address, domainSeparator, erc20Abi, parseAbi, parseEther } from 'viem';
import { describe, expect, it } from 'vitest';
import { marketParams } from '../../devnet/chain/deploy.ts';
import { untouchedAccounts } from '../../devnet/chain/index.ts';
import { DEV_BALANCE_USD, LENDER } from '../../devnet/seed/accounts.ts';
import { marketKey, marketSeed, marketSeeds } from '../../devnet/seed/markets.ts';
import { tokenSeed } from '../../devnet/seed/tokens.ts';
import { vaultSeeds } from '../../devnet/seed/vaults.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { Decimal, fromUnits } from '../../src/shared/decimal.ts';
import { catalog, STARTED_AT, sdkId, useChains } from './world.ts';

const on = useChains();
/** Tolerance between the chain and the tables: the effect of the seeded positions. */
const TOLERANCE = '0.005';
const extraAbi = parseAbi([
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function str() view returns (uint256)',
  'function vsr() view returns (uint256)',
  'function price() view returns (uint256)',
]);

describe.each(catalog.chains.map((chain) => ({ chainId: chain.chainId, chain })))('startChains: $chainId', (row) => {
  const { chainId, chain } = row;
  const morpho = { address: chain.contracts.morphoBlue, abi: blueAbi } as const;
  const erc20s = chain.tokens.filter(({ isNative }) => !isNative);

  it('default: returns its chain id and begins at the given time', async () => {
    const { client } = on(chainId);
    expect(await client.getChainId()).toBe(chainId);
    const [first, latest] = await Promise.all([client.getBlock({ blockNumber: 0n }), client.getBlock()]);
    expect(Number(first.timestamp)).toBe(STARTED_AT / 1000);
    expect(Number(latest.timestamp - first.timestamp)).toBeLessThan(60);
  });

  it('behavior: every market of the catalog was created under its id', async () => {
    const ids = chain.markets.map(({ id }) => id);
    const created = await on(chainId).client.multicall({
      allowFailure: false,
      contracts: ids.map((id) => ({ ...morpho, functionName: 'idToMarketParams' as const, args: [id] as const })),
    });
    expect(
      created.map(([loanToken, collateralToken, oracle, irm, lltv]) => ({
        loanToken,
        collateralToken,
        oracle,
        irm,
        lltv,
      })),
    ).toEqual(chain.markets.map(marketParams));
  });

  it('behavior: Morpho signs for its real address and this chain', async () => {
    const found = await on(chainId).client.readContract({ ...morpho, abi: extraAbi, functionName: 'DOMAIN_SEPARATOR' });
    expect(found).toBe(domainSeparator({ domain: { chainId, verifyingContract: morpho.address } }));
  });

  it('behavior: tokens have the names, symbols and decimals of the catalog', async () => {
    const { client } = on(chainId);
    const shown = await Promise.all(
      erc20s.map(async ({ address }) => {
        const token = { address, abi: erc20Abi } as const;
        const [name, symbol, decimals] = await Promise.all([
          client.readContract({ ...token, functionName: 'name' }),
          client.readContract({ ...token, functionName: 'symbol' }),
          client.readContract({ ...token, functionName: 'decimals' }),
        ]);
        return { name, symbol, decimals };
      }),
    );
    expect(shown).toEqual(erc20s.map(({ name, symbol, decimals }) => ({ name, symbol, decimals })));
  });

  it('behavior: supply and utilization start at the seeded numbers, seeded positions aside', async () => {
    const { client } = on(chainId);
    for (const market of chain.markets) {
      const seed = marketSeed(market);
      const state = await fetchMarket(sdkId(market), client, { chainId });
      // Wallets' positions borrow a little on top, seconds of interest accrue, a liquidation leaves a little bad debt.
      const supplied = fromUnits(state.totalSupplyAssets, market.loan.decimals);
      expect(supplied.div(seed.supplied).minus(1).abs().lt(TOLERANCE), marketKey(market)).toBe(true);
      const utilizationPct = fromUnits(state.utilization, 16);
      expect(
        utilizationPct.gte(new Decimal(seed.utilizationPct).times(new Decimal(1).minus(TOLERANCE))),
        marketKey(market),
      ).toBe(true);
      expect(utilizationPct.lt(100), marketKey(market)).toBe(true);
    }
  });

  it('behavior: oracles agree with the seeded USD prices', async () => {
    for (const market of chain.markets) {
      const { collateral, loan } = market;
      const price = await on(chainId).oraclePrice(market);
      const loanPerCollateral = fromUnits(price, 36 + loan.decimals - collateral.decimals);
      const collateralUsd = loanPerCollateral.times(tokenSeed(chainId, loan.symbol).usdPrice);
      const expected = new Decimal(tokenSeed(chainId, collateral.symbol).usdPrice);
      expect(collateralUsd.div(expected).minus(1).abs().lt('1e-12'), marketKey(market)).toBe(true);
    }
  });

  it('behavior: on-chain savings rates compound to the seeded yield', async () => {
    for (const { symbol, address, onchainRate } of erc20s) {
      if (onchainRate === undefined) continue;
      const ray = await on(chainId).client.readContract({ address, abi: extraAbi, functionName: onchainRate });
      const seed = tokenSeed(chainId, symbol);
      expect(ray.toString()).toBe(seed.perSecondRateRay);
      const apyPct = new Decimal(Math.expm1(Math.log1p(Number(ray - 10n ** 27n) / 1e27) * 31_536_000) * 100);
      expect(apyPct.toFixed(2)).toBe(new Decimal(seed.apyPct ?? 'NaN').toFixed(2));
    }
  });

  it('behavior: the last three development accounts are unused', async () => {
    const { client } = on(chainId);
    for (const { address } of untouchedAccounts) {
      expect(await client.getTransactionCount({ address })).toBe(0);
      expect(await client.getBalance({ address })).toBe(parseEther('10000'));
      for (const { address: token, symbol, decimals } of erc20s) {
        const balance = await client.readContract({
          address: token,
          abi: erc20Abi,
          functionName: 'balanceOf',
          args: [address],
        });
        const valueUsd = fromUnits(balance, decimals).times(tokenSeed(chainId, symbol).usdPrice);
        expect(valueUsd.gte(DEV_BALANCE_USD), symbol).toBe(true);
      }
      const positions = await client.multicall({
        allowFailure: false,
        contracts: chain.markets.map(({ id }) => ({
          ...morpho,
          functionName: 'position' as const,
          args: [id, address] as const,
        })),
      });
      expect(positions.flat().every((amount) => amount === 0n)).toBe(true);
      const leveraged = await client.readContract({
        address: chain.contracts.flashLeverage,
        abi: flashLeverageAbi,
        functionName: 'getUserLeveragePositions',
        args: [address],
      });
      expect(leveraged).toEqual([]);
    }
  });
});

describe('seed tables', () => {
  it('behavior: every row belongs to a market of the catalog', () => {
    for (const { chainId, markets } of catalog.chains) {
      expect(Object.keys(marketSeeds[chainId] ?? {}).sort()).toEqual([...new Set(markets.map(marketKey))].sort());
    }
  });

  it('behavior: vaults supply their share, with the fee and caps that the SDK reads', async () => {
    const { client, chain } = on(1);
    const positionOf = async (id: MarketId, account: Address) => {
      const args = [id, account] as const;
      const [shares] = await client.readContract({
        address: chain.contracts.morphoBlue,
        abi: blueAbi,
        functionName: 'position',
        args,
      });
      return (await fetchMarket(id, client, { chainId: 1 })).toSupplyAssets(shares);
    };
    for (const market of chain.markets) {
      const id = sdkId(market);
      const key = marketKey(market);
      const supplied = new Decimal(marketSeed(market).supplied);
      let sum = fromUnits(await positionOf(id, LENDER), market.loan.decimals);
      for (const vault of vaultSeeds) {
        const sharePct = vault.supplySharePct[key];
        if (sharePct === undefined) continue;
        const assets = fromUnits(await positionOf(id, vault.address), market.loan.decimals);
        const expected = supplied.times(sharePct).div(100);
        expect(assets.div(expected).minus(1).abs().lt(TOLERANCE), `${vault.symbol} ${key}`).toBe(true);
        sum = sum.plus(assets);
        const caps = await fetchVaultMarketPublicAllocatorConfig(vault.address, id, client, { chainId: 1 });
        expect(caps?.maxOut).toBeGreaterThan(0n);
        expect(caps?.maxIn).toBe(caps?.maxOut);
      }
      expect(sum.div(supplied).minus(1).abs().lt(TOLERANCE), key).toBe(true);
    }
  });
});
