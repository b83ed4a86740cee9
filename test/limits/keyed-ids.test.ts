import { afterEach, describe, expect, test } from 'vitest';
import { nodeScopeOf } from '../../src/limits/field-scopes.ts';
import { encodeGlobalId } from '../../src/shared/ids.ts';
import { type Front, OPS_KEY, PARTNER_KEY, startTestGateway } from '../http/test-gateway.ts';

/** Ids of objects behind a key in `node` and `nodes`: the required key, and the cost. */

const BUDGET = { RATE_LIMIT_ANONYMOUS: '1000000', RATE_LIMIT_PARTNER: '1000000', RATE_LIMIT_OPS: '1000000' };
const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
/** Points of one id behind a key, in units of cost. */
const ONE = 1_000;
const wallet = encodeGlobalId('Wallet', `1:${WALLET}`);
const portfolio = encodeGlobalId('Portfolio', `1:${WALLET}`);
const chain = encodeGlobalId('Chain', '1');

let front: Front | undefined;
const start = async (env = {}) => {
  front = await startTestGateway({ env: { ...BUDGET, ...env } });
  return front;
};
afterEach(async () => {
  await front?.stop();
  front = undefined;
});
const list = (ids: readonly string[]) => JSON.stringify(ids);

describe('the key', () => {
  test('error: unauthorized without the key or the tier of the type, by every way to an id', async () => {
    const { graphql, schema } = await start();
    const keyed = Object.values(schema.getTypeMap()).flatMap((type) => {
      const scope = nodeScopeOf(type);
      return scope === 'partner' || scope === 'ops' ? [{ id: encodeGlobalId(type.name, '1:x'), scope }] : [];
    });
    expect(new Set(keyed.map(({ scope }) => scope))).toEqual(new Set(['partner', 'ops']));
    for (const { id, scope } of keyed) {
      for (const headers of scope === 'ops' ? [{}, PARTNER_KEY] : [{}]) {
        const requested = [
          graphql(`{node(id:"${id}"){id}}`, { headers }),
          graphql(`{chains{chainId} nodes(ids:["${chain}","${id}"]){id}}`, { headers }),
          graphql(`{...F} fragment F on Query{a:node(id:"${id}"){id}}`, { headers }),
          graphql('query($id:ID!){node(id:$id){id}}', { headers, variables: { id } }),
          graphql(`query($ids:[ID!]!=["${id}"]){nodes(ids:$ids){id}}`, { headers }),
        ];
        for (const { status, body } of await Promise.all(requested)) {
          expect([id, status, body.data, body.errors.length, body.errors[0].extensions.code]).toEqual([
            id,
            401,
            undefined,
            1,
            'unauthorized',
          ]);
        }
      }
    }
  });
});

describe('the price', () => {
  const costOf = async (query: string, variables = {}): Promise<number> => {
    const { body } = await (front ?? (await start())).graphql(query, { variables, headers: OPS_KEY });
    return body.extensions.cost.cost;
  };

  test.each([
    ['node', `{node(id:"${wallet}"){id}}`, {}, 1],
    ['a type of the ops tier', `{node(id:"${portfolio}"){id}}`, {}, 1],
    ['aliases', `{a:node(id:"${wallet}"){id} b:node(id:"${wallet}"){id}}`, {}, 2],
    ['a fragment', `{...F} fragment F on Query{node(id:"${wallet}"){id}}`, {}, 1],
    ['an inline fragment', `{... on Query{node(id:"${wallet}"){id}}}`, {}, 1],
    ['nodes, each id', `{nodes(ids:${list([wallet, chain, portfolio, wallet])}){id}}`, {}, 3],
    ['one id where a list is asked', `{nodes(ids:"${wallet}"){id}}`, {}, 1],
    ['a variable', 'query($id:ID!){node(id:$id){id}}', { id: wallet }, 1],
    ['a variable with a list', 'query($ids:[ID!]!){nodes(ids:$ids){id}}', { ids: [wallet, wallet, chain] }, 2],
    ['variables in a list', 'query($a:ID!,$b:ID!){nodes(ids:[$a,$b]){id}}', { a: wallet, b: chain }, 1],
    ['a default of a variable', `query($ids:[ID!]!=${list([wallet, wallet])}){nodes(ids:$ids){id}}`, {}, 2],
    ['an id that finds nothing', `{node(id:"${encodeGlobalId('Position', '1:x:0')}"){id}}`, {}, 1],
  ])('behavior: of an id behind a key is paid in %s', async (_name, query, variables, count) => {
    await start();
    expect(Math.round((await costOf(query, variables)) / ONE)).toBe(count);
  });

  test('behavior: of an id without a key is that of its fields', async () => {
    await start();
    expect(await costOf(`{node(id:"${chain}"){id}}`)).toBe(2);
    expect(await costOf('query($id:ID!){node(id:$id){id}}', { id: chain })).toBe(2);
    // The same document with another id: the type decides, so the cost of the first is not that of the second.
    expect(await costOf('query($id:ID!){node(id:$id){id}}', { id: wallet })).toBe(ONE + 2);
    expect(await costOf('query($id:ID!){node(id:$id){id}}', { id: chain })).toBe(2);
  });

  test('behavior: stays when the answer is short, and is that of the field of the type', async () => {
    const { graphql } = await start();
    const request = await graphql(`{wallet(address:"${WALLET}",chainIds:[1]){id}}`, { headers: PARTNER_KEY });
    const byId = await graphql(`{node(id:"${request.body.data.wallet.id}"){id}}`, { headers: PARTNER_KEY });
    expect(byId.body.data.node).toEqual(request.body.data.wallet);
    const points = ({ body }: typeof byId) => body.extensions.cost.points;
    expect([points(request), points(byId)]).toEqual([11, 11]);
  });

  test('error: query_too_complex for more ids than a query may cost', async () => {
    const { graphql } = await start();
    const ids = Array.from({ length: 100 }, () => wallet);
    const { body } = await graphql('query($ids:[ID!]!){nodes(ids:$ids){id}}', {
      variables: { ids },
      headers: PARTNER_KEY,
    });
    expect(body.errors[0].extensions).toMatchObject({
      code: 'query_too_complex',
      details: { measure: 'cost', limit: 20_000, tier: 'partner' },
    });
  });

  test('error: rate_limited when the budget ends, before anything is read', async () => {
    const { graphql } = await start({ RATE_LIMIT_PARTNER: '35' });
    const ids = [wallet, wallet, wallet];
    const ask = () => graphql('query($ids:[ID!]!){nodes(ids:$ids){id}}', { variables: { ids }, headers: PARTNER_KEY });
    expect((await ask()).status).toBe(200);
    const { status, body } = await ask();
    expect([status, body.errors[0].extensions.details.scope]).toEqual([429, 'client']);
  });
});
