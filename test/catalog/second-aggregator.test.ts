import { expect, test } from 'vitest';
import { surfacesOf } from '../../doctor/providers/surfaces.ts';
import { createCatalog, curatedChains, withSecondAggregator } from '../../src/catalog/index.ts';
import { createOpenocean } from '../../src/upstreams/openocean/client.ts';
import { testDeps } from '../upstreams/support/world.ts';

const on = (name: string | undefined) => createCatalog(withSecondAggregator(curatedChains, name)).chain(4663);
const serves = (name: string | undefined) =>
  createOpenocean(testDeps('http://127.0.0.1:1')).serves({ chain: on(name) } as never);

test('default: the second aggregator is not asked on chain 4663', () => {
  expect([serves(undefined), on(undefined)?.swapRouters.AggregatorTwo]).toEqual([false, undefined]);
});

test('behavior: with its name for the chain it is, through the router of chain 1', () => {
  const router = createCatalog(curatedChains).chain(1)?.swapRouters.AggregatorTwo;
  expect([serves('robinhood'), on('robinhood')?.swapRouters.AggregatorTwo]).toEqual([true, router]);
  expect(on('robinhood')?.swapRouters.AggregatorOne).toEqual(on(undefined)?.swapRouters.AggregatorOne);
});

test('behavior: the doctor checks its quotes on the chain', () => {
  const checked = (name: string | undefined) =>
    surfacesOf(createCatalog(withSecondAggregator(curatedChains, name)))
      .filter(({ provider }) => provider === 'openocean')
      .map(({ chainId }) => chainId);
  expect([checked(undefined), checked('robinhood')]).toEqual([[1], [1, 4663]]);
});
