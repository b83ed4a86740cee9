import { keccak256 } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Artifacts, artifactOf, compileContracts } from '../../devnet/chain/compile.ts';
import { irmAbi } from '../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { oracleAbi } from '../../src/abi/oracle.ts';
import type { Market } from '../../src/catalog/index.ts';
import { createChainReader, type LendingReading } from '../../src/chain/reader.ts';
import type { ChainId, MarketId } from '../../src/shared/ids.ts';
import { fixedNode } from '../chain/fixed-node.ts';
import { useWorld, type World } from './world.ts';

/** Later than any block: these chains are moved ahead by days. */
const LATE = { now: () => Number.MAX_SAFE_INTEGER };

let artifacts: Artifacts;
beforeAll(async () => {
  artifacts = await compileContracts();
});

describe.each([1, 4663])('readLendingState on chain %i', (chainId) => {
  const world = useWorld(chainId);
  const markets = () => world().row.markets;
  const read = (of: readonly Market[] = markets()): Promise<LendingReading> => {
    const { row, chain } = world();
    const nodes = fixedNode({ chainId: chainId as ChainId, rpcUrl: chain.rpcUrl, clock: LATE });
    return createChainReader({ nodes, chain: row, clock: LATE }).readLendingState(of);
  };
  const place = (market: Market | undefined, contract: string) =>
    world().client.setCode({
      address: oracleOf(market),
      bytecode: contract === '' ? '0x' : artifactOf(artifacts, contract).deployedBytecode,
    });

  test('default: every market of the catalog equals direct calls at that block', async () => {
    const [market] = markets();
    if (market === undefined) throw new Error('no market');
    await world().chain.increaseTime(3 * 86_400 + 7);
    const { block, lending, oracle } = await read();
    expect([lending.failures.size, oracle.failures.size]).toEqual([0, 0]);
    expect(lending.values.size).toBe(markets().length);
    for (const market of markets()) {
      const direct = await directly(world(), market, block.number);
      expect(lending.values.get(market.id)).toEqual({
        ...direct.state,
        blockNumber: block.number,
        blockTimestamp: block.timestamp,
      });
      expect(oracle.values.get(market.oracle)).toMatchObject({ price: direct.price, blockNumber: block.number });
    }
    expect(block.timestamp).toBe((await world().client.getBlock({ blockNumber: block.number })).timestamp);
  });

  test.each([
    ['RevertingOracle', 'reverted'],
    ['BurningOracle', 'reverted'],
    ['FloodingOracle', 'malformed'],
    ['FloodingRevertOracle', 'reverted'],
    ['ShortOracle', 'malformed'],
    ['', 'malformed'],
  ] as const)('behavior: only an oracle that is a %s fails', async (contract, reason) => {
    const before = await read();
    const bad = oracleOf(markets()[1]);
    await place(markets()[1], contract);
    const { lending, oracle } = await read();
    expect([...oracle.failures]).toEqual([[bad, reason]]);
    expect([...oracle.values.keys()]).toEqual([...before.oracle.values.keys()].filter((other) => other !== bad));
    expect([lending.failures.size, [...lending.values.keys()]]).toEqual([0, [...before.lending.values.keys()]]);
  });

  test('behavior: all of them at once, and a market that was never created, affect no other market', async () => {
    const kinds = ['RevertingOracle', 'BurningOracle', 'FloodingOracle', 'ShortOracle', ''];
    const bad = new Set(markets().slice(0, kinds.length).map(oracleOf));
    for (const [i, kind] of kinds.entries()) await place(markets()[i], kind);
    const nowhere = { ...(markets()[0] as Market), id: keccak256('0x01') as MarketId, oracle: world().flashLeverage };
    const { lending, oracle } = await read([nowhere, ...markets()]);
    expect([...lending.failures]).toEqual([[nowhere.id, 'missing']]);
    expect(lending.values.size).toBe(markets().length);
    expect(new Set(oracle.failures.keys())).toEqual(new Set([nowhere.oracle, ...bad]));
    expect(oracle.failures.get(nowhere.oracle)).toBe('reverted');
    for (const market of markets()) {
      if (bad.has(market.oracle)) continue;
      expect(oracle.values.get(market.oracle)?.price).toBe((await directly(world(), market)).price);
    }
  });

  test('behavior: a rate model without code fails only the state of its markets', async () => {
    const { irm } = markets()[0] as Market;
    await world().client.setCode({ address: irm, bytecode: '0x' });
    const { lending, oracle } = await read();
    expect(new Set(lending.failures.values())).toEqual(new Set(['malformed']));
    expect(oracle.failures.size).toBe(0);
    await world().client.setCode({ address: irm, bytecode: artifactOf(artifacts, 'BurningOracle').deployedBytecode });
    const burning = await read();
    expect([new Set(burning.lending.failures.values()), burning.oracle.failures.size]).toEqual([
      new Set(['reverted']),
      0,
    ]);
  });

  test('behavior: many oracles that burn their gas affect no market state and no other price', async () => {
    const burning = new Set(markets().slice(0, 5).map(oracleOf));
    for (const market of markets().slice(0, 5)) await place(market, 'BurningOracle');
    const { lending, oracle } = await read();
    expect([lending.values.size, lending.failures.size]).toEqual([markets().length, 0]);
    expect(new Map(oracle.failures)).toEqual(new Map([...burning].map((bad) => [bad, 'reverted'])));
  });
});

function oracleOf(market: Market | undefined): Market['oracle'] {
  if (market === undefined) throw new Error('The chain has too few markets');
  return market.oracle;
}

async function directly({ client, row }: World, market: Market, blockNumber?: bigint) {
  const at = blockNumber === undefined ? {} : { blockNumber };
  const morpho = { address: row.contracts.morphoBlue, abi: morphoBlueAbi, ...at };
  const irm = { address: market.irm, abi: irmAbi, ...at };
  const [loanToken, collateralToken, oracle, model, lltv] = await client.readContract({
    ...morpho,
    functionName: 'idToMarketParams',
    args: [market.id],
  });
  expect([oracle, model]).toEqual([market.oracle, market.irm]);
  const [totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares, lastUpdate, fee] =
    await client.readContract({ ...morpho, functionName: 'market', args: [market.id] });
  const totals = { totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares, lastUpdate, fee };
  const params = { loanToken, collateralToken, oracle, irm: model, lltv };
  const [rateAtTarget, borrowRate, price] = await Promise.all([
    client.readContract({ ...irm, functionName: 'rateAtTarget', args: [market.id] }),
    client.readContract({ ...irm, functionName: 'borrowRateView', args: [params, totals] }),
    client.readContract({ address: market.oracle, abi: oracleAbi, functionName: 'price', ...at }),
  ]);
  return { state: { ...totals, rateAtTarget, borrowRate }, price };
}
