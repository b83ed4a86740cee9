import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isInputObjectType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededWallet } from '../../devnet/seed/wallets.ts';
import { sharedSchema } from '../../src/schema/index.ts';
import { type Json, OPS, startService, type TestService } from '../support/service.ts';

const schema = sharedSchema();
const WALLET = seededWallet('looper').account.address;
const MARKET = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const VAULT = 'equity-0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55';
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_OPS: '0' } });
});
afterAll(() => service?.stop());

type Input = GraphQLArgument | GraphQLInputField;
const isOptional = ({ type, defaultValue }: Input) => !isNonNullType(type) || defaultValue !== undefined;
const inputTypes = Object.values(schema.getTypeMap()).filter(isInputObjectType);

test('default: no optional input refuses null by its type, but those of which exactly one is sent', () => {
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) => Object.values((type as GraphQLObjectType).getFields()));
  const inputs: Input[] = [
    ...fields.flatMap(({ args }) => args),
    ...inputTypes.flatMap((type) => Object.values(type.getFields())),
  ];
  expect(inputs.filter((input) => isOptional(input) && isNonNullType(input.type)).map(({ name }) => name)).toEqual([]);
});

/** Values of required arguments. */
const REQUIRED: Readonly<Record<string, unknown>> = {
  'Query.alert.alertId': '00000000-0000-4000-8000-000000000001',
  'Query.alertDeliveries.alertId': '00000000-0000-4000-8000-000000000001',
  'Mutation.rotateAlertSecret.alertId': '00000000-0000-4000-8000-000000000001',
  'Chain.rateHistories.kind': 'BORROW_APY',
  'Market.series.metric': 'UTILIZATION',
  'Query.marketSeries.metric': 'UTILIZATION',
  'Query.marketSeries.id': MARKET,
  'Query.priceChart.coinId': 'ethereum',
  'Query.bestStrategies.amount': '1000',
  'Query.bestStrategies.maxDrawdownPct': '5',
  'Query.bestStrategies.minExitUsd': '0',
  'Query.bestStrategies.payToken': USDT,
  'Query.wallets.addresses': [WALLET],
  'Query.market.id': MARKET,
  'Query.strategy.id': MARKET,
  'Query.position.id': '1-0',
  'Query.token.address': USDT,
  'Query.candles.address': USDT,
  'Ops.portfolio.address': WALLET,
};
const BY_NAME: Readonly<Record<string, unknown>> = {
  chainId: 1,
  address: WALLET,
  wallet: WALLET,
  marketId: MARKET,
  strategyId: MARKET,
  positionIndex: 0,
  payToken: USDT,
  amount: '1000',
};

/** The least that an input object takes; every optional field is left out. */
const OBJECTS: Readonly<Record<string, Json>> = {
  OpenLeverageInput: { strategyId: MARKET, payToken: USDT, amount: '1000', target: { leverage: '2' } },
  ManageLeverageInput: { position: '1-0', action: { close: {} } },
  EquityDepositInput: { strategyId: VAULT, amount: '500' },
  EquityExitInput: { strategyId: VAULT },
  PreviewInput: { equityDeposit: { strategyId: VAULT, amount: '500' } },
  CreateAlertInput: { condition: 'STALE', webhookUrl: 'https://receiver.example/', strategyId: MARKET },
  PortfolioOrder: { field: 'VALUE_USD' },
  StrategyOrder: { field: 'LIQUIDITY_USD' },
  ChainVersion: { chainId: 1, version: 1 },
};

/** A selection around a field of a type, and how its answer is found. */
const PLACES: Readonly<Record<string, (selection: string) => string>> = {
  Query: (selection) => selection,
  Mutation: (selection) => selection,
  Chain: (selection) => `chain(chainId: 1) { ${selection} }`,
  Ops: (selection) => `ops { ${selection} }`,
  Market: (selection) => `market(id: "${MARKET}") { ${selection} }`,
  LoopStrategy: (selection) => `strategy(id: "${MARKET}") { ... on LoopStrategy { ${selection} } }`,
  EquityVaultStrategy: (selection) => `strategy(id: "${VAULT}") { ... on EquityVaultStrategy { ${selection} } }`,
  Token: (selection) => `token(chainId: 1, address: "${USDT}") { ${selection} }`,
  Wallet: (selection) => `wallet(address: "${WALLET}") { ${selection} }`,
  Position: (selection) => `wallet(address: "${WALLET}") { positions(first: 1) { nodes { ${selection} } } }`,
  PositionHistory: (selection) =>
    `wallet(address: "${WALLET}") { positions(first: 1) { nodes { history { ${selection} } } } }`,
  Portfolio: (selection) => `ops { portfolio(chainId: 1, address: "${WALLET}") { ${selection} } }`,
  StableIndex: (selection) => `stableIndex { ${selection} }`,
};

interface Case {
  readonly name: string;
  readonly query: string;
  /** Variables without the optional argument, and with null in it. */
  readonly absent: Json;
  readonly sent: Json;
}

function sampleOf(coordinate: string, { name, type }: Input): unknown {
  const named = getNamedType(type) as GraphQLNamedType;
  return REQUIRED[coordinate] ?? OBJECTS[named.name] ?? BY_NAME[name] ?? fail(coordinate);
}

function fail(coordinate: string): never {
  throw new Error(`${coordinate}: no sample`);
}

/** Input objects without one optional field, at any depth, and with null in it. */
interface NullField {
  readonly path: string;
  readonly absent: Json;
  readonly sent: Json;
}

function nullFields(type: GraphQLInputObjectType): readonly NullField[] {
  if (type.isOneOf) return [];
  const base = OBJECTS[type.name] ?? {};
  return Object.values(type.getFields()).flatMap((field): readonly NullField[] => {
    const { name } = field;
    const { [name]: given, ...absent } = base;
    const inner = getNamedType(field.type);
    const deeper = isInputObjectType(inner) && given === undefined ? nullFields(inner) : [];
    return [
      ...(isOptional(field) ? [{ path: name, absent, sent: { ...absent, [name]: null } }] : []),
      ...deeper.map((nested) => ({
        path: `${name}.${nested.path}`,
        absent: { ...base, [name]: nested.absent },
        sent: { ...base, [name]: nested.sent },
      })),
    ];
  });
}

const cases: readonly Case[] = Object.entries(PLACES).flatMap(([typeName, place]) => {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(typeName);
  return Object.values(type.getFields()).flatMap((field): readonly Case[] => {
    const coordinate = `${typeName}.${field.name}`;
    const required = field.args.filter((arg) => !isOptional(arg));
    const values = () =>
      Object.fromEntries(required.map((arg) => [arg.name, sampleOf(`${coordinate}.${arg.name}`, arg)]));
    const queryOf = (args: readonly GraphQLArgument[]) => {
      const declared = args.map(({ name, type: own }) => `$${name}: ${String(own)}`).join(', ');
      const passed = args.map(({ name }) => `${name}: $${name}`).join(', ');
      const selection = isLeafType(getNamedType(field.type)) ? '' : '{ __typename }';
      const operation = typeName === 'Mutation' ? 'mutation' : 'query';
      return `${operation}${declared && `(${declared})`} { ${place(`${field.name}${passed && `(${passed})`} ${selection}`)} }`;
    };
    const optional = field.args.filter(isOptional).flatMap((arg): Case[] => {
      const base = { name: `${coordinate}(${arg.name}:)`, query: queryOf([...required, arg]), absent: values() };
      const object = getNamedType(arg.type);
      const inner = isInputObjectType(object) ? nullFields(object) : [];
      return [
        { ...base, sent: { ...base.absent, [arg.name]: null } },
        ...inner.map(({ path, ...both }) => ({
          ...base,
          name: `${coordinate}(${arg.name}.${path}:)`,
          absent: { ...base.absent, [arg.name]: both.absent },
          sent: { ...base.absent, [arg.name]: both.sent },
        })),
      ];
    });
    const objects = required.flatMap((arg): Case[] => {
      const object = getNamedType(arg.type);
      if (!isInputObjectType(object)) return [];
      return nullFields(object).map(({ path, absent, sent }) => ({
        name: `${coordinate}(${arg.name}.${path}:)`,
        query: queryOf(required),
        absent: { ...values(), [arg.name]: absent },
        sent: { ...values(), [arg.name]: sent },
      }));
    });
    return [...optional, ...objects];
  });
});

describe('null in an optional input is absence', () => {
  test('default: the cases reach every type with arguments of its own', () => {
    const reached = new Set(Object.keys(PLACES));
    const others = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .filter(({ name }) => !name.startsWith('__') && name !== 'Subscription' && !reached.has(name))
      .filter((type) => Object.values(type.getFields()).some(({ args, name }) => args.length > 0 && name !== 'gaps'));
    expect(others.map(({ name }) => name)).toEqual(['PortfolioReport', 'PortfolioVault']);
    expect(cases.length).toBeGreaterThan(150);
  });

  const known = new Map<string, Promise<Json>>();
  test.each(cases.map((one) => [one.name, one] as const))('behavior: %s', async (_name, { query, absent, sent }) => {
    const ask = async (variables: Json) => {
      const { body } = await service.graphql(query, variables, OPS);
      return {
        data: body.data,
        errors: body.errors?.map(({ message, extensions }: Json) => ({ message, code: extensions?.code })),
      };
    };
    const key = JSON.stringify([query, absent]);
    const expected = known.get(key) ?? ask(absent);
    known.set(key, expected);
    expect(await ask(sent)).toEqual(await expected);
  });
});
