import { readFileSync } from 'node:fs';
import { type Hex, keccak256, numberToHex } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Artifacts, artifactOf, compileContracts } from '../../devnet/chain/compile.ts';
import { LENSES, renderLens } from '../../scripts/lenses.ts';
import { MARKET_LENS_CODE } from '../../src/abi/generated/market-lens.ts';
import { irmAbi } from '../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { oracleAbi } from '../../src/abi/oracle.ts';
import type { Market } from '../../src/catalog/index.ts';
import { decodeLensHeader, decodeLensPrice, decodeLensState, encodeLens } from '../../src/chain/lens/lens-words.ts';
import { MARKETS_PER_CALL } from '../../src/chain/plans/lending-state.ts';
import { createChainReader, type LendingReading } from '../../src/chain/reader.ts';
import type { ChainId, MarketId } from '../../src/shared/ids.ts';
import { fixedNode } from '../chain/fixed-node.ts';
import { useWorld, type World } from './world.ts';

/** Later than any block: these chains are moved ahead by days. */
const LATE = { now: () => Number.MAX_SAFE_INTEGER };

const COMPILE_MS = 120_000;
/** What a transaction may take since Osaka (EIP-7825): a node may hold calls to it as well. */
const OSAKA_GAS = 16_777_216n;
const GETH_GAS = 50_000_000n;

let artifacts: Artifacts;
beforeAll(async () => {
  artifacts = await compileContracts();
}, COMPILE_MS);

describe('generated code', () => {
  test.each(LENSES)('default: the committed module carries what the compiler makes of $contract', (lens) => {
    expect(readFileSync(lens.file, 'utf8')).toBe(renderLens(lens, artifacts));
  });

  test('behavior: what a full call sends and returns is within the limits of creation', () => {
    const ids = Array.from({ length: MARKETS_PER_CALL }, (_, i) => keccak256(numberToHex(i)) as MarketId);
    const sent = (encodeLens('0xBBBBBbbBBb9cC5e90e3b3Af64bdAF62C37EEFFCb', ids).length - 2) / 2;
    expect(sent).toBeLessThanOrEqual(49_152);
    expect(3 * 32 + MARKETS_PER_CALL * 5 * 32).toBeLessThanOrEqual(24_576);
    // 500 such calls are one batch of 4 MB.
    expect(500 * (2 * sent + 2 + 250)).toBeLessThanOrEqual(4 * 1024 * 1024);
  });
});

describe.each([1, 4663])('MarketLens on chain %i', (chainId) => {
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

  test('default: every market of the catalog is as direct calls at that block tell', async () => {
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
  ] as const)('behavior: an oracle that is a %s fails alone', async (contract, reason) => {
    const before = await read();
    const bad = oracleOf(markets()[1]);
    await place(markets()[1], contract);
    const { lending, oracle } = await read();
    expect([...oracle.failures]).toEqual([[bad, reason]]);
    expect([...oracle.values.keys()]).toEqual([...before.oracle.values.keys()].filter((other) => other !== bad));
    expect([lending.failures.size, [...lending.values.keys()]]).toEqual([0, [...before.lending.values.keys()]]);
  });

  test('behavior: all of them at once, and a market that was never created, harm nobody else', async () => {
    const kinds = ['RevertingOracle', 'BurningOracle', 'FloodingOracle', 'ShortOracle', ''];
    const bad = new Set(markets().slice(0, kinds.length).map(oracleOf));
    for (const [i, kind] of kinds.entries()) await place(markets()[i], kind);
    const nowhere = { ...(markets()[0] as Market), id: keccak256('0x01') as MarketId, oracle: world().flashLeverage };
    const { lending, oracle } = await read([nowhere, ...markets()]);
    expect([...lending.failures]).toEqual([[nowhere.id, 'missing']]);
    expect(lending.values.size).toBe(markets().length);
    expect(new Set(oracle.failures.keys())).toEqual(new Set([nowhere.oracle, ...bad]));
    expect(oracle.failures.get(nowhere.oracle)).toBe('missing');
    for (const market of markets()) {
      if (bad.has(market.oracle)) continue;
      expect(oracle.values.get(market.oracle)?.price).toBe((await directly(world(), market)).price);
    }
  });

  test('behavior: a rate model without code fails the state of its markets, and no price', async () => {
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

  test('behavior: whatever gas a node gives, a value is right or not there, and never the fault of what was asked', async () => {
    const { row } = world();
    const all = await Promise.all(markets().map((market) => directly(world(), market)));
    const ids = markets().map(({ id }) => id);
    const data = encodeLens(row.contracts.morphoBlue, ids);
    const answered: number[] = [];
    for (let gas = 100_000n; gas < 6_000_000n; gas += 31_000n) {
      const answer = await call(world(), data, gas);
      // Once it is enough for an answer, more is as well.
      if (answer === null) expect(answered).toEqual([]);
      if (answer === null) continue;
      const block = { number: 1n, timestamp: decodeLensHeader(answer).timestamp };
      let count = 0;
      for (const [i, { state, price }] of all.entries()) {
        const lent = decodeLensState(answer, i, block);
        const {
          blockNumber: _,
          blockTimestamp: __,
          ...read
        } = lent.ok ? lent.value : { blockNumber: 0n, blockTimestamp: 0n };
        expect(lent.ok ? read : lent.reason).toEqual(lent.ok ? state : 'server_error');
        const told = decodeLensPrice(answer, i);
        expect(told).toEqual(told.ok ? { ok: true, value: price } : { ok: false, reason: 'server_error' });
        count += Number(lent.ok) + Number(told.ok);
      }
      answered.push(count);
    }
    expect(answered).toEqual(answered.toSorted((a, b) => a - b));
    expect([answered.length > 20, answered[0], answered.at(-1)]).toEqual([true, 0, 2 * ids.length]);
  });

  test('behavior: with many oracles that burn their gas all markets are still known, within the limits of nodes', async () => {
    const { row } = world();
    const burning = new Set(markets().slice(0, 5).map(oracleOf));
    for (const market of markets().slice(0, 5)) await place(market, 'BurningOracle');
    const ids = markets().map(({ id }) => id);
    for (const gas of [OSAKA_GAS, GETH_GAS]) {
      const answer = await call(world(), encodeLens(row.contracts.morphoBlue, ids), gas);
      if (answer === null) throw new Error('no answer');
      const block = { number: 1n, timestamp: decodeLensHeader(answer).timestamp };
      for (const [i, market] of markets().entries()) {
        expect(decodeLensState(answer, i, block).ok).toBe(true);
        if (gas === GETH_GAS) expect(decodeLensPrice(answer, i).ok).toBe(!burning.has(market.oracle));
      }
    }
  });
});

describe('a full call', () => {
  const world = useWorld(1);
  const protocol = '0x00000000000000000000000000000000000a2a2a';
  const ids = Array.from({ length: MARKETS_PER_CALL }, (_, i) => numberToHex(2 ** 40 + i, { size: 32 }) as MarketId);

  test('behavior: with usual oracles, all different, is answered whole with the gas of a transaction, and in order with less', async () => {
    const { client } = world();
    const { deployedBytecode: oracle } = artifactOf(artifacts, 'UsualOracle');
    await client.setCode({ address: protocol, bytecode: artifactOf(artifacts, 'AnyMarket').deployedBytecode });
    for (const id of ids) await client.setCode({ address: `0x${id.slice(-40)}`, bytecode: oracle });
    const data = encodeLens(protocol, ids);
    let most = -1;
    for (let gas = 2_000_000n; gas <= OSAKA_GAS; gas += 101_000n) {
      const answer = await call(world(), data, gas);
      if (answer === null) expect(most).toBe(-1);
      if (answer === null) continue;
      const block = { number: 1n, timestamp: decodeLensHeader(answer).timestamp };
      const states = ids.filter((_, i) => decodeLensState(answer, i, block).ok).length;
      const prices = ids.filter((_, i) => decodeLensPrice(answer, i).ok).length;
      expect(states + prices).toBeGreaterThanOrEqual(most);
      if (prices > 0) expect(states).toBe(ids.length);
      most = states + prices;
    }
    expect(most).toBe(2 * ids.length);
  });
});

function oracleOf(market: Market | undefined): Market['oracle'] {
  if (market === undefined) throw new Error('The chain has too few markets');
  return market.oracle;
}

/** Run creation code with so much gas; `null` when it was not enough. */
async function call({ client }: World, data: Hex, gas: bigint): Promise<Hex | null> {
  expect(data.startsWith(MARKET_LENS_CODE)).toBe(true);
  const { data: answer = null } = await client.call({ data, gas }).catch(() => ({ data: null }));
  return answer;
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
