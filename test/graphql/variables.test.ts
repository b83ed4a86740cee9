import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED });
});
afterAll(() => front.stop());

const QUERY =
  'mutation($wallet: Address!, $input: ManageLeverageInput!) { manageLeveragePlan(wallet: $wallet, input: $input) { __typename } }';
const wallet = '0x0000000000000000000000000000000000000001';
const input = { position: '1-0', action: { close: {} } };

const closing = (close: object) => ({ ...input, action: { close } });
const paying = (repay: object) => ({ ...input, action: { repay: { amount: '1', ...repay } } });

describe('a refused variable', () => {
  test.each([
    ['a field that is missing', { ...input, position: undefined }, 'variables.input'],
    ['a field that does not exist', { ...input, ids: 1 }, 'variables.input'],
    ['a field of another type', { ...input, position: 'first' }, 'variables.input.position'],
    ['an index below zero', { ...input, position: -1 }, 'variables.input.position'],
    ['an action that does not exist', { ...input, action: { sell: {} } }, 'variables.input.action'],
    ['two actions at once', { ...input, action: { close: {}, repayAll: {} } }, 'variables.input.action'],
    ['no action', { ...input, action: {} }, 'variables.input.action'],
    ['an amount in exponent form', closing({ amount: '1e30' }), 'variables.input.action.close.amount'],
    ['an address that is none', paying({ payToken: 'me.eth' }), 'variables.input.action.repay.payToken'],
    ['no input at all', null, 'variables.input'],
  ])('error: BadRequest names the place of %s', async (_what, value, field) => {
    const { body } = await front.graphql(QUERY, { variables: { wallet, input: value }, headers: PARTNER_KEY });
    expect(body.errors[0].extensions).toMatchObject({ code: 'bad_request', details: { field } });
  });

  test.each([
    ['90 fields of an input that do not exist', { f: Object.fromEntries(many(90, (i) => [`k${i}`, 1])) }],
    ['1,900 words of no list', { c: many(1_900, () => 'x') }],
    ['one long text', { c: 'x'.repeat(60_000) }],
  ])('behavior: shows the first few errors, shortened, of %s', async (_what, variables) => {
    const query =
      'query($f: StrategyFilter, $c: [ChainId!]) { strategies(filter: $f) { totalCount } markets(chainIds: $c) { totalCount } }';
    const { body, text } = await front.graphql(query, { variables });
    expect(body.data).toBeUndefined();
    expect(body.errors.length).toBeLessThanOrEqual(5);
    expect(body.errors[0].extensions.code).toBe('bad_request');
    expect(body.errors[0].extensions.details.field).toMatch(/^variables\.[fc]/);
    expect(text.length).toBeLessThan(10_000);
  });
});

function many<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}
