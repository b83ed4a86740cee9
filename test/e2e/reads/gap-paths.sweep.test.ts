import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { seededWallet, seededWallets } from '../../../devnet/seed/wallets.ts';
import { buildSchema } from '../../../src/schema/index.ts';
import { absencesIn, nullableSelection } from '../../support/gap-paths.ts';
import { type Json, noSleep, OPS, startService, type TestService } from '../../support/service.ts';
import { SUSDE_PYUSD } from '../known.ts';
import { tokenOf } from '../leverage/support.ts';

/**
 * `gaps` of wallets, portfolios, previews and plans names fields that exist, and names every field that is `null`. One world
 * goes from knowing little (every optional source down since the beginning) to knowing all.
 */

const SOURCES = ['coingecko', 'defillama-coins', 'kyberswap', 'merkl', 'morpho'] as const;
const WARMERS = ['prices', 'incentives', 'incentive-history', 'shared-liquidity', 'borrow-history', 'exit-liquidity'];
const schema = buildSchema();
/** The description of `proxyOf` covers its absence: a reason would need another call. */
const on = (name: string) => nullableSelection(schema, schema.getType(name) as never, ['proxyOf']);
const HOLDINGS = `positions(first: 20) { nodes { ${on('Position')} } } equityPositions { ${on('EquityPosition')} yieldLoops { ${on('Position')} } }`;
const WALLETS = `query($addresses: [Address!]!) { wallets(addresses: $addresses) { onChains { ${on('WalletOnChain')} } ${HOLDINGS} } }`;
const PNL = `pnl { ${on('Pnl')} }`;
const ITEMS = `{ ops { portfolios(first: 60) { nodes { ${PNL} } } items(first: 60) { nodes { ... on PortfolioLoop { ${PNL} position { ${on('Position')} } } ... on PortfolioVault { ${PNL} equityPosition { ${on('EquityPosition')} } loops(first: 10) { nodes { pnl { ${on('Pnl')} } } } } } } } }`;
const PREVIEW = `query($input: OpenLeverageInput!) { preview(input: { openLeverage: $input }) { ${on('LeveragePreview')} ... on LeveragePreview { position { exitNow { ${on('ExitNow')} } } } } }`;

let service: TestService;
beforeAll(async () => {
  service = await startService({
    sleep: noSleep,
    before: (world) => {
      for (const source of SOURCES) world.upstreams.faults.set(source, { kind: 'status', status: 500 });
    },
  });
});
afterAll(() => service?.stop());

const VAULT = 'equity-0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55';
const [stranger] = untouchedAccounts;
const collateral = tokenOf(1, 'sUSDe').address;
const open = { strategyId: SUSDE_PYUSD, payToken: collateral, amount: '100', target: { leverage: '3' } };
const onType = (name: string, more = '') => `... on ${name} { ${on(name)} ${more} } ... on Refusal { code message }`;
const PLANS: readonly (readonly [name: string, query: string, variables: () => Json])[] = [
  ['a preview', PREVIEW.replace(on('LeveragePreview'), onType('LeveragePreview')), () => ({ input: open })],
  [
    'a plan to open',
    `mutation($wallet: Address!, $input: OpenLeverageInput!) { openLeveragePlan(wallet: $wallet, input: $input) { ${onType('LeveragePlan', `position { exitNow { ${on('ExitNow')} } }`)} } }`,
    () => ({ wallet: stranger?.address, input: open }),
  ],
  ...(
    [
      ['close', { close: {} }],
      ['close a part', { close: { amount: '100' } }],
      ['repay', { repay: { amount: '10', payToken: tokenOf(1, 'PYUSD').address } }],
      ['repay all', { repayAll: {} }],
      ['add', { addCollateral: { amount: '10', payToken: collateral } }],
      ['remove', { removeCollateral: { amount: '10' } }],
      ['borrow', { borrow: { amount: '10' } }],
      ['lever', { increaseLeverage: { ltvPct: '82' } }],
    ] as const
  ).flatMap(([name, action]) => {
    const variables = () => ({ wallet: seededWallet('looper').account.address, input: { position: '1-0', action } });
    const fieldsOf = (type: string) => onType(type, `position { exitNow { ${on('ExitNow')} } }`);
    return [
      [
        `a plan to ${name}`,
        `mutation($wallet: Address!, $input: ManageLeverageInput!) { manageLeveragePlan(wallet: $wallet, input: $input) { ${fieldsOf('LeveragePlan')} } }`,
        variables,
      ],
      [
        `a preview to ${name}`,
        `query($wallet: Address!, $input: ManageLeverageInput!) { preview(wallet: $wallet, input: { manageLeverage: $input }) { ${fieldsOf('ManageLeveragePreview')} } }`,
        variables,
      ],
    ] as const;
  }),
  [
    'a preview of a vault',
    `query($input: EquityDepositInput!) { preview(input: { equityDeposit: $input }) { ${onType('EquityDepositPreview')} } }`,
    () => ({ input: { strategyId: VAULT, amount: '500' } }),
  ],
  [
    'a plan for a vault',
    `mutation($wallet: Address!, $input: EquityDepositInput!) { equityDepositPlan(wallet: $wallet, input: $input) { ${onType('EquityDepositPlan')} } }`,
    () => ({ wallet: stranger?.address, input: { strategyId: VAULT, amount: '500' } }),
  ],
  [
    'a preview for an owner of a vault',
    `query($wallet: Address!, $input: EquityDepositInput!) { preview(wallet: $wallet, input: { equityDeposit: $input }) { ${onType('EquityDepositPreview')} } }`,
    () => ({ wallet: seededWallet('shareholder').account.address, input: { strategyId: VAULT, amount: '500' } }),
  ],
  [
    'a preview out of a vault',
    `query($wallet: Address!, $input: EquityExitInput!) { preview(wallet: $wallet, input: { equityExit: $input }) { ${onType('EquityExitPreview', `position { ${on('EquityPosition')} }`)} } }`,
    () => ({ wallet: seededWallet('shareholder').account.address, input: { strategyId: VAULT } }),
  ],
  [
    'a plan out of a vault',
    `mutation($wallet: Address!, $input: EquityExitInput!) { equityExitPlan(wallet: $wallet, input: $input) { ${onType('EquityExitPlan', `position { ${on('EquityPosition')} }`)} } }`,
    () => ({ wallet: seededWallet('shareholder').account.address, input: { strategyId: VAULT } }),
  ],
];

const ask = async (query: string, variables: Json = {}, orUnavailable = false): Promise<Json> => {
  const { body } = await service.graphql(query, variables, OPS);
  if (orUnavailable && body.errors?.[0].extensions.code === 'upstream_unavailable') return null;
  expect(body.errors, JSON.stringify(body.errors)?.slice(0, 600)).toBeUndefined();
  return body.data;
};
const addresses = seededWallets.map(({ account }) => account.address);
const built = new Set<string>();

const STATES: readonly (readonly [string, () => Promise<void>])[] = [
  ['with every optional source down', async () => {}],
  [
    'with everything known',
    async () => {
      service.world.upstreams.faults.clear();
      service.clock.advance(61_000);
      await service.refresh(...WARMERS);
    },
  ],
];
describe.each(STATES)('%s', (_state, arrange) => {
  beforeAll(arrange);

  test('default: of wallets', async () => {
    expect(absencesIn(schema, await ask(WALLETS, { addresses }))).toMatchObject({ astray: [], unexplained: [] });
  });

  test('behavior: of portfolios and their P&L', async () => {
    const found = absencesIn(schema, await ask(ITEMS));
    expect(found).toMatchObject({ astray: [], unexplained: [] });
  });

  test.each(PLANS)('behavior: of %s', async (name, query, variables) => {
    const data = await ask(query, variables(), true);
    if (data === null) return;
    const [answer] = Object.values<Json>(data);
    if (answer.code === undefined) built.add(name);
    expect(absencesIn(schema, data)).toMatchObject({ astray: [], unexplained: [] });
  });
});

test('behavior: every preview and plan was built', () => {
  expect(PLANS.map(([name]) => name).filter((name) => !built.has(name))).toEqual([]);
});
