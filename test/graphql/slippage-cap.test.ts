import { type GraphQLField, type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Services } from '../../src/resolvers/common/services.ts';
import manifest from '../../src/rest/generated/manifest.json' with { type: 'json' };
import { buildSchema } from '../../src/schema/index.ts';
import { StaleDataError } from '../../src/transactions/index.ts';
import { sampleOf } from '../http/fields.ts';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import { completeContext } from '../resolvers/world.ts';
import type { Json } from '../support/service.ts';

/** The cap of slippage: GraphQL refuses values above it, and the rows of /v1 lower them. */

/** Slippages that reached a builder, as ratios. */
let built: (string | undefined)[] = [];
const build = async (...args: readonly unknown[]): Promise<never> => {
  const input =
    args.find((arg): arg is Json => typeof arg === 'object' && arg !== null && 'strategyId' in arg) ??
    args.find((arg): arg is Json => typeof arg === 'object' && arg !== null);
  built.push(input?.slippage?.toFixed());
  throw new StaleDataError({
    group: 'lendingState',
    asOf: '2026-11-22T12:00:00.000Z',
    staleAfterSec: 300,
    staleForSec: 100,
  });
};
const { leverage } = completeContext().live();
const services = {
  leverage: { ...leverage, preview: build, previewManage: build, open: build, manage: build },
  equity: { preview: build, previewExit: build, deposit: build, exit: build },
} as unknown as Partial<Services>;

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED, services });
});
afterAll(() => front.stop());
beforeEach(() => {
  built = [];
});

const schema = buildSchema();
const takesSlippage = (type: unknown): type is GraphQLInputObjectType =>
  isInputObjectType(type) && 'maxSlippageBps' in type.getFields();
/** The input of a field that takes a slippage, or the parts of its input that do, one of which is given. */
const inputsOf = (field: GraphQLField<unknown, unknown>) => {
  const argument = field.args.find(({ name }) => name === 'input');
  const type = argument && getNamedType(argument.type);
  if (takesSlippage(type)) return [{ name: field.name, type, at: 'input', input: '$input' }];
  const parts = isInputObjectType(type) && type.isOneOf ? Object.values(type.getFields()) : [];
  return parts.flatMap(({ name, type: part }) => {
    const of = getNamedType(part);
    const given = { name: `${field.name}.${name}`, at: `input.${name}`, input: `{${name}:$input}` };
    return takesSlippage(of) ? [{ ...given, type: of }] : [];
  });
};
/** Every field of the schema that takes a slippage. */
const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((root) =>
  Object.values(root?.getFields() ?? {}).flatMap((field) =>
    inputsOf(field).map(({ name, type, at, input }) => {
      const wallet = field.args.some((arg) => arg.name === 'wallet') && name !== 'preview.openLeverage';
      const [declared, passed] = wallet ? ['$wallet:Address!,', 'wallet:$wallet,'] : ['', ''];
      const query = `${root?.name.toLowerCase()}(${declared}$input:${type.name}!){${field.name}(${passed}input:${input}){__typename ...on Refusal{code message retryable retryAfterSec} ...on LimitExceededRefusal{field value limits{name value}}}}`;
      return { name, at, query, input: sampleOf(type) as Json, wallet };
    }),
  ),
);
const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const ask = async ({ query, input, wallet }: (typeof fields)[number], maxSlippageBps: unknown) => {
  const variables = { input: { ...input, maxSlippageBps }, wallet: wallet ? WALLET : undefined };
  const { body } = await front.graphql(query, { variables, headers: PARTNER_KEY });
  return { answer: body.data && Object.values(body.data as Json)[0], error: body.errors?.[0] } as Json;
};

test('default: every plan and its preview take a slippage', () => {
  expect(fields.map(({ name }) => name).sort()).toEqual([
    'equityDepositPlan',
    'equityExitPlan',
    'manageLeveragePlan',
    'openLeveragePlan',
    'preview.equityDeposit',
    'preview.equityExit',
    'preview.manageLeverage',
    'preview.openLeverage',
  ]);
});

describe.each(fields.map((field) => [field.name, field] as const))('%s', (_name, field) => {
  test.each(['101', '100.0001', '500', '10000', '1000000000000000000000000000000'])(
    'error: %s bps are refused, not lowered',
    async (bps) => {
      const { answer, error } = await ask(field, bps);
      expect([error, built]).toEqual([undefined, []]);
      expect(answer).toMatchObject({
        __typename: 'LimitExceededRefusal',
        code: 'LIMIT_EXCEEDED',
        retryable: false,
        field: `${field.at}.maxSlippageBps`,
        limits: [{ name: 'maxSlippageBps', value: '100' }],
      });
      expect(Number(answer.value)).toBe(Number(bps));
      expect(answer.message).toContain(answer.value);
      expect(answer.message).toMatch(/at most 100, that is 1 %.*send 100 or less/);
    },
  );

  test.each(['0', '-1', '-0.5'])('error: bad_request for %s bps, with the field and the limit', async (bps) => {
    const { answer, error } = await ask(field, bps);
    expect([answer, built]).toEqual([null, []]);
    expect(error.extensions).toMatchObject({
      code: 'bad_request',
      details: { field: `${field.at}.maxSlippageBps`, value: bps, limit: { above: '0', max: '100' } },
    });
  });

  test.each([
    ['100', '0.01'],
    ['0.5', '0.00005'],
    [null, undefined],
  ])('behavior: %s bps reach the builder as they are', async (bps, ratio) => {
    const { answer } = await ask(field, bps);
    expect([answer.__typename, built]).toEqual(['StaleDataRefusal', [ratio]]);
  });
});

test('behavior: a persisted operation over GraphQL has the cap of GraphQL', async () => {
  const named = {
    ManageBuild: 'manageLeveragePlan',
    EquityExitBuild: 'equityExitPlan',
  };
  for (const [operation, name] of Object.entries(named)) {
    const { input, wallet } = fields.find((field) => field.name === name) ?? {};
    const variables = { input: { ...input, maxSlippageBps: '101' }, wallet: wallet ? WALLET : undefined };
    const { body } = await front.send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...PARTNER_KEY },
      body: JSON.stringify({ documentId: manifest[operation as keyof typeof manifest].sha256, variables }),
    });
    expect([operation, body.data[name].code, built]).toEqual([operation, 'LIMIT_EXCEEDED', []]);
  }
});

describe('the rows of /v1', () => {
  const rows = () =>
    front.routes.filter(({ body }) => body instanceof z.ZodObject && Object.hasOwn(body.shape, 'slippage'));

  test('default: eight rows take a slippage', () => {
    expect(rows()).toHaveLength(fields.length);
  });

  test('behavior: each passes a slippage above the cap on, for its builder to lower', async () => {
    for (const { path, examples } of rows()) {
      built = [];
      const { status, body } = await front.send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...PARTNER_KEY },
        body: JSON.stringify({ ...(examples[0]?.body as object), slippage: 0.05 }),
      });
      expect([path, status, body.error.code, built]).toEqual([path, 503, 'stale_data', ['0.05']]);
    }
  });
});
