import { graphql } from 'graphql';
import { describe, expect, test } from 'vitest';
import { appErrorBehind } from '../../src/schema/common/input-errors.ts';
import { buildSchema } from '../../src/schema/index.ts';
import { encodeGlobalId } from '../../src/shared/ids.ts';
import { chainOf } from '../domain/world.ts';
import { completeContext } from '../resolvers/world.ts';

const schema = buildSchema();
const ctx = { ...completeContext(), caller: { kind: 'key', keyId: 'test', tier: 'ops' } as const };

const marketId = chainOf(1).markets.find(({ kind }) => kind === 'loop')?.id ?? '';
const vaultId = chainOf(4663).equityVaults[0]?.id ?? '';
const wallet = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const stranger = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';
const loop = encodeGlobalId('LoopStrategy', `1:${marketId}`);
const vault = encodeGlobalId('EquityVaultStrategy', `4663:${vaultId}`);
const market = encodeGlobalId('Market', `1:${marketId}`);
const position = encodeGlobalId('Position', `1:${wallet}:0`);

const run = (source: string) => graphql({ schema, source, contextValue: ctx });

/** The id as every other argument of its type takes it: what was read, and by the same argument again. */
describe.each([
  ['strategy', 'strategyId', marketId, loop],
  ['strategy', 'strategyId', vaultId, vault],
  ['market', 'marketId', marketId, market],
])('%s(id:)', (field, idField, domainId, globalId) => {
  test.each([domainId, globalId])('default: takes %s', async (id) => {
    const { data, errors } = await run(`{ ${field}(id: "${id}") { id ${idField} } }`);
    expect([errors, data?.[field]]).toEqual([undefined, { id: globalId, [idField]: domainId }]);
  });
});

/** Inputs, the field that is refused, and what the message says. */
const REFUSED: readonly (readonly [name: string, source: string, field: string, message: RegExp])[] = [
  [
    'a market as a strategy',
    `{ strategy(id: "${market}") { id } }`,
    'id',
    /is the `id` of a Market\. Send the strategyId or the `id` of a LoopStrategy or EquityVaultStrategy\./,
  ],
  [
    'a strategy as a market',
    `{ market(id: "${loop}") { id } }`,
    'id',
    /is the `id` of a LoopStrategy\. Send the marketId or the `id` of a Market\./,
  ],
  [
    'a position as a wallet',
    `{ wallet(address: "${position}") { id } }`,
    'address',
    /is the `id` of a Position\. Send the address or the `id` of a Wallet\./,
  ],
  [
    'a market as a position',
    `{ position(id: "${market}") { id } }`,
    'id',
    /is the `id` of a Market\. Send the positionId or the `id` of a Position\./,
  ],
  [
    'a strategy in an input',
    `{ preview(input: { openLeverage: { strategyId: "${market}", payToken: "${wallet}", amount: "1", target: { leverage: "2" } } }) { __typename } }`,
    'strategyId',
    /is the `id` of a Market/,
  ],
  [
    'another spelling of a key',
    `{ strategy(id: "${encodeGlobalId('LoopStrategy', `1:${marketId.toUpperCase().replace('X', 'x')}`)}") { id } }`,
    'id',
    /is not a global id/,
  ],
  [
    'a vault as a loop',
    `{ strategy(id: "${encodeGlobalId('LoopStrategy', `4663:${vaultId}`)}") { id } }`,
    'id',
    /is not a global id/,
  ],
  ['a text', '{ position(id: "first") { id } }', 'id', /is not the id of a position\. Send its positionId/],
  ['an index without a chain', '{ position(id: 3) { id } }', 'id', /names no chain\. Send \{chainId\}-3/],
  ['a position without an owner', '{ position(id: "1-3") { id } }', 'wallet', /names no owner\. Send wallet too/],
  [
    'a position of another wallet',
    `{ position(id: "${position}", wallet: "${stranger}") { id } }`,
    'wallet',
    /contradicts id, which is a position of 0x90F7/,
  ],
  [
    'a position on a chain that is not served',
    `{ position(id: "5-0", wallet: "${wallet}") { id } }`,
    'id',
    /5 is not served\. Send one of 1, 4663/,
  ],
  [
    'a loop on another chain than its vault',
    `mutation { equityExitPlan(wallet: "${wallet}", input: { strategyId: "${vaultId}", yieldPositionIds: [0, "1-1"] }) { __typename } }`,
    'input.yieldPositionIds.1',
    /is a position on chain 1, and the vault is on chain 4663/,
  ],
];

test.each(REFUSED)('error: bad_request for %s', async (_name, source, field, message) => {
  const { errors } = await run(source);
  const error = errors?.[0] && appErrorBehind(errors[0]);
  expect(error).toMatchObject({ code: 'bad_request', details: { field } });
  expect(error?.message).toMatch(message);
});

test('error: a refused entry of a list in a variable has its place', async () => {
  const source =
    'mutation($w: Address!, $i: EquityExitInput!) { equityExitPlan(wallet: $w, input: $i) { __typename } }';
  const i = { strategyId: vaultId, yieldPositionIds: [0, market] };
  const { errors } = await graphql({ schema, source, variableValues: { w: wallet, i }, contextValue: ctx });
  expect(errors?.[0] && appErrorBehind(errors[0])).toMatchObject({
    code: 'bad_request',
    details: {
      field: 'variables.i.yieldPositionIds.1',
      value: `${market.slice(0, 77)}...`,
      limit: { oneOf: ['Position'] },
    },
  });
});
