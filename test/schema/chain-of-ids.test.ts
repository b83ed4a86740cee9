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
const open = `input: { strategyId: "${marketId}", chainId: 4663, payToken: "${wallet}", amount: "1", target: { leverage: "2" } }`;
const deposit = `input: { strategyId: "${vaultId}", chainId: 1, amount: "1" }`;

/** Every field that takes a chain beside an id with a chain, requested with another chain, and the refused value. */
const CONTRADICTIONS: Readonly<Record<string, readonly (readonly [source: string, field: string, right: number])[]>> = {
  'Query.market': [[`{ market(marketId: "${marketId}", chainId: 4663) { id } }`, 'chainId', 1]],
  'Query.strategy': [
    [`{ strategy(strategyId: "${marketId}", chainId: 4663) { id } }`, 'chainId', 1],
    [`{ strategy(strategyId: "${vaultId}", chainId: 1) { id } }`, 'chainId', 4663],
  ],
  OpenLeverageInput: [
    [`{ leveragePreview(${open}) { __typename } }`, 'input.chainId', 1],
    [`mutation { openLeveragePlan(wallet: "${wallet}", ${open}) { __typename } }`, 'input.chainId', 1],
  ],
  PositionAtInput: [
    [
      `mutation { manageLeveragePlan(wallet: "${wallet}", input: { position: { at: { chainId: 4663, marketId: "${marketId}", positionIndex: 0 } }, action: { close: {} } }) { __typename } }`,
      'input.position.at.chainId',
      1,
    ],
  ],
  EquityDepositInput: [
    [`{ equityDepositPreview(${deposit}) { __typename } }`, 'input.chainId', 4663],
    [`mutation { equityDepositPlan(wallet: "${wallet}", ${deposit}) { __typename } }`, 'input.chainId', 4663],
  ],
  CreateAlertInput: [
    [
      `mutation { createAlert(input: { strategyId: "${marketId}", chainId: 4663, condition: STALE, webhookUrl: "https://a.example" }) { secret } }`,
      'input.chainId',
      1,
    ],
  ],
  EquityExitInput: [
    [
      `mutation { equityExitPlan(wallet: "${wallet}", input: { strategyId: "${vaultId}", chainId: 1 }) { __typename } }`,
      'input.chainId',
      4663,
    ],
  ],
};
/** All conditions of a filter have to hold: contradicting conditions give an empty list. */
const FILTERS = ['PortfolioFilter', 'DriftFilter'];

const CHAIN = /^chainIds?$/;
const NAMING = /^(market|strategy|vault|position)Ids?$/;

function placesOfSchema(): string[] {
  const places: string[] = [];
  const note = (coordinate: string, inputs: readonly { readonly name: string; readonly type: GraphQLInputType }[]) => {
    const names = inputs.map(({ name }) => name);
    if (names.some((name) => CHAIN.test(name)) && names.some((name) => NAMING.test(name))) places.push(coordinate);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (isInputObjectType(type)) note(type.name, Object.values(type.getFields()));
    if (!isObjectType(type)) continue;
    for (const { name, args } of Object.values(type.getFields())) note(`${type.name}.${name}`, args);
  }
  return places;
}

describe('a chain beside an id that names one', () => {
  test('default: every place of the schema is asked below', () => {
    expect(placesOfSchema().sort()).toEqual([...Object.keys(CONTRADICTIONS), ...FILTERS].sort());
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

test('every input named `id` is a global id, and no other input has the type', () => {
  const wrong = Object.values(schema.getTypeMap())
    .filter(isInputObjectType)
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter(({ name, type: of }) => (getNamedType(of).name === 'ID') !== (name === 'id'))
        .map(({ name }) => `${type.name}.${name}`),
    );
  expect(wrong).toEqual([]);
});
