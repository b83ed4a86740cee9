import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCatalog, curatedChains } from '../../../src/catalog/index.ts';
import { startService, type TestService } from '../../support/service.ts';

const LIMIT = 2 ** 20;
/** Answers of each kind that a test asks for: together they are larger than the memory. */
const ANSWERS = 120;

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { METRICS_PORT: '0', ANSWER_CACHE_MB: '1' } });
});
afterAll(() => service?.stop());

async function cached(metric = 'spiral_cache_bytes'): Promise<number> {
  const text = await (await fetch(`${service.app.metricsUrl}/metrics`)).text();
  return Number(new RegExp(`^${metric}\\{cache="answers"\\} (\\S+)$`, 'm').exec(text)?.[1]);
}

async function ask(query: string, variables: unknown): Promise<string> {
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const text = await response.text();
  expect(text).not.toContain('"errors"');
  return text;
}

/** The same id in letters of another case: another address of the same answer. */
function spelling(id: string, n: number): string {
  let letter = 0;
  return id.replace(/[a-f]/g, (digit) => (((n >> (letter++ % 12)) & 1) === 1 ? digit.toUpperCase() : digit));
}

const LIST =
  'query ($least: Decimal) { strategies(first: 60, filter: { minLiquidityUsd: $least }) { nodes { id strategyId } } }';

describe('cached answers', () => {
  test('default: metrics show their memory and its limit', async () => {
    await fetch(`${service.url}/v1/prices`);
    const withRow = await cached();
    expect(withRow).toBeGreaterThan(0);
    for (let round = 0; round < 2; round += 1) await ask(LIST, {});
    expect(await cached()).toBeGreaterThan(withRow);
    expect(await cached('spiral_cache_limit_bytes')).toBe(LIMIT);
  });

  test('behavior: answers without a second request use at most an eighth of the memory', async () => {
    const [market] = createCatalog(curatedChains).chains.flatMap(({ markets }) => markets);
    const before = await cached();
    let bytes = 0;
    for (let n = 0; n < ANSWERS; n += 1) {
      const answer = await fetch(`${service.url}/v1/strategies/${spelling(market?.id ?? '', n)}`);
      expect(answer.status).toBe(200);
      bytes += (await answer.text()).length + (await ask(LIST, { least: String(n) })).length;
    }
    expect(bytes).toBeGreaterThan(LIMIT);
    expect((await cached()) - before).toBeLessThanOrEqual(LIMIT / 8);
  });

  test('behavior: repeated answers use at most all of it', async () => {
    const [market] = createCatalog(curatedChains).chains.flatMap(({ markets }) => markets);
    let bytes = 0;
    for (let n = ANSWERS; n < 2 * ANSWERS; n += 1) {
      const path = `${service.url}/v1/strategies/${spelling(market?.id ?? '', n)}`;
      const answers = [await (await fetch(path)).text(), await (await fetch(path)).text()];
      expect(answers[0]).toBe(answers[1]);
      const lists = [];
      for (let pass = 0; pass < 3; pass += 1) lists.push(await ask(LIST, { least: String(n) }));
      bytes += (answers[0]?.length ?? 0) + (lists[0]?.length ?? 0);
    }
    expect(bytes).toBeGreaterThan(LIMIT);
    expect(await cached()).toBeGreaterThan(LIMIT / 2);
    expect(await cached()).toBeLessThanOrEqual(LIMIT);
  });
});
