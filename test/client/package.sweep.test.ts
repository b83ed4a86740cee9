import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { fetchExchange, Client as UrqlClient } from '@urql/core';
import { build } from 'esbuild';
import { buildSchema, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accounts } from '../../devnet/seed/accounts.ts';
import { SCALARS, StrategyPageDocument } from '../../packages/client/src/graphql/index.ts';
import { compileConsumer, runFirstClient, samplesOf } from '../../scripts/first-client.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../support/service.ts';

/** Outside of the repository, so that nothing but the client is found; and beside its packages, for samples that use them. */
const alone = mkdtempSync(join(tmpdir(), 'client-alone-'));
const beside = join('node_modules/.cache/spiral-gateway', `client-${process.pid}`);

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
});
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
    const printed = await runFirstClient({
      ...addresses(),
      folder: alone,
      nodeOptions: clock(),
      files: { 'wrong.ts': WRONG, ...documentedSamples() },
    });
    expect(printed).toContain('LeveragePositionOpened');
    expect(await positions()).toMatchObject([{ id: 0, status: 'open', currentLeverage: '5.0' }]);
    const manifest = readFileSync(join(alone, 'node_modules/@spiral-gateway/client/package.json'), 'utf8');
    const { dependencies, peerDependenciesMeta } = JSON.parse(manifest);
    expect([dependencies, peerDependenciesMeta]).toEqual([undefined, { viem: { optional: true } }]);
  });

  test('behavior: a bundler for browsers takes it without a warning, and leaves out unused exports', async () => {
    writeFileSync(join(alone, 'reads.js'), READS);
    const outfile = join(alone, 'reads.bundle.mjs');
    const options = { bundle: true, minify: true, format: 'esm', platform: 'browser', logLevel: 'silent' } as const;
    const { warnings, metafile } = await build({
      ...options,
      entryPoints: [join(alone, 'reads.js')],
      outfile,
      metafile: true,
    });
    expect(warnings).toEqual([]);
    const [{ bytes = 0 } = {}] = Object.values(metafile.outputs);
    expect(bytes).toBeLessThan(40_000);
    const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
    expect(stdout).toBe('connection_failed\n');
  });

  test.each([
    ['nodenext', { module: 'nodenext' }, 'mts'],
    ['node16', { module: 'node16' }, 'mts'],
    ['node20', { module: 'node20' }, 'mts'],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }, 'ts'],
    ['bundler, modules preserved', { module: 'preserve' }, 'ts'],
    ['CommonJS, nodenext', { module: 'nodenext' }, 'cts'],
    ['CommonJS, node20', { module: 'node20' }, 'cts'],
  ])('default: the compiler finds every entry point with %s', async (name, how, extension) => {
    const stem = `entry-${name.replaceAll(/\W+/g, '-')}`;
    writeFileSync(join(alone, `${stem}.${extension}`), ENTRY_POINTS);
    const compilerOptions = { strict: true, noEmit: true, types: [], lib: ['es2022', 'dom', 'dom.iterable'], ...how };
    writeFileSync(join(alone, `${stem}.json`), JSON.stringify({ compilerOptions, files: [`${stem}.${extension}`] }));
    const tsc = resolve('node_modules/typescript/bin/tsc');
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', join(alone, `${stem}.json`)]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  test('default: Node loads every entry point as a module and from CommonJS', async () => {
    const names = ['', '/abi', '/graphql', '/verify'].map((path) => `@spiral-gateway/client${path}`);
    const list = JSON.stringify(names);
    const count = `(all) => console.log(all.map((one) => Object.keys(one).length > 0).join())`;
    writeFileSync(join(alone, 'loads.mjs'), `Promise.all(${list}.map((name) => import(name))).then(${count});`);
    writeFileSync(join(alone, 'loads.cjs'), `Promise.all(${list}.map((name) => import(name))).then(${count});`);
    writeFileSync(join(alone, 'requires.cjs'), `(${count})(${list}.map((name) => require(name)));`);
    // Node before 20.19 has no require of modules.
    const requires = (process.features as { require_module?: boolean }).require_module === true ? ['requires.cjs'] : [];
    for (const file of ['loads.mjs', 'loads.cjs', ...requires]) {
      const { stdout } = await promisify(execFile)(process.execPath, [join(alone, file)]);
      expect([file, stdout]).toEqual([file, 'true,true,true,true\n']);
    }
  });

  test('default: the other samples of docs/client.md compile strictly, and those that end run', async () => {
    cpSync(join(alone, 'node_modules'), join(beside, 'node_modules'), { recursive: true });
    const [, ...samples] = samplesOf('docs/client.md', addresses());
    expect(samples).toHaveLength(10);
    const files = Object.fromEntries(samples.map((code, i) => [`sample-${i}.ts`, code]));
    await compileConsumer(beside, files, true);
    const ending = samples.flatMap((code, i) => (/live\./.test(code) ? [] : [`./out/sample-${i}.js`]));
    // One after the other in one process: most of the time of a sample is the loading of viem.
    writeFileSync(join(beside, 'run.js'), ending.map((file) => `await import('${file}');\n`).join(''));
    const { stdout } = await promisify(execFile)(process.execPath, [...clock(), join(beside, 'run.js')]);
    expect(stdout).toContain('USDe');
    expect(stdout).toMatch(/^proven: .*250 sUSDe/m);
    expect(stdout).toMatch(/^chain \d+ at version \d+$/m);
    // The sample with viem closes the position of the quickstart.
    expect(await positions()).toMatchObject([{ id: 0, status: 'closed' }]);
  });
});

/** Values and types of every entry point. */
const ENTRY_POINTS = `
import { createClient, type Eip1193Provider, execute, type Plan, type Strategy } from '@spiral-gateway/client';
import { flashLeverageAbi } from '@spiral-gateway/client/abi';
import { StrategyPageDocument } from '@spiral-gateway/client/graphql';
import { type Intent, verify } from '@spiral-gateway/client/verify';
export const values = [createClient, execute, flashLeverageAbi.length, StrategyPageDocument, verify];
export type Types = [Eip1193Provider, Plan, Strategy, Intent];
// @ts-expect-error a type that resolves to any would take this
export const wrong: Strategy = 5;
`;

/** An app that only reads, from a service that is not there. */
const READS = `
import { createClient } from '@spiral-gateway/client';
const client = createClient({ baseUrl: 'http://127.0.0.1:1', timeoutMs: 1_000 });
console.log(await client.strategies().catch(({ code }) => code));
`;

/** The TypeScript samples of all operations of the interface document, one file each. */
function documentedSamples(): Record<string, string> {
  const { paths }: Json = JSON.parse(readFileSync('openapi.json', 'utf8'));
  const operations = Object.values<Json>(paths).flatMap((methods) => Object.values<Json>(methods));
  const samples = operations.map((operation): [string, string] => {
    const typed = operation['x-code-samples'].find(({ lang }: Json) => lang === 'TypeScript');
    return [`sample-${operation.operationId}.ts`, typed.source];
  });
  expect(samples.length).toBeGreaterThan(20);
  return Object.fromEntries(samples);
}

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
  // @ts-expect-error full and an amount that is none
  client.manageBuild({ userAddress: '0x', positionId: '', action: 'repay', full: true, amount: 5 }),
  // @ts-expect-error close takes no payment
  client.manageBuild({ userAddress: '0x', positionId: '', action: 'close', payToken: '0x' }),
  // @ts-expect-error a deposit has no least output
  client.equityDepositBuild({ strategyId: 'equity-0x', amount: '1', userAddress: '0x', minAmountOut: '1' }),
  // @ts-expect-error indexes are numbers
  client.equityExitBuild({ strategyId: 'equity-0x', userAddress: '0x', yieldPositionIds: ['0'] }),
  // @ts-expect-error an unknown parameter
  client.strategies({ chain: 1 }),
  // @ts-expect-error a required parameter
  client.walletPositions({}),
  client.ohlcv({ token: '0x', aggregate: 12 }),
  client.ohlcv({ token: '0x', timeframe: 'minute', aggregate: 15, limit: 10 }),
  client.ohlcv({ token: '0x', timeframe: 'day' }),
  // @ts-expect-error days have one size
  client.ohlcv({ token: '0x', timeframe: 'day', aggregate: 7 }),
  // @ts-expect-error a size of minutes, and hours are the default
  client.ohlcv({ token: '0x', aggregate: 5 }),
  // @ts-expect-error the token is required
  client.ohlcv({ timeframe: 'day' }),
];
type Result = NonNullable<(typeof StrategyPageDocument)['__apiType']> extends (variables: never) => infer R ? R : never;
export const same: Result extends StrategyPageQuery ? true : false = true;
`;

describe('GraphQL clients', () => {
  test('default: urql runs a typed document', async () => {
    const urql = new UrqlClient({ url: `${service.url}/graphql`, exchanges: [fetchExchange], preferGetMethod: false });
    const { data, error } = await urql.query(StrategyPageDocument, { first: 1, chainIds: [1] }).toPromise();
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
    const document = parse('query Q { strategies(first: 1) { asOf nodes { strategyId apyPct chainId } } }');
    const [settings] = Object.values<Json>((await documentedCodegen()).generates);
    const pluginMap: Json = { 'typescript-operations': typescriptOperations, 'typed-document-node': typedDocumentNode };
    const code = await codegen({
      schema: parse(sdl),
      schemaAst,
      documents: [{ location: 'q.graphql', document }],
      filename: 'q.ts',
      pluginMap,
      plugins: settings.plugins.map((name: string) => ({ [name]: {} })),
      config: settings.config,
    });
    expect(code).toContain('readonly');
    expect(code).not.toMatch(/\bany\b/);
  });
});

/** The settings for GraphQL Code Generator that docs/client.md shows. */
async function documentedCodegen(): Promise<Json> {
  const shown = samplesOf('docs/client.md', addresses()).find((code) => code.includes('generates:')) ?? '';
  mkdirSync(beside, { recursive: true });
  const file = join(beside, 'codegen.ts');
  const scalars = pathToFileURL(resolve('packages/client/src/graphql/index.ts')).href;
  writeFileSync(file, shown.replace('@spiral-gateway/client/graphql', scalars));
  return (await import(/* @vite-ignore */ pathToFileURL(file).href)).default;
}
