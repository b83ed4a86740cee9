import { readFileSync } from 'node:fs';
import { GraphQLError } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createTools } from '../../src/mcp/tools.ts';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import { routes } from '../mcp/routes.ts';
import type { Json } from '../support/service.ts';

const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as Json;

/** What the rows have executed, and an error for all of them. */
const executed: Json[] = [];
let front: Front;
beforeAll(async () => {
  const stopped = new GraphQLError('stopped here', { extensions: { code: 'conflict', status: 409 } });
  front = await startTestGateway({
    env: UNLIMITED,
    execute: async ({ operation, variables }) => {
      executed.push({ operation, variables });
      return { result: { errors: [stopped] }, again: async () => ({ errors: [stopped] }) };
    },
  });
});
afterAll(() => front?.stop());

/** The outcome of a request: what is executed, or the refusal. */
async function outcomeOf(path: string, method: string, body: Json): Promise<Json> {
  executed.length = 0;
  const headers = { ...PARTNER_KEY, 'content-type': 'application/json' };
  const answer = await front.send(path, { method, headers, body: JSON.stringify(body) });
  const { code, message, details } = answer.body.error;
  return { status: answer.status, code, message, details, executed: [...executed] };
}

async function toolOutcomeOf(name: string, args: Json): Promise<Json> {
  executed.length = 0;
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const headers = { ...PARTNER_KEY, 'content-type': 'application/json' };
  const { body } = await front.send('/mcp', { method: 'POST', headers, body: JSON.stringify(message) });
  const { code, message: text, details } = JSON.parse(body.result.content[0].text).error;
  return { code, message: text, details, executed: [...executed] };
}

const bodies = routes.filter(({ body }) => body !== undefined);
const resolve = (schema: Json): Json =>
  schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)];

/** The fields that a body may leave out, by the document: those that some form of it does not require. */
function optionalInDocument(path: string, method: string): readonly string[] {
  const root = resolve(document.paths[path][method.toLowerCase()].requestBody.content['application/json'].schema);
  const forms = (root.oneOf ?? root.anyOf ?? [root]).map(resolve) as Json[];
  const names = new Set(forms.flatMap(({ properties }) => Object.keys(properties)));
  return [...names].filter((name) => forms.some(({ required = [] }) => !required.includes(name)));
}

function optionalInRow(body: z.ZodType): readonly string[] {
  const shape = (body as z.ZodObject).shape as Readonly<Record<string, z.ZodType>>;
  return Object.keys(shape).filter((name) => shape[name]?.safeParse(undefined).success);
}

const without = (body: Json, ...names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
const nulls = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, null]));

describe.each(bodies.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_name, route) => {
  const { path, method, body = z.never(), examples } = route;
  const optional = optionalInRow(body);
  const url = examples[0]?.params
    ? Object.entries(examples[0].params).reduce((text, [name, value]) => text.replace(`{${name}}`, value), path)
    : path;
  const examplesOf = examples.map((example) => [example.summary, example.body as Json] as const);

  test('default: the document and the row have the same optional fields', () => {
    expect([...optionalInDocument(path, method)].sort()).toEqual([...optional].sort());
  });

  test.each(examplesOf)('behavior: null in an optional field is absence: %s', async (_summary, example) => {
    for (const field of optional) {
      const absent = without(example, field);
      const expected = await outcomeOf(url, method, absent);
      expect([field, await outcomeOf(url, method, { ...absent, [field]: null })]).toEqual([field, expected]);
    }
  });

  test.each(examplesOf)(
    'behavior: null in every optional field is the required ones alone: %s',
    async (_s, example) => {
      const expected = await outcomeOf(url, method, without(example, ...optional));
      expect(await outcomeOf(url, method, { ...example, ...nulls(optional) })).toEqual(expected);
    },
  );

  test.each(examplesOf)('error: bad_request: null in a required or an unknown field: %s', async (_summary, example) => {
    for (const field of [...Object.keys((body as z.ZodObject).shape).filter((name) => !optional.includes(name)), 'x']) {
      const { status, code } = await outcomeOf(url, method, { ...example, [field]: null });
      expect([field, status, code]).toEqual([field, 400, 'bad_request']);
    }
  });
});

describe.each([...createTools(routes).values()].map((bound) => [bound.tool.name, bound] as const))(
  'the tool %s',
  (name, { listed, names }) => {
    const [example] = listed.inputSchema.examples as unknown as readonly Json[];
    const optional = names.filter((one) => !(listed.inputSchema.required ?? []).includes(one));

    test.skipIf(optional.length === 0)('behavior: null in an optional argument is absence', async () => {
      for (const field of optional) {
        const absent = without(example, field);
        const expected = await toolOutcomeOf(name, absent);
        expect([field, await toolOutcomeOf(name, { ...absent, [field]: null })]).toEqual([field, expected]);
      }
      const alone = await toolOutcomeOf(name, without(example, ...optional));
      expect(await toolOutcomeOf(name, { ...example, ...nulls(optional) })).toEqual(alone);
    });
  },
);

describe('alternatives that are all null', () => {
  const wallet = `0x${'9'.repeat(40)}`;
  const market = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
  const open = { strategyId: market, payToken: wallet, amount: '1', leverage: null, desiredLtv: null };
  const manage = { userAddress: wallet, action: 'close', id: 0 };
  test.each([
    ['the target of a preview', '/v1/partner/leverage/simulate', open],
    ['the target of a build', '/v1/partner/leverage/build', { ...open, userAddress: wallet }],
    [
      'the target of an increase',
      '/v1/partner/manage/build',
      { ...manage, action: 'increase_leverage', leverage: null, desiredLtv: null },
    ],
    ['the position', '/v1/partner/manage/build', { ...manage, id: null, positionId: null }],
    [
      'the size of a repayment',
      '/v1/partner/manage/build',
      { ...manage, action: 'repay', amount: null, payToken: null, full: null },
    ],
    [
      'the subject of an alert',
      '/v1/partner/alerts',
      {
        chainId: 1,
        condition: 'stale',
        webhookUrl: 'https://a.example/',
        wallet: null,
        strategyId: null,
        positionIndex: null,
      },
    ],
  ])('error: bad_request: %s', async (_name, path, body) => {
    const { status, code, executed: ran } = await outcomeOf(path, 'POST', body);
    const absent = await outcomeOf(
      path,
      'POST',
      Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)),
    );
    expect(await outcomeOf(path, 'POST', body)).toEqual(absent);
    // The subject of an alert is checked by its operation.
    if (ran.length === 0) expect([status, code]).toEqual([400, 'bad_request']);
    else expect(path).toContain('alerts');
  });
});
