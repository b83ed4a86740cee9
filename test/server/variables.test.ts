import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startFront, UNLIMITED } from './front.ts';

let front: Front;
beforeAll(async () => {
  front = await startFront({ env: UNLIMITED });
});
afterAll(() => front.stop());

const QUERY = 'query($input: ManagePositionInput!) { managePosition(input: $input) { __typename } }';
const input = { userAddress: '0x0000000000000000000000000000000000000001', id: 0, action: 'close' };

describe('a variable that is refused', () => {
  test.each([
    ['a field that is missing', { ...input, id: undefined }, 'variables.input'],
    ['a field that does not exist', { ...input, ids: 1 }, 'variables.input'],
    ['a field of another type', { ...input, id: 'first' }, 'variables.input.id'],
    ['a word of no list', { ...input, action: 'sell' }, 'variables.input.action'],
    ['an amount in exponent form', { ...input, amount: '1e30' }, 'variables.input.amount'],
    ['an address that is none', { ...input, userAddress: 'me.eth' }, 'variables.input.userAddress'],
    ['no input at all', null, 'variables.input'],
  ])('error: BadRequest names the place of %s', async (_what, value, field) => {
    const { body } = await front.graphql(QUERY, { variables: { input: value }, headers: PARTNER_KEY });
    expect(body.errors[0].extensions).toMatchObject({ code: 'bad_request', details: { field } });
  });
});
