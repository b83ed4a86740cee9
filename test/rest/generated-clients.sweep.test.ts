import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { jsonSchemaToZod } from 'json-schema-to-zod';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { operations, positiveRequests } from '../frozen/requests.ts';
import { sendRequest } from '../support/http-client.ts';
import { type Json, startService } from '../support/service.ts';

const root = new URL('../..', import.meta.url).pathname;
const bin = (name: string) => join(root, 'node_modules/.bin', name);
const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generated-clients-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Bodies as a partner writes them. Each line below `@ts-expect-error` has to be refused by the compiler. */
const USAGE = `
const open = { strategyId: '0x', payToken: '0x', amount: '1', userAddress: '0x', chainId: 1 } as const;
export const byLeverage: LeverageBuildBody = { ...open, leverage: 5 };
export const byLtv: LeverageBuildBody = { ...open, desiredLtv: '80' };
// @ts-expect-error neither form of the target
export const neither: LeverageBuildBody = { ...open };
// @ts-expect-error both forms of the target
export const both: LeverageBuildBody = { ...open, leverage: 5, desiredLtv: '80' };
// @ts-expect-error a chain that is not served
export const otherChain: LeverageBuildBody = { ...open, leverage: 5, chainId: 10 };
// @ts-expect-error an amount is a string
export const number: LeverageBuildBody = { ...open, amount: 1, leverage: 5 };

const at = { userAddress: '0x', positionId: '1-0x-0' } as const;
export const close: ManageBuildBody = { ...at, action: 'close' };
export const repayAll: ManageBuildBody = { ...at, action: 'repay', full: true };
export const borrow: ManageBuildBody = { ...at, action: 'borrow', amount: '1' };
// @ts-expect-error borrow does not take full
export const borrowFull: ManageBuildBody = { ...at, action: 'borrow', amount: '1', full: true };
// @ts-expect-error borrow needs an amount
export const borrowNothing: ManageBuildBody = { ...at, action: 'borrow' };
// @ts-expect-error leverage of a close
export const closeTo: ManageBuildBody = { ...at, action: 'close', leverage: 2 };
// @ts-expect-error an increase needs exactly one target
export const increase: ManageBuildBody = { ...at, action: 'increase_leverage' };
// @ts-expect-error a repayment of nothing
export const repayNothing: ManageBuildBody = { ...at, action: 'repay' };
// @ts-expect-error slippage is a number
export const slippage: LeverageBuildBody = { ...open, leverage: 5, slippage: '0.005' };
// @ts-expect-error a field of another surface
export const camel: LeverageBuildBody = { ...open, leverage: 5, maxSlippageBps: '50' };
// @ts-expect-error an unknown action
export const swap: ManageBuildBody = { ...at, action: 'swap' };

export function tier(strategy: Strategy): string {
  if (!strategy.exitLiquidity.measured) return 'unmeasured';
  return strategy.exitLiquidity.slippagePct['100000'] ?? 'no route';
}
// @ts-expect-error the loss is known only when it was measured
export const loss = (strategy: Strategy) => strategy.exitLiquidity.slippagePct;
export const preview = (batch: EquityDepositBatch) => batch.meta.preview.netApyPct;
export const position = (batch: EquityExitBatch) => batch.meta.position.stock.ltvPct;
const token = '0x';
export const hours: CandlesQuery = { token, aggregate: 4 };
export const quarters: CandlesQuery = { token, timeframe: 'minute', aggregate: 15, limit: 10 };
// @ts-expect-error days have one size
export const week: CandlesQuery = { token, timeframe: 'day', aggregate: 7 };
// @ts-expect-error a size of another timeframe
export const dozenMinutes: CandlesQuery = { token, timeframe: 'minute', aggregate: 12 };
// @ts-expect-error calls have no gas
export const gas = (batch: EquityExitBatch) => batch.calls[0]?.gas;
// @ts-expect-error a call may be absent
export const firstData = (batch: EquityExitBatch): string => batch.calls[0].data;
// @ts-expect-error an exit has no preview
export const wrong = (batch: EquityExitBatch) => batch.meta.preview;
`;

const STRICT = {
  strict: true,
  noEmit: true,
  // The declarations of browsers take most of the time, and the types use none of them.
  lib: ['es2023'],
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  module: 'nodenext',
  allowImportingTsExtensions: true,
  types: [],
  skipDefaultLibCheck: true, // the compiler's own
};

const NAMES = [
  'LeverageBuildBody',
  'ManageBuildBody',
  'CandlesQuery',
  'Strategy',
  'EquityDepositBatch',
  'EquityExitBatch',
];

/** Generators, each with its arguments and the import of its types. */
const GENERATORS = [
  {
    generator: 'openapi-typescript',
    args: (out: string) => ['openapi.json', '--output', out],
    out: 'openapi-typescript.ts',
    header: (module: string) =>
      `import type { components } from '${module}';\n${NAMES.map((name) => `type ${name} = components['schemas']['${name}'];`).join('\n')}`,
  },
  {
    generator: 'openapi-ts',
    args: (out: string) => [
      ...['--input', 'openapi.json', '--output', out, '--plugins', '@hey-api/typescript', '--silent'],
    ],
    out: 'hey-api',
    header: (module: string) => `import type { ${NAMES.join(', ')} } from '${module}/types.gen.ts';`,
  },
];

test('behavior: types of openapi-typescript and of openapi-ts compile strictly and refuse wrong bodies', async () => {
  const files = await Promise.all(
    GENERATORS.map(async ({ generator, args, out, header }) => {
      await run(bin(generator), args(join(folder, out)), { cwd: root });
      const usage = join(folder, `${generator}-usage.ts`);
      await writeFile(usage, `${header(`./${out}`)}\n${USAGE}`);
      return usage;
    }),
  );
  const config = join(folder, 'tsconfig.json');
  await writeFile(config, JSON.stringify({ compilerOptions: STRICT, files }));
  const compiled = await run(bin('tsc'), ['--project', config]).catch((error: { stdout: string }) => error);
  expect(compiled.stdout).toBe('');
});

type Parse = (body: unknown) => {
  readonly success: boolean;
  readonly error?: { readonly issues: readonly unknown[] } | undefined;
};

/** The validators that the zod plugin of openapi-ts generates, by operation. */
async function validatorsOfOpenapiTs(): Promise<(operationId: string) => Parse | undefined> {
  // Inside of the project, so that the generated module finds zod.
  const out = join(root, 'node_modules/.cache/spiral-gateway', `zod-${process.pid}`);
  await mkdir(out, { recursive: true });
  try {
    const plugins = ['--plugins', 'zod', '--silent'];
    await run(bin('openapi-ts'), ['--input', 'openapi.json', '--output', out, ...plugins], { cwd: root });
    const { code } = await transform(await readFile(join(out, 'zod.gen.ts'), 'utf8'), { loader: 'ts', format: 'esm' });
    await writeFile(join(out, 'zod.gen.mjs'), code);
    const generated = await import(/* @vite-ignore */ pathToFileURL(join(out, 'zod.gen.mjs')).href);
    return (operationId) => {
      const name = `z${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Response`;
      return generated[name] && ((body) => generated[name].safeParse(body));
    };
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

const document: Json = JSON.parse(await readFile(join(root, 'openapi.json'), 'utf8'));

/** The schema with its named parts in place: json-schema-to-zod follows no references. */
function withoutReferences(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutReferences);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref, ...own } = schema;
  if (typeof $ref === 'string') {
    return { ...withoutReferences(document.components.schemas[$ref.split('/').at(-1) ?? '']), ...own };
  }
  return Object.fromEntries(Object.entries(own).map(([key, part]) => [key, withoutReferences(part)]));
}

function validatorOfJsonSchemaToZod(schema: Json): Parse {
  const code = jsonSchemaToZod(withoutReferences(schema), { module: 'none' });
  const validator = new Function('z', `return ${code}`)(z);
  return (body) => validator.safeParse(body);
}

test('behavior: answers of every row pass the zod validators of two generators', async () => {
  const service = await startService();
  try {
    const generated = await validatorsOfOpenapiTs();
    const failures: unknown[] = [];
    const unchecked: string[] = [];
    for (const row of operations) {
      const { operationId, responses } = row.operation;
      for (const { name, url, init } of positiveRequests(row)) {
        const { status, body, headers } = await sendRequest(`${service.url}${url}`, init);
        const schema = responses[status]?.content?.['application/json']?.schema;
        if (!headers.get('content-type')?.includes('json')) continue;
        const validators = {
          'openapi-ts': status < 300 ? generated(operationId) : undefined,
          'json-schema-to-zod': schema && validatorOfJsonSchemaToZod(schema),
        };
        for (const [generator, parse] of Object.entries(validators)) {
          const parsed = parse?.(body);
          if (parsed === undefined && status < 300) unchecked.push(`${generator}: ${operationId}, ${name}`);
          if (parsed?.success === false)
            failures.push([generator, operationId, name, parsed.error?.issues.slice(0, 2)]);
        }
      }
    }
    expect(unchecked).toEqual([]);
    expect(failures).toEqual([]);
  } finally {
    await service.stop();
  }
});
