import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { localCatalog, marketOf } from './support.ts';

/* Inputs of builds in which one wrong digit costs money. */

const market = marketOf(1, 'sUSDe/PYUSD 91.5');
const user = untouchedAccounts[0]?.address ?? '0x';
const open = {
  strategyId: market.id,
  payToken: market.collateral.address,
  amount: '100',
  leverage: 3,
  userAddress: user,
};
let service: TestService;

beforeAll(async () => {
  service = await startService({ sleep: noSleep });
}, 120_000);
afterAll(() => service?.stop());

const build = (body: Json, path = '/v1/partner/leverage/build') => service.post(path, { ...open, ...body }, PARTNER);
/** The same with the case of one letter changed. */
const swapped = (address: string) =>
  address.replace(/[a-f](?=[^a-f]*$)|[A-F](?=[^A-F]*$)/, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );

describe('an address with a wrong checksum', () => {
  it.each(['userAddress', 'payToken'] as const)('error: of %s is refused, in lower case accepted', async (field) => {
    const refused = await build({ [field]: swapped(open[field]) });
    expect([refused.status, refused.body.error.code], refused.text).toEqual([400, 'bad_request']);
    expect(refused.body.error.message).toContain('checksum');
    expect(refused.body.error.details.field).toBe(`body.${field}`);
    expect((await build({ [field]: open[field].toLowerCase() })).status).toBe(200);
  });

  it('error: is refused in plans of GraphQL, as a variable, its default, a literal and in a fragment', async () => {
    const input = { strategyId: market.id, payToken: open.payToken, amount: '100', target: { leverage: '3' } };
    const query = `mutation($wallet: Address!, $input: OpenLeverageInput!) { openLeveragePlan(wallet: $wallet, input: $input) { __typename } }`;
    const literal = query.replace('wallet: $wallet,', `wallet: "${swapped(user)}",`).replace('$wallet: Address!, ', '');
    const given: [string, Json][] = [
      [query, { wallet: swapped(user), input }],
      [query, { wallet: user, input: { ...input, payToken: swapped(open.payToken) } }],
      [literal, { input }],
      [query.replace('$wallet: Address!', `$wallet: Address! = "${swapped(user)}"`), { input }],
      [literal.replace('{ openLev', '{ ...F } fragment F on Mutation { openLev'), { input }],
    ];
    for (const [text, variables] of given) {
      const { body } = await service.graphql(text, variables, PARTNER);
      expect(body.errors?.[0].message).toContain('checksum');
      expect(body.data).toBeUndefined();
    }
    const { body } = await service.graphql(query, { wallet: user.toLowerCase(), input }, PARTNER);
    expect(body.data.openLeveragePlan.__typename).toBe('LeveragePlan');
  });

  it('behavior: reads accept any case', async () => {
    expect((await service.get(`/v1/partner/positions/${swapped(user)}?chainId=1`, PARTNER)).status).toBe(200);
    const query = 'query($a: Address!) { wallet(address: $a, chainIds: [1]) { address } }';
    expect((await service.graphql(query, { a: swapped(user) }, PARTNER)).body.data.wallet.address).toBe(user);
  });
});

it('error: a contract of the catalog signs nothing, also one of another chain', async () => {
  const [one, other] = [localCatalog.chain(1), localCatalog.chain(4663)];
  const routers = Object.values(one?.swapRouters ?? {}).flat();
  const contracts = [...routers.slice(0, 1), market.oracle, market.irm, other?.contracts.flashLeverage];
  for (const userAddress of contracts) {
    for (const path of ['/v1/partner/leverage/build', '/v1/partner/manage/build']) {
      const body = path.includes('manage')
        ? { userAddress, id: 0, action: 'close', chainId: 1 }
        : { ...open, userAddress };
      const refused = await service.post(path, body, PARTNER);
      expect([refused.status, refused.body.error?.details?.field], refused.text).toEqual([400, 'body.userAddress']);
    }
  }
});

it.each([
  ['slippage', 1e-30],
  ['leverage', 1e-30],
  ['maxSwapLossPct', 1e-12],
  ['slippage', -1e-30],
])('error: %s %s is refused with the smallest accepted number, and served as no other', async (field, value) => {
  const refused = await build({ [field]: value });
  expect([refused.status, refused.body.error.details.field], refused.text).toEqual([400, `body.${field}`]);
  expect(refused.body.error.message).toContain('0.000000001');
});
