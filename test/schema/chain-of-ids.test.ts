import { type GraphQLInputType, getNamedType, graphql, isInputObjectType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { appErrorBehind } from '../../src/schema/common/input-errors.ts';
import { buildSchema } from '../../src/schema/index.ts';
import { encodeGlobalId } from '../../src/shared/ids.ts';
import { chainOf } from '../domain/world.ts';
import { completeContext } from '../resolvers/world.ts';

const schema = buildSchema();
const ctx = { ...completeContext(), caller: { kind: 'key', keyId: 'test', tier: 'ops' } as const };

const marketId = chainOf(1).markets.find(({ kind }) => kind === 'loop')?.id;
const vaultId = chainOf(4663).equityVaults[0]?.id;
const wallet = `0x${'1'.repeat(40)}`;
const open = `chainId: 4663, input: { strategyId: "${marketId}", payToken: "${wallet}", amount: "1", target: { leverage: "2" } }`;
const deposit = `chainId: 1, input: { strategyId: "${vaultId}", amount: "1" }`;

/** Every field that takes a chain beside an id with a chain, requested with another chain, and the refused value. */
const CONTRADICTIONS: Readonly<Record<string, readonly (readonly [source: string, field: string, right: number])[]>> = {
  'Query.market': [[`{ market(id: "${marketId}", chainId: 4663) { id } }`, 'chainId', 1]],
  'Query.strategy': [
    [`{ strategy(id: "${marketId}", chainId: 4663) { id } }`, 'chainId', 1],
    [`{ strategy(id: "${vaultId}", chainId: 1) { id } }`, 'chainId', 4663],
  ],
  'Query.preview': [
    [`{ preview(${open.replace('input: {', 'input: { openLeverage: {')} }) { __typename } }`, 'chainId', 1],
    [`{ preview(${deposit.replace('input: {', 'input: { equityDeposit: {')} }) { __typename } }`, 'chainId', 4663],
    [
      `{ preview(wallet: "${wallet}", chainId: 1, input: { equityExit: { strategyId: "${vaultId}" } }) { __typename } }`,
      'chainId',
      4663,
    ],
    [
      `{ preview(wallet: "${wallet}", chainId: 4663, input: { manageLeverage: { position: "1-0", action: { close: {} } } }) { __typename } }`,
      'chainId',
      1,
    ],
  ],
  'Mutation.openLeveragePlan': [
    [`mutation { openLeveragePlan(wallet: "${wallet}", ${open}) { __typename } }`, 'chainId', 1],
  ],
  'Mutation.equityDepositPlan': [
    [`mutation { equityDepositPlan(wallet: "${wallet}", ${deposit}) { __typename } }`, 'chainId', 4663],
  ],
  'Mutation.equityExitPlan': [
    [
      `mutation { equityExitPlan(wallet: "${wallet}", chainId: 1, input: { strategyId: "${vaultId}" }) { __typename } }`,
      'chainId',
      4663,
    ],
  ],
  'Mutation.createAlert': [
    [
      `mutation { createAlert(chainId: 4663, input: { strategyId: "${marketId}", condition: STALE, webhookUrl: "https://a.example" }) { secret } }`,
      'chainId',
      1,
    ],
    [
      `mutation { createAlert(chainId: 4663, input: { wallet: "${wallet}", positionId: "1-0", condition: STALE, webhookUrl: "https://a.example" }) { secret } }`,
      'chainId',
      1,
    ],
  ],
};
const CHAIN = /^chainIds?$/;
const DOMAIN_IDS = ['MarketId', 'StrategyId', 'PositionId'];
/** A chain and a version of its strategies are one value. */
const PAIRS = ['ChainVersion'];

/** Whether an input names something that has a chain: by its own type, or in an input object, but not in a filter. */
function namesChain(type: GraphQLInputType): boolean {
  const named = getNamedType(type);
  if (DOMAIN_IDS.includes(named.name)) return true;
  if (!isInputObjectType(named) || named.name.endsWith('Filter')) return false;
  const fields = Object.values(named.getFields());
  if (named.isOneOf && fields.some(({ type: of }) => namesChain(of))) return true;
  return fields.some(({ type: of }) => DOMAIN_IDS.includes(getNamedType(of).name));
}

function placesOfSchema(): string[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter(({ args }) => args.some(({ name }) => CHAIN.test(name)) && args.some(({ type: of }) => namesChain(of)))
        .map(({ name }) => `${type.name}.${name}`),
    );
}

test('every chain is an argument of a field: no filter and no input has one', () => {
  const inside = Object.values(schema.getTypeMap())
    .filter(isInputObjectType)
    .filter((type) => Object.keys(type.getFields()).some((name) => CHAIN.test(name)))
    .map(({ name }) => name);
  expect(inside).toEqual(PAIRS);
});

describe('a chain beside an id that names one', () => {
  test('default: every place of the schema is asked below', () => {
    expect(placesOfSchema().sort()).toEqual(Object.keys(CONTRADICTIONS).sort());
  });

  test.each(Object.values(CONTRADICTIONS).flat())(
    'error: bad_request naming the right chain for %s',
    async (source, field, right) => {
      const { data, errors } = await graphql({ schema, source, contextValue: ctx });
      expect(Object.values(data ?? {})).toEqual([null]);
      const error = errors?.[0] && appErrorBehind(errors[0]);
      expect(error).toMatchObject({ code: 'bad_request', details: { field, limit: { oneOf: [right] } } });
      expect(error?.message).toMatch(new RegExp(`contradict.* is on chain ${right}\\. Send .*${right}`));
    },
  );

  test.each(['LoopStrategy', 'EquityVaultStrategy', 'Market'])(
    'error: bad_request or not_found for the id of a %s on another chain',
    async (name) => {
      const [key, right] = name === 'EquityVaultStrategy' ? [`1:${vaultId}`, 4663] : [`4663:${marketId}`, 1];
      const { errors } = await graphql({
        schema,
        source: 'query($id: ID!) { node(id: $id) { id } }',
        variableValues: { id: encodeGlobalId(name, key) },
        contextValue: ctx,
      });
      expect(errors?.[0]?.message).toContain(`is on chain ${right}`);
    },
  );
});
