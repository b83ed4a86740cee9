import { describe, expect, test } from 'vitest';
import { DEPLOYMENT_KEY } from '../../src/domain/facts.ts';
import { ethereum, firstMarket, token, world } from './world.ts';

const NAME = 'deployment:1';
type World = ReturnType<typeof world>;

function readerOf(w: World) {
  const reader = w.readers.get(1);
  if (!reader) throw new Error('chain 1 has a reader');
  return reader;
}

/** Let the chain say something else of a token. */
function setDecimals(w: World, decimals: bigint): void {
  const reader = readerOf(w);
  const before = reader.readDeployment;
  reader.readDeployment = async (chain, options) => {
    const reading = await before(chain, options);
    const values = new Map(reading.tokenContract.values).set(token('USDC').address, { hasCode: true, decimals });
    return { ...reading, tokenContract: { ...reading.tokenContract, values } };
  };
}

describe('the deployment warmer', () => {
  test('default: contract, markets and tokens come from one reading and form one version', async () => {
    const w = world();
    const { version } = w.facts();
    await w.run(NAME);
    const { groups, version: next } = w.facts();
    expect(next).toBe(version + 1);
    expect([...groups.deployment.items.keys()]).toEqual([DEPLOYMENT_KEY]);
    expect(groups.marketSupport.items.get(firstMarket.id)).toMatchObject({ source: 'chain' });
    expect(groups.tokenContract.items.size).toBe(ethereum.tokens.filter(({ isNative }) => !isNative).length);
  });

  test('behavior: logs the start and the end of a disagreement once each', async () => {
    const w = world();
    await w.run(NAME);
    const count = (message: string) => w.logs.filter((line) => line === message).length;
    expect(count('catalog and chain disagree')).toBe(0);
    const warmer = w.warmers.find(({ name }) => name === NAME);
    const run = () => warmer?.run(new AbortController().signal, 'all');
    setDecimals(w, 255n);
    for (let i = 0; i < 3; i++) await run();
    expect([count('catalog and chain disagree'), count('catalog and chain agree again')]).toEqual([1, 0]);
    setDecimals(w, 6n);
    for (let i = 0; i < 3; i++) await run();
    expect([count('catalog and chain disagree'), count('catalog and chain agree again')]).toEqual([1, 1]);
  });

  test('error: ignores a future block and an older one', async () => {
    const w = world();
    await w.run(NAME);
    const { items } = w.facts().groups.deployment;
    const reader = readerOf(w);
    const before = reader.readDeployment;
    for (const aheadSec of [86_400n, -86_400n]) {
      setDecimals(w, 255n);
      const reported = reader.readDeployment;
      reader.readDeployment = async (chain, options) => {
        const reading = await reported(chain, options);
        return { ...reading, block: { ...reading.block, timestamp: reading.block.timestamp + aheadSec } };
      };
      await w.run(NAME);
      const { deployment, tokenContract } = w.facts().groups;
      expect(deployment.items).toEqual(items);
      expect(tokenContract.items.get(token('USDC').address)?.value.decimals).toBe(6n);
      reader.readDeployment = before;
    }
    expect(w.facts().groups.deployment.failures.get(DEPLOYMENT_KEY)?.reason).toBe('implausible');
  });
});
