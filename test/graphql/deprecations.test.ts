import { GraphQLEnumType, GraphQLObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedSchema } from '../../src/schema/index.ts';
import { deprecationOf, deprecationSentence } from '../../src/shared/contract/deprecation.ts';
import { createFaults } from '../http/faults.ts';
import { type Front, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import type { Answer } from '../support/service.ts';

const ENDING = { since: '2026-12-01', sunset: '2027-07-01', instead: 'Use symbol' };
const EARLIER = { since: '2026-11-01', sunset: '2027-08-01', instead: 'Use others' };
const HEADERS = {
  deprecation: '@1796083200',
  sunset: 'Thu, 01 Jul 2027 00:00:00 GMT',
  link: '</docs>; rel="deprecation"; type="text/html"',
};

/** The parts that these tests deprecate: a field, an argument and a value of an enumeration. */
function parts() {
  const schema = sharedSchema();
  const chain = schema.getType('Chain');
  const order = schema.getType('OrderDirection');
  if (!(chain instanceof GraphQLObjectType) || !(order instanceof GraphQLEnumType)) throw new Error('types expected');
  const name = chain.getFields().name;
  const strategies = schema.getQueryType()?.getFields().strategies;
  const argument = strategies?.args.find((arg) => arg.name === 'first');
  const value = order.getValue('ASC');
  if (!name || !argument || !value) throw new Error('parts expected');
  return { name, argument, value };
}

const faults = createFaults();
let front: Front;
beforeAll(async () => {
  const { name, argument, value } = parts();
  name.deprecationReason = deprecationSentence(ENDING);
  argument.deprecationReason = deprecationSentence(EARLIER);
  value.deprecationReason = deprecationSentence(EARLIER);
  front = await startTestGateway({ env: { ...UNLIMITED, RATE_LIMIT_ANONYMOUS: '100000' }, faults });
});
afterAll(async () => {
  for (const part of Object.values(parts())) part.deprecationReason = undefined;
  await front.stop();
});

const send = (body: unknown): Promise<Answer> =>
  front.send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const sent = ({ headers }: Answer) =>
  Object.fromEntries(Object.keys(HEADERS).map((name) => [name, headers.get(name) ?? undefined]));

describe('answers of /graphql', () => {
  test('default: carry the dates of a deprecated field, executed and cached ones', async () => {
    const query = { query: 'query Old { chains { chainId name } }' };
    const executed = await faults.countDuring(() => send(query));
    expect(executed).toContain('createContext');
    for (let round = 0; round < 3; round += 1) expect(sent(await send(query))).toEqual(HEADERS);
    expect(await faults.countDuring(() => send(query))).not.toContain('createContext');
  });

  test('default: carry none without a deprecated part', async () => {
    for (const query of ['{ chains { chainId } }', '{ chains { name: chainId } }', '{', '{ nothing }']) {
      expect([query, sent(await send({ query }))]).toEqual([query, {}]);
    }
  });

  test('behavior: a fragment, a batch and a request with extensions carry them as well', async () => {
    const query = 'query Old { chains { ...Old } } fragment Old on Chain { name }';
    expect(sent(await send({ query }))).toEqual(HEADERS);
    expect(sent(await send({ query, extensions: {} }))).toEqual(HEADERS);
    expect(sent(await send([{ query: '{ chains { chainId } }' }, { query }]))).toEqual(HEADERS);
  });

  test('behavior: an argument and a value count, and the earliest of all dates is sent', async () => {
    const query = 'query Old { strategies(first: 1) { totalCount } chains { name } }';
    expect(sent(await send({ query }))).toMatchObject({ deprecation: '@1793491200', sunset: HEADERS.sunset });
    const ordered = 'query Old { strategies(orderBy: { field: COLLATERAL_APY, direction: ASC }) { totalCount } }';
    expect(sent(await send({ query: ordered }))).toMatchObject({ deprecation: '@1793491200' });
  });
});

describe(deprecationOf, () => {
  test('default: reads the sentences of deprecationSentence', () => {
    expect(deprecationOf(deprecationSentence(ENDING))).toEqual(ENDING);
    expect(deprecationOf('No longer supported')).toBeUndefined();
  });
});
