import { complexityFromQuery } from '@pothos/plugin-complexity';
import { graphql, isObjectType, isRequiredArgument } from 'graphql';
import { describe, expect, test } from 'vitest';
import { nodeScopeOf } from '../../src/limits/field-scopes.ts';
import { buildSchema } from '../../src/schema/index.ts';
import { decodeGlobalId, encodeGlobalId } from '../../src/shared/ids.ts';
import { completeContext } from '../resolvers/world.ts';

const schema = buildSchema();
const ctx = completeContext();
const run = (source: string, variableValues: Record<string, unknown> = {}, contextValue = ctx) =>
  graphql({ schema, source, variableValues, contextValue });
const nodeTypes = Object.values(schema.getTypeMap()).filter((type) => nodeScopeOf(type) !== undefined);

const owner = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const keyed = { ...ctx, caller: { kind: 'key', keyId: 'ops', tier: 'ops' } as const };

describe('node', () => {
  test('default: the id of an answer finds the same object', async () => {
    const { data } = await run('{ chains { id chainId } tokens(first: 100) { nodes { id address chainId } } }');
    const { chains, tokens: page } = data as unknown as {
      chains: { id: string }[];
      tokens: { nodes: { id: string }[] };
    };
    const tokens = page.nodes;
    const ids = [...chains, ...tokens].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids.slice(0, 20)) {
      const again = await run(
        'query($id: ID!) { node(id: $id) { id ... on Chain { chainId } ... on Token { address chainId } } }',
        { id },
      );
      expect(again.errors).toBeUndefined();
      expect(again.data?.node).toEqual([...chains, ...tokens].find((one) => one.id === id));
    }
  });

  test.each([
    ['a domain id', '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5'],
    ['an unknown type', encodeGlobalId('Nothing', '1')],
    ['a type without identity', encodeGlobalId('Freshness', '1')],
    ['a key with too few parts', encodeGlobalId('Token', '1')],
    ['a key with a part that does not fit', encodeGlobalId('Chain', '01')],
    ['an address that is none', encodeGlobalId('Token', '1:0x12')],
    ['a chain that is not served', encodeGlobalId('Chain', '5')],
    ['megabytes', 'A'.repeat(2_000_000)],
    ['nothing', ''],
    ['what is no base64', '§§'],
  ])('error: bad_request for %s', async (_name, id) => {
    const { data, errors } = await run('query($id: ID!) { node(id: $id) { id } }', { id });
    expect(data).toEqual({ node: null });
    expect(errors?.[0]?.originalError).toMatchObject({ code: 'bad_request', details: { field: expect.any(String) } });
    expect(errors?.[0]?.message.length).toBeLessThan(400);
  });

  const loop = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
  const vault = 'equity-0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55';
  test.each([
    ['a loop under the id of a vault', 'LoopStrategy', `4663:${vault}`],
    ['a vault under the id of a loop', 'EquityVaultStrategy', `1:${loop}`],
    ['a position that the wallet does not have', 'Position', `1:${owner}:77`],
    ['a vault that the wallet does not have', 'EquityPosition', `4663:${owner}:${vault}`],
  ])('error: not_found for %s', async (_name, typename, key) => {
    const id = encodeGlobalId(typename, key);
    const { data, errors } = await run('query($id: ID!) { node(id: $id) { id } }', { id }, keyed);
    expect(data).toEqual({ node: null });
    expect(errors?.[0]?.originalError).toMatchObject({ code: 'not_found', details: { resource: typename } });
    const many = await run('query($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [id] }, keyed);
    expect([many.data?.nodes, many.errors?.[0]?.path]).toEqual([[null], ['nodes', 0]]);
  });

  test.each([
    ['chains of a wallet in another order', 'Wallet', `4663+1:${owner}`],
    ['a chain twice', 'Wallet', `1+1:${owner}`],
    ['another form of a number', 'Wallet', `0x1:${owner}`],
    ['a number with a zero before it', 'Wallet', `01:${owner}`],
    ['an address in small letters', 'Wallet', `1:${owner.toLowerCase()}`],
    ['a market id in capitals', 'Market', `1:0x${loop.slice(2).toUpperCase()}`],
  ])('error: bad_request for an id that no answer gave: %s', async (_name, typename, key) => {
    const id = encodeGlobalId(typename, key);
    const { data, errors } = await run('query($id: ID!) { node(id: $id) { id } }', { id }, keyed);
    expect(data).toEqual({ node: null });
    expect(errors?.[0]?.originalError).toMatchObject({ code: 'bad_request', details: { field: 'id' } });
  });

  test('error: bad_request names the id that was sent, not a part of it', async () => {
    for (const id of [encodeGlobalId('Token', '1:0x12'), `${encodeGlobalId('Chain', '1').slice(0, -1)}R`]) {
      const { errors } = await run('query($id: ID!) { node(id: $id) { id } }', { id });
      expect(errors?.[0]?.originalError).toMatchObject({ code: 'bad_request', details: { field: 'id', value: id } });
    }
  });

  test('error: not_found for a token that is not curated', async () => {
    const id = encodeGlobalId('Token', `1:0x${'1'.repeat(40)}`);
    const { errors } = await run('query($id: ID!) { node(id: $id) { id } }', { id });
    expect(errors?.[0]?.originalError).toMatchObject({ code: 'not_found' });
  });

  test('error: unauthorized for every type behind a key, for every caller without it', async () => {
    const keyed = nodeTypes.filter((type) => nodeScopeOf(type) !== 'public');
    for (const { name } of keyed) {
      const { data, errors } = await run('query($id: ID!) { node(id: $id) { id } }', { id: encodeGlobalId(name, 'x') });
      expect([name, data?.node]).toEqual([name, null]);
      expect(errors?.[0]?.originalError).toMatchObject({ code: 'unauthorized' });
    }
  });
});

describe('nodes', () => {
  test('default: in the order of the ids, with an error for each that cannot be given', async () => {
    const ids = [encodeGlobalId('Chain', '4663'), 'x', encodeGlobalId('Chain', '1'), encodeGlobalId('Chain', '7')];
    const { data, errors } = await run('query($ids: [ID!]!) { nodes(ids: $ids) { ... on Chain { chainId } } }', {
      ids,
    });
    expect(data?.nodes).toEqual([{ chainId: 4663 }, null, { chainId: 1 }, null]);
    expect(errors?.map(({ path }) => path)).toEqual([
      ['nodes', 1],
      ['nodes', 3],
    ]);
  });

  test('error: bad_request for more than 100', async () => {
    const ids = Array.from({ length: 101 }, () => encodeGlobalId('Chain', '1'));
    const { errors } = await run('query($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(errors?.[0]?.originalError).toMatchObject({
      code: 'bad_request',
      details: { field: 'ids', limit: { max: 100 } },
    });
  });

  test('behavior: costs as much as its ids', () => {
    const cost = (count: number) =>
      complexityFromQuery(`{ nodes(ids: [${Array.from({ length: count }, () => '"x"').join(' ')}]) { id } }`, {
        schema,
        ctx,
      }).complexity;
    expect(cost(50) - cost(25)).toBe(cost(25) - cost(0));
    expect(cost(100)).toBeGreaterThanOrEqual(100);
  });
});

test('behavior: every type with a global id is a node, and nothing else is', () => {
  const implementing = schema
    .getPossibleTypes(schema.getType('Node') as never)
    .map(({ name }) => name)
    .sort();
  expect(nodeTypes.map(({ name }) => name).sort()).toEqual(implementing);
  expect(nodeTypes.every(isObjectType)).toBe(true);
});

test('behavior: ids are decoded to their types', () => {
  const id = encodeGlobalId('Token', '1:0xabc');
  expect(decodeGlobalId(id)).toEqual({ typename: 'Token', key: '1:0xabc' });
  expect(id).toMatch(/^[\w-]+$/);
});

describe('chainIds', () => {
  const ROOTS = ['Query', 'Ops'].map((name) => schema.getType(name)).filter(isObjectType);
  const fields = ROOTS.flatMap((root) =>
    Object.values(root.getFields()).flatMap((field) =>
      field.args.some(({ name }) => name === 'chainIds') ? [[root.name, field.name, field] as const] : [],
    ),
  );
  const VALUES: Readonly<Record<string, string>> = {
    'Address!': `"${owner}"`,
    '[Address!]!': `["${owner}"]`,
    'Decimal!': '"1"',
  };

  test.each(fields)('error: bad_request for an empty list, of %s.%s', async (root, name, { args }) => {
    const required = args.filter((arg) => isRequiredArgument(arg));
    const values = required.map((arg) => `${arg.name}: ${VALUES[String(arg.type)] ?? `no value for ${arg.type}`}`);
    const field = `${name}(${['chainIds: []', ...values].join(', ')}) { __typename }`;
    const { errors } = await run(root === 'Query' ? `{ ${field} }` : `{ ops { ${field} } }`, {}, keyed);
    expect(errors?.[0]?.originalError).toMatchObject({
      code: 'bad_request',
      details: { field: 'chainIds', value: '[]', limit: { minEntries: 1 } },
    });
  });
});
