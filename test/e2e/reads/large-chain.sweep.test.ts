import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { computeMarketId, createCatalog, curatedChains } from '../../../src/catalog/index.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { type EventStream, subscribe } from '../../support/sse.ts';

/*
 * A chain of more than a hundred markets is composed in pages after each publish. Nobody notices it: streams, reads with an age
 * and first requests get the newest version, as of a small chain.
 */

const ADDED = 130;
const STRATEGIES = `subscription { strategyChanged(chainIds: [1], filter: { listedOnly: false }) {
  version complete changed { id: strategyId liquidityUsd }
} }`;
const FRESH = `{ strategies(first: 1, maxAge: 5, chainIds: [1], filter: { listedOnly: false }) {
  nodes { freshness { borrow { asOf } } }
} }`;

/** Markets of an overlay: the first curated one, with other LLTVs. The chain does not have them. */
function addedMarkets(): Json[] {
  const market = createCatalog(curatedChains).chain(1)?.markets[0];
  if (!market) throw new Error('no market');
  const { collateral, loan, oracle, irm, correlated } = market;
  return Array.from({ length: ADDED }, (_, n) => {
    const lltv = 800_000_000_000_000_000n + BigInt(n);
    const id = computeMarketId({ loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv });
    return { id, collateral: collateral.symbol, loan: loan.symbol, oracle, irm, lltv: String(lltv), correlated };
  });
}

let service: TestService;
let stream: EventStream | undefined;
beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    arrange: async (world) => {
      const path = world.overrides.env.CATALOG_OVERLAY ?? '';
      const overlay: Json[] = JSON.parse(await readFile(path, 'utf8'));
      overlay.push({ chainId: 1, markets: addedMarkets() });
      await writeFile(`${path}.large`, JSON.stringify(overlay));
      return { CATALOG_OVERLAY: `${path}.large` };
    },
  });
});
afterAll(async () => {
  await stream?.close();
  await service?.stop();
});

describe('a chain of more than a hundred markets', () => {
  /** Supply to the first market, and read the state of the chain a minute later. */
  const supply = async (): Promise<string> => {
    const chain = service.world.chains.on(1);
    const market = chain.chain.markets.find(({ kind }) => kind === 'loop');
    if (!market) throw new Error('no market');
    await chain.supply(market, 50_000n * 10n ** BigInt(market.loan.decimals));
    service.clock.advance(60_000);
    await chain.increaseTime(60);
    return market.id;
  };
  const asOf = async () => {
    const { body } = await service.graphql(FRESH);
    expect(body.errors).toBeUndefined();
    const [strategy] = body.data.strategies.nodes;
    const [receipt] = body.extensions?.reads[0].freshness ?? [];
    return { of: strategy.freshness.borrow.asOf, receipt };
  };

  test('behavior: a stream gets the changes of a publish with that publish', async () => {
    stream = await subscribe(service.url, STRATEGIES);
    const first = (await stream.next())?.data.strategyChanged;
    expect(first).toMatchObject({ complete: true });
    expect(first.changed.length).toBeGreaterThan(5);
    const id = await supply();
    await service.refresh('lending-state:1');
    const second = (await stream.next())?.data.strategyChanged;
    expect(second.version).toBeGreaterThan(first.version);
    expect(second.changed.map((row: Json) => row.id)).toContain(id);
  });

  test('behavior: a read with maxAge answers from the measurement that it caused', async () => {
    await supply();
    const { of, receipt } = await asOf();
    expect(receipt).toMatchObject({ group: 'market_state', outcome: 'refreshed' });
    expect(of).toBe(receipt.asOf);
  });

  test('behavior: the first request after a start is answered', async () => {
    const before = await service.get('/v1/strategies?chainId=1');
    await service.restart();
    const after = await service.get('/v1/strategies?chainId=1');
    expect(after.status).toBe(200);
    expect(after.body.strategies.map(({ id }: Json) => id)).toEqual(before.body.strategies.map(({ id }: Json) => id));
  });
});
