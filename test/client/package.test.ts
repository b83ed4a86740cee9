import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { fetchExchange, Client as UrqlClient } from '@urql/core';
import { buildSchema, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accounts } from '../../devnet/seed/accounts.ts';
import { SCALARS, StrategyPageDocument } from '../../packages/client/src/graphql/index.ts';
import { compileConsumer, runFirstClient, samplesOf } from '../../scripts/first-client.ts';
import { noSleep, PARTNER, startService, type TestService } from '../support/service.ts';

/** Outside of the repository, so that nothing but the client is found; and beside its packages, for samples that use them. */
const alone = mkdtempSync(join(tmpdir(), 'client-alone-'));
const beside = join('node_modules/.cache/spiral-gateway', `client-${process.pid}`);

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
}, 120_000);
afterAll(async () => {
  for (const folder of [alone, beside]) rmSync(folder, { recursive: true, force: true });
  await service?.stop();
});
const addresses = () => ({ service: service.url, node: service.world.chains.on(1).rpcUrl });
/** The clock of the consumer's machine is that of the world. */
const clock = () => ['--import', `data:text/javascript,Date.now=()=>${service.clock.now()}`];
const positions = async () =>
  (await service.get(`/v1/partner/positions/${accounts[9]?.address}`, PARTNER)).body.positions;

describe('the published package', () => {
  test('default: the quickstart of docs/client.md needs nothing else, and opens a position', async () => {
    const printed = await runFirstClient({ ...addresses(), folder: alone, nodeOptions: clock() });
    expect(printed).toContain('LeveragePositionOpened');
    expect(await positions()).toMatchObject([{ id: 0, status: 'open', currentLeverage: '5.0' }]);
    const manifest = readFileSync(join(alone, 'node_modules/@spiral-gateway/client/package.json'), 'utf8');
    const { dependencies, peerDependenciesMeta } = JSON.parse(manifest);
    expect([dependencies, peerDependenciesMeta]).toEqual([undefined, { viem: { optional: true } }]);
    await compileConsumer(alone, { 'wrong.ts': WRONG });
  }, 120_000);

  test('default: the other samples of docs/client.md compile strictly, and those that end run', async () => {
    cpSync(join(alone, 'node_modules'), join(beside, 'node_modules'), { recursive: true });
    const [, ...samples] = samplesOf('docs/client.md', addresses());
    expect(samples).toHaveLength(7);
    const files = Object.fromEntries(samples.map((code, i) => [`sample-${i}.ts`, code]));
    await compileConsumer(beside, files, true);
    const ended: string[] = [];
    for (const [i, code] of samples.entries()) {
      if (/live\./.test(code)) continue;
      const args = [...clock(), join(beside, `out/sample-${i}.js`)];
      ended.push((await promisify(execFile)(process.execPath, args)).stdout);
    }
    expect(ended.join('')).toContain('USDe');
    // The sample with viem closes what the quickstart opened.
    expect(await positions()).toMatchObject([{ id: 0, status: 'closed' }]);
  }, 120_000);
});

/** Each line below `@ts-expect-error` has to be refused by the compiler. */
const WRONG = `
import { createClient } from '@spiral-gateway/client';
import { StrategyPageDocument, type StrategyPageQuery } from '@spiral-gateway/client/graphql';
const client = createClient({ baseUrl: 'http://127.0.0.1:1' });
const open = { strategyId: '0x', payToken: '0x', amount: '1', userAddress: '0x' };
export const calls = () => [
  client.leverageBuild({ ...open, leverage: 2 }),
  // @ts-expect-error neither leverage nor desiredLtv
  client.leverageBuild(open),
  // @ts-expect-error a chain that is not served
  client.strategies({ chainId: 10 }),
  // @ts-expect-error borrow does not take full
  client.manageBuild({ userAddress: '0x', positionId: '', action: 'borrow', amount: '1', full: true }),
  // @ts-expect-error a required parameter
  client.walletPositions({}),
];
type Result = NonNullable<(typeof StrategyPageDocument)['__apiType']> extends (variables: never) => infer R ? R : never;
export const same: Result extends StrategyPageQuery ? true : false = true;
`;

describe('GraphQL clients', () => {
  test('default: urql runs a typed document', async () => {
    const urql = new UrqlClient({ url: `${service.url}/graphql`, exchanges: [fetchExchange], preferGetMethod: false });
    const { data, error } = await urql.query(StrategyPageDocument, { first: 1, filter: { chainIds: [1] } }).toPromise();
    expect(error).toBeUndefined();
    expect(data?.strategies?.nodes[0]?.chainId).toBe(1);
  });

  test('behavior: the scalars are those of the schema: generated code has no unknown type', async () => {
    const sdl = readFileSync('schema.graphql', 'utf8');
    const schemaAst = buildSchema(sdl);
    const custom = Object.values(schemaAst.getTypeMap()).filter(
      ({ astNode }) => astNode?.kind === 'ScalarTypeDefinition',
    );
    expect(custom.map(({ name }) => name).sort()).toEqual(Object.keys(SCALARS).sort());
    const document = parse('query Q { strategies(first: 1) { asOf nodes { strategyId defaultApyPct chainId } } }');
    const code = await codegen({
      schema: parse(sdl),
      schemaAst,
      documents: [{ location: 'q.graphql', document }],
      filename: 'q.ts',
      pluginMap: { typescriptOperations, typedDocumentNode },
      plugins: [{ typescriptOperations: {} }, { typedDocumentNode: {} }],
      config: { scalars: SCALARS, strictScalars: true },
    });
    expect(code).not.toMatch(/\bany\b/);
  });
});
