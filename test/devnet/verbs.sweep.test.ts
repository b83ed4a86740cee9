import { fetchMarket, fetchPosition } from '@morpho-org/blue-sdk-viem';
import { erc20Abi, parseAbi, parseEther, parseUnits } from 'viem';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accounts, privateKeyOf } from '../../devnet/chain/index.ts';
import { labelAddress } from '../../devnet/seed/accounts.ts';
import { feedsOf, oracleSeed } from '../../devnet/seed/oracles.ts';
import { aggregatorAbi } from '../../src/abi/feeds.ts';
import type { Hex } from '../../src/shared/ids.ts';
import { catalog, sdkId, useChains } from './world.ts';

const on = useChains([4663]);
const someone = labelAddress('someone in a test');
const [market] = catalog.chain(4663)?.markets ?? [];
if (market === undefined) throw new Error('Chain 4663 has markets');

const fed = (() => {
  for (const candidate of catalog.chain(4663)?.markets ?? []) {
    const seed = oracleSeed(candidate);
    if (seed.kind === 'feed') return { market: candidate, feed: feedsOf(candidate).base, ...seed };
  }
  throw new Error('An oracle of chain 4663 has a feed');
})();

let snapshot: Hex = '0x';
beforeEach(async () => {
  snapshot = await on(4663).snapshot();
});
afterEach(() => on(4663).revert(snapshot));

const time = async () => (await on(4663).client.getBlock()).timestamp;

describe('verbs', () => {
  it('default: tokens and markets are found by symbol, address or id in any case', () => {
    const { token, market: find } = on(4663);
    expect(token('USDG')).toBe(token(token('USDG').address.toLowerCase()));
    expect(find(market.id.toUpperCase().replace('0X', '0x'))).toBe(market);
    expect(() => token('NOPE')).toThrow('NOPE');
    expect(() => find('0x00')).toThrow('0x00');
  });

  it('behavior: mint creates tokens and ether', async () => {
    const { mint, token, client } = on(4663);
    await mint('USDG', someone, 7n);
    await mint('ETH', someone, parseEther('2'));
    const balance = {
      address: token('USDG').address,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [someone],
    } as const;
    expect(await client.readContract(balance)).toBe(7n);
    expect(await client.getBalance({ address: someone })).toBe(parseEther('2'));
  });

  it('behavior: moveOracle moves by percent, exactly', async () => {
    const { moveOracle, oraclePrice, setOraclePrice } = on(4663);
    await setOraclePrice(market, 1_000_000n);
    expect(await moveOracle(market, '-12.5')).toBe(875_000n);
    expect(await oraclePrice(market.id)).toBe(875_000n);
  });

  it('behavior: a feed publishes at its heartbeat, a frozen one keeps its date, and dateFeed sets any date', async () => {
    const { freezeFeed, unfreezeFeed, dateFeed, setOraclePrice, oraclePrice, increaseTime, client } = on(4663);
    const { feed, heartbeatSec } = fed;
    const updatedAt = async () => {
      const round = await client.readContract({ address: feed, abi: aggregatorAbi, functionName: 'latestRoundData' });
      return round[3];
    };
    await setOraclePrice(fed.market, 5n * 10n ** 24n);
    const published = await updatedAt();
    expect(published).toBe(await time());
    await increaseTime(heartbeatSec + 60);
    expect(await updatedAt()).toBe(published + BigInt(heartbeatSec));
    await freezeFeed(fed.market);
    await increaseTime(3 * heartbeatSec);
    await setOraclePrice(fed.market, 4n * 10n ** 24n);
    expect([await updatedAt(), await oraclePrice(fed.market)]).toEqual([
      published + BigInt(heartbeatSec),
      4n * 10n ** 24n,
    ]);
    await dateFeed(fed.market, 2n ** 255n);
    expect(await updatedAt()).toBe(2n ** 255n);
    await unfreezeFeed(fed.market);
    expect(await updatedAt()).toBe(await time());
  });

  it('error: an oracle without a feed names its kind', async () => {
    const found = catalog.chain(4663)?.markets.find((other) => oracleSeed(other).kind === 'opaque');
    expect(() => on(4663).freezeFeed(found ?? '')).toThrow('opaque');
  });

  it('behavior: only increaseTime advances the time, mine adds blocks, and revert undoes both', async () => {
    const { increaseTime, mine, client, snapshot: keep, revert } = on(4663);
    const id = await keep();
    const [before, block] = [await time(), await client.getBlockNumber()];
    await increaseTime(86_400);
    expect(await time()).toBe(before + 86_400n);
    await mine(3);
    expect(await client.getBlockNumber()).toBe(block + 4n);
    expect(await time()).toBe(before + 86_400n);
    await revert(id);
    expect(await client.getBlockNumber()).toBe(block);
  });

  it('behavior: supply and openMorphoPosition change the market by their amounts', async () => {
    const { supply, openMorphoPosition, mint, accrue, client } = on(4663);
    await mint('ETH', someone, parseEther('1'));
    await accrue(market);
    const before = await fetchMarket(sdkId(market), client, { chainId: 4663 });
    await supply(market, parseUnits('1000', 6));
    const collateral = parseUnits('900', market.collateral.decimals);
    await openMorphoPosition(market, { account: someone, collateral, borrowed: parseUnits('500', 6) });
    const after = await fetchMarket(sdkId(market), client, { chainId: 4663 });
    const interest = after.totalBorrowAssets - before.totalBorrowAssets - parseUnits('500', 6);
    expect(interest).toBeGreaterThanOrEqual(0n);
    expect(after.totalSupplyAssets - before.totalSupplyAssets).toBe(parseUnits('1000', 6) + interest);
    const position = await fetchPosition(someone, sdkId(market), client, { chainId: 4663 });
    expect(position.collateral).toBe(collateral);
  });

  it('behavior: setRate sets the savings rate of its token only', async () => {
    const { setRate, token, client } = on(4663);
    await setRate('spUSDG', 1_000_000_003_022_265_980_097_387_650n);
    const read = {
      address: token('spUSDG').address,
      abi: parseAbi(['function vsr() view returns (uint256)']),
    } as const;
    expect(await client.readContract({ ...read, functionName: 'vsr' })).toBe(1_000_000_003_022_265_980_097_387_650n);
    await expect(setRate('USDG', 1n)).rejects.toThrow();
  });

  it('error: refuses a transaction that would revert', async () => {
    const { borrow, mint } = on(4663);
    await mint('ETH', someone, parseEther('1'));
    await expect(borrow(market, 1_000_000n, someone)).rejects.toThrow('insufficient collateral');
  });

  it('default: the development accounts sign with the well-known keys', () => {
    expect(accounts.map(({ address }) => address).slice(0, 2)).toEqual([
      '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    ]);
    const [first] = accounts;
    if (first === undefined) throw new Error('There are ten development accounts');
    expect(privateKeyOf(first)).toBe('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');
  });
});
