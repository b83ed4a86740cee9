import { readFileSync } from 'node:fs';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTools } from '../../src/mcp/tools.ts';
import { type Json, PARTNER, startService, type TestService } from '../support/service.ts';
import { connect, failureOf } from './client.ts';
import { routes } from './routes.ts';

const tools = [...createTools(routes).values()];

/** Rows that are not tools: histories of all markets are too long for one, and the others are for operators. */
/** Lists that another tool has by one id, rows of operations, and alerts: they are set up once, and a tool changes nothing. */
const NOT_TOOLS = [
  'BorrowApyHistories',
  'CollateralApyHistories',
  'OpsPortfolios',
  'OpsPortfolio',
  'OpsDriftHistory',
  'AlertCreate',
  'Alerts',
  'AlertById',
  'AlertDelete',
  'AlertPing',
  'AlertDeliveries',
  'AlertRedeliver',
  'AlertRotateSecret',
  'WalletStatement',
  'MarketSeries',
  'TvlHistory',
  'Usage',
];

/** More text than this crowds out the conversation of a model. */
const MAX_ANSWER_CHARS = 24_000;
/** Clients load all tools at once, and models read them before each answer. */
const MAX_LIST_BYTES = 43_000;

let service: TestService;
let client: Client;
let keyless: Client;
beforeAll(async () => {
  service = await startService();
  [client, keyless] = await Promise.all([connect(service.url, PARTNER), connect(service.url)]);
});
afterAll(async () => {
  await Promise.all([client?.close(), keyless?.close()]);
  await service?.stop();
});

/** The first documented example of a tool. */
function argumentsOf({ listed }: (typeof tools)[number]): Record<string, unknown> {
  const [example] = listed.inputSchema.examples as readonly Record<string, unknown>[];
  return { ...example };
}

async function call(caller: Client, name: string, args: Record<string, unknown>) {
  return (await caller.callTool({ name, arguments: args })) as CallToolResult & { readonly structuredContent?: Json };
}

describe('the list of tools', () => {
  test('default: each row is a tool, or is named as none', () => {
    const without = routes.filter(({ tool }) => tool === undefined).map(({ operation }) => operation);
    expect(without.sort()).toEqual([...NOT_TOOLS].sort());
  });

  test('default: the guide names every tool, in the row of its key', () => {
    const rows = [...readFileSync('docs/mcp.md', 'utf8').matchAll(/^\| (`.+`) \|.*\| (yes|no) \|$/gm)];
    const named = rows.flatMap(([, cell = '', key]) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => `${name} ${key}`),
    );
    const needsKey = ({ listed }: (typeof tools)[number]) =>
      listed.description?.includes('Needs an API key') ? 'yes' : 'no';
    expect(named.sort()).toEqual(tools.map((one) => `${one.tool.name} ${needsKey(one)}`).sort());
  });

  test('default: the client gets every tool with its input and hints, and small outputs', async () => {
    const { tools: listed } = await client.listTools();
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ tool }) => tool.name));
    for (const { name, description = '', inputSchema, outputSchema, annotations } of listed) {
      expect([name, inputSchema.type, inputSchema.additionalProperties]).toEqual([name, 'object', false]);
      expect(JSON.stringify(outputSchema ?? null).length).toBeLessThan(800);
      expect(annotations).toMatchObject({
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      });
      expect(description).toMatch(/Needs (no|an) API key\.$/);
      expect(description.includes('UNSIGNED')).toBe(name.startsWith('build_'));
    }
    expect(Buffer.byteLength(JSON.stringify({ tools: listed }))).toBeLessThan(MAX_LIST_BYTES);
    expect(listed.filter(({ outputSchema }) => outputSchema !== undefined).map(({ name }) => name)).toContain(
      'get_leveraged_apy_history',
    );
  });

  test('behavior: descriptions do not depend on the catalog or on answers of providers', async () => {
    const { tools: listed } = await client.listTools();
    expect(listed).toEqual(JSON.parse(JSON.stringify(tools.map((tool) => tool.listed))));
  });
});

describe.each(tools.map((tool) => [tool.tool.name, tool] as const))('%s', (name, tool) => {
  const keyed = tool.route.surface === 'Partner';

  test('default: answers the example of its row within its schema, sized for a model', async () => {
    const result = await call(keyed ? client : keyless, name, argumentsOf(tool));
    expect(result.isError, JSON.stringify(result.content).slice(0, 500)).toBeUndefined();
    const [text] = result.content;
    expect(text).toEqual({ type: 'text', text: JSON.stringify(result.structuredContent) });
    expect(JSON.stringify(result.structuredContent).length).toBeLessThan(MAX_ANSWER_CHARS);
  });

  test('error: bad_request: an unknown argument is named', async () => {
    const error = failureOf(await call(client, name, { ...argumentsOf(tool), chainIdd: 1 }));
    expect(error).toMatchObject({ code: 'bad_request', details: { field: 'chainIdd' } });
    expect(error.nextStep).toContain('details.field');
  });

  test.skipIf(!keyed)('error: unauthorized: a call without a key says where the key goes', async () => {
    const error = failureOf(await call(keyless, name, argumentsOf(tool)));
    expect(error).toMatchObject({ code: 'unauthorized', retryable: false });
    expect(error.nextStep).toContain('Authorization: Bearer <API_KEY>');
  });
});

describe('the examples', () => {
  test.each(tools.map((tool) => [tool.tool.name, tool.listed] as const))(
    'default: %s fits its input',
    (_name, listed) => {
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(listed.inputSchema);
      const examples = listed.inputSchema.examples as readonly unknown[];
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples)
        expect([example, validate(example), validate.errors]).toEqual([example, true, null]);
    },
  );
});

describe('briefs', () => {
  test.each([
    ['list_strategies', 'strategies'],
    ['list_markets', 'markets'],
    ['list_stable_yields', 'stableApy'],
  ])('default: the items of %s are parts of the whole ones, less than half as long', async (name, field) => {
    const brief = (await call(keyless, name, { limit: 100 })).structuredContent?.[field] as Json[];
    const full = (await call(keyless, name, { limit: 100, detail: 'full' })).structuredContent?.[field] as Json[];
    expect(brief.length).toBe(full.length);
    for (const [i, item] of brief.entries()) expect(full[i]).toMatchObject(item);
    expect(JSON.stringify(brief).length * 2).toBeLessThan(JSON.stringify(full).length);
  });

  test('behavior: briefs and whole lists of one row are cached apart', async () => {
    const { body } = await service.get('/v1/strategies');
    expect(Object.keys(body.strategies[0])).toContain('leverageLadder');
    const brief = await call(keyless, 'list_strategies', {});
    expect(Object.keys(brief.structuredContent?.strategies[0])).not.toContain('leverageLadder');
    expect((await service.get('/v1/strategies')).body).toEqual(body);
  });

  test('behavior: a vault is in the list with the rates of the whole', async () => {
    const { structuredContent } = await call(keyless, 'list_strategies', { chainId: 4663 });
    const { body } = await service.get('/v1/strategies?chainId=4663');
    expect(body.strategies[0]).toMatchObject(structuredContent?.strategies[0]);
  });

  test('error: bad_request: a tool without a brief has no detail', async () => {
    const error = failureOf(await call(keyless, 'get_tvl', { detail: 'full' }));
    expect(error).toMatchObject({ code: 'bad_request', details: { field: 'detail' } });
  });
});

describe('pages', () => {
  test('default: pages of a list are the whole list of the row', async () => {
    const { body } = await service.get('/v1/strategies');
    const first = await call(keyless, 'list_strategies', { limit: 20, detail: 'full' });
    expect(first.structuredContent?.page).toEqual({ offset: 0, limit: 20, total: 25, nextOffset: 20 });
    const second = await call(keyless, 'list_strategies', { limit: 20, offset: 20, detail: 'full' });
    expect(second.structuredContent?.page).toEqual({ offset: 20, limit: 20, total: 25, nextOffset: null });
    const lists = [first, second].flatMap(({ structuredContent }) => structuredContent?.strategies);
    expect(lists).toEqual(body.strategies);
  });

  test('default: a history begins with its newest points, in order of time', async () => {
    const id = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
    const { body } = await service.get(`/v1/markets/${id}/borrow-apy-history`);
    const newest = await call(keyless, 'get_borrow_apy_history', { id, limit: 5 });
    expect(newest.structuredContent?.history).toEqual(body.history.slice(-5));
    const before = await call(keyless, 'get_borrow_apy_history', { id, limit: 5, offset: 5 });
    expect(before.structuredContent?.history).toEqual(body.history.slice(-10, -5));
    const past = await call(keyless, 'get_borrow_apy_history', { id, offset: 1_000 });
    expect(past.structuredContent).toMatchObject({ history: [], page: { nextOffset: null } });
  });

  test.each([
    ['limit', 0],
    ['limit', 101],
    ['limit', 1.5],
    ['limit', '5'],
    ['offset', -1],
    ['detail', 'all'],
  ])('error: bad_request: %s %s', async (field, value) => {
    const error = failureOf(await call(keyless, 'list_strategies', { [field]: value }));
    expect(error).toMatchObject({ code: 'bad_request', details: { field } });
  });
});
