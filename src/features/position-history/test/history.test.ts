import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededWallets } from '../../../../devnet/seed/wallets.ts';
import { type Json, PARTNER, startService, type TestService } from '../../../../test/support/service.ts';
import { Decimal } from '../../../shared/decimal.ts';

const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const history = (id: number | string, query = '') =>
  service.get(`/v1/partner/positions/${WALLET}/${id}/history${query}`, PARTNER);

test('default: every seeded position has its whole history at once, and its parts add up to the total', async () => {
  const { body } = await service.get(`/v1/partner/positions/${WALLET}`, PARTNER);
  expect(body.positions.length).toBeGreaterThan(0);
  for (const { id, status } of body.positions) {
    const { status: code, body: found } = await history(id);
    expect([code, found.complete, found.status, found.gaps]).toEqual([200, true, status, []]);
    expect(found.events[0]).toMatchObject({ kind: 'opened', at: found.completeFrom });
    expect(found.count).toBe(found.events.length);
    const { yieldAndPrice, fees, slippage, borrowCost, liquidation, paidByOthers } = found.pnlSplit;
    const { result, paid, received, netValue } = found.pnlSplit;
    const sum = (...parts: Json[]) => parts.reduce((all, { amount }) => all.plus(amount), new Decimal(0)).toFixed();
    expect(sum(yieldAndPrice, fees, slippage, borrowCost, liquidation, paidByOthers)).toBe(result.amount);
    expect(sum(received, netValue)).toBe(sum(paid, result));
  }
});

test('behavior: a payer is named where something was paid, and not of a liquidation or a close', async () => {
  const kinds = new Set<string>();
  for (const { account, entries } of seededWallets) {
    const onEthereum = entries.filter(({ chainId }) => chainId === 1);
    for (const id of onEthereum.keys()) {
      const { body } = await service.get(`/v1/partner/positions/${account.address}/${id}/history`, PARTNER);
      for (const { kind, paid, paidBy } of body.events) {
        const isPaid = Number(paid.collateral) > 0 || Number(paid.loan) > 0;
        expect([kind, paidBy]).toEqual([kind, isPaid ? expect.any(String) : null]);
        kinds.add(`${kind} ${paidBy}`);
      }
    }
  }
  expect([...kinds].sort()).toEqual(['closed null', 'liquidated null', 'opened owner']);
});

test('default: both P&Ls of every seeded position differ by what pnlDifference names, exactly', async () => {
  const { body } = await service.get(`/v1/partner/positions/${WALLET}`, PARTNER);
  let compared = 0;
  for (const { id, pnl } of body.positions) {
    const { pnlSplit, pnlDifference } = (await history(id)).body;
    const { paidDirectlyUsd, recordUsd, incentivesUsd, gaps } = pnlDifference;
    if (pnl.baseResultUsd === undefined) {
      expect(gaps.map(({ field }: Json) => field)).toContain('recordUsd');
      continue;
    }
    const base = new Decimal(pnlSplit.result.usd).plus(paidDirectlyUsd).plus(recordUsd);
    expect(base.eq(pnl.baseResultUsd), `${base} ${pnl.baseResultUsd}`).toBe(true);
    if (pnl.totalUsd === undefined || pnlSplit.total === undefined) {
      expect(gaps.map(({ field }: Json) => field)).toContain('incentivesUsd');
      continue;
    }
    const total = new Decimal(pnlSplit.total.usd).plus(paidDirectlyUsd).plus(recordUsd).plus(incentivesUsd);
    expect(total.eq(pnl.totalUsd), `${total} ${pnl.totalUsd}`).toBe(true);
    compared += 1;
  }
  expect(compared).toBeGreaterThan(0);
});

test('behavior: events come in pages', async () => {
  const { body } = await service.get(`/v1/partner/positions/${WALLET}`, PARTNER);
  const ended = body.positions.find(({ status }: Json) => status !== 'open') ?? body.positions[0];
  const whole = (await history(ended.id)).body.events;
  const first = (await history(ended.id, '?limit=1')).body;
  expect(first.events).toEqual(whole.slice(0, 1));
  if (whole.length > 1) {
    const rest = (await history(ended.id, `?after=${encodeURIComponent(first.next)}`)).body;
    expect([rest.events, rest.next]).toEqual([whole.slice(1), null]);
  }
});

test.each([
  ['999', '', 404, 'not_found'],
  ['x', '', 400, 'bad_request'],
  ['0', '?limit=501', 400, 'bad_request'],
  ['0', '?points=0', 400, 'bad_request'],
  ['0', '?after=bm90', 400, 'bad_request'],
])('error: position %s%s is %i %s', async (id, query, status, code) => {
  const answer = await history(id, query);
  expect([answer.status, answer.body.error.code]).toEqual([status, code]);
});

test('behavior: the statement of a wallet is CSV with a row for every event', async () => {
  const { body } = await service.get(`/v1/partner/positions/${WALLET}/statement`, PARTNER);
  const [header, ...rows] = body.csv.split('\r\n').filter((line: string) => line !== '');
  expect(header.split(',').slice(0, 4)).toEqual(['time', 'chainId', 'positionId', 'event']);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.every((row: string) => row.split(',').length === header.split(',').length)).toBe(true);
});

test('behavior: the statement is a file to Accept: text/csv, with a tag', async () => {
  const path = `/v1/partner/positions/${WALLET}/statement`;
  const inJson = (await service.get(path, PARTNER)).body.csv;
  const file = await service.get(path, { ...PARTNER, accept: 'text/csv' });
  expect(file.text).toBe(inJson);
  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  expect(file.headers.get('content-disposition')).toBe(`attachment; filename="statement-chain-1-${WALLET}.csv"`);
  expect(file.headers.get('cache-control')).toBe('private, no-cache');
  expect(file.headers.get('vary')).toMatch(/^accept, authorization/);
  const etag = file.headers.get('etag') ?? '';
  const again = await service.get(path, { ...PARTNER, accept: 'text/csv', 'if-none-match': etag });
  expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
  const refused = await service.get(path, { accept: 'text/csv' });
  expect([refused.status, refused.body.error.code]).toEqual([401, 'unauthorized']);
});

const VAULT_OWNER = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc';

test('default: the stock legs of the seeded vaults have their whole history, and the statement has them too', async () => {
  const { body } = await service.get(`/v1/partner/positions/${VAULT_OWNER}?chainId=4663`, PARTNER);
  expect(body.equityPositions.length).toBeGreaterThan(0);
  const statement = await service.get(`/v1/partner/positions/${VAULT_OWNER}/statement?chainId=4663`, PARTNER);
  for (const { strategyId, stock } of body.equityPositions) {
    const path = `/v1/partner/positions/${VAULT_OWNER}/vaults/${strategyId}/history`;
    const { status, body: found } = await service.get(path, PARTNER);
    expect([status, found.complete, found.open, found.gaps]).toEqual([200, true, true, []]);
    expect(found.events[0]).toMatchObject({ kind: 'opened', at: found.completeFrom });
    expect(found.events.at(-1).collateralAfter).toBe(stock.collateral);
    expect(found.equity.at(-1)).toMatchObject({ collateral: stock.collateral, debt: stock.debtUsdg });
    const { yieldAndPrice, borrowCost, result, paid, received, netValue } = found.pnlSplit;
    const sum = (...parts: Json[]) => parts.reduce((all, { amount }) => all.plus(amount), new Decimal(0)).toFixed();
    expect(sum(yieldAndPrice, borrowCost)).toBe(result.amount);
    expect(sum(received, netValue)).toBe(sum(paid, result));
    const rows = statement.body.csv.split('\r\n').filter((row: string) => row.includes(strategyId));
    expect(rows).toHaveLength(found.count);
  }
});

test('behavior: GraphQL lists the stock legs of a wallet, and finds one on its chain alone', async () => {
  const query = `query ($wallet: Address!, $strategyId: StrategyId!) {
    wallet(address: $wallet) { equityPositions { strategyId } stockLegs { strategyId isOpen } }
    chains { chainId stockLeg(wallet: $wallet, strategyId: $strategyId) { strategyId isOpen } }
  }`;
  const { body } = await service.get(`/v1/partner/positions/${VAULT_OWNER}?chainId=4663`, PARTNER);
  const legs = body.equityPositions.map(({ strategyId }: Json) => ({ strategyId, isOpen: true }));
  const variables = { wallet: VAULT_OWNER, strategyId: legs[0].strategyId };
  const { data } = (await service.graphql(query, variables, PARTNER)).body;
  expect(data.wallet.stockLegs).toEqual(expect.arrayContaining(legs));
  expect(data.chains).toEqual([
    { chainId: 1, stockLeg: null },
    { chainId: 4663, stockLeg: legs[0] },
  ]);
  const none = (await service.graphql(query, { ...variables, wallet: WALLET }, PARTNER)).body.data;
  expect([none.wallet.stockLegs, none.chains[1].stockLeg]).toEqual([[], null]);
  const refused = await service.graphql(
    '{ chains { stockLeg(wallet: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", strategyId: "equity-0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55") { isOpen } } }',
  );
  expect(refused.body.errors?.[0].extensions.code).toBe('unauthorized');
});

test.each([
  ['a vault that the wallet never had', WALLET, undefined, 404, 'not_found'],
  ['a vault that does not exist', VAULT_OWNER, `equity-0x${'12'.repeat(32)}`, 404, 'not_found'],
  ['a market', VAULT_OWNER, `0x${'12'.repeat(32)}`, 400, 'bad_request'],
])('error: the stock leg of %s', async (_name, wallet, id, status, code) => {
  const { body } = await service.get(`/v1/partner/positions/${VAULT_OWNER}?chainId=4663`, PARTNER);
  const vault = id ?? body.equityPositions[0].strategyId;
  const answer = await service.get(`/v1/partner/positions/${wallet}/vaults/${vault}/history`, PARTNER);
  expect([answer.status, answer.body.error.code]).toEqual([status, code]);
});

test('default: the health page has how far each chain is read', async () => {
  await service.refresh('position-history:1', 'position-history:4663');
  // A reading that is older than a minute is waited for.
  service.clock.advance(60_001);
  const { chains } = (await service.get('/health')).body;
  expect(chains.map(({ chainId }: Json) => chainId)).toEqual([1, 4663]);
  for (const { positionHistory } of chains) {
    expect(positionHistory).toMatchObject({ status: 'following', whole: true, blocksBehind: 0 });
    expect(positionHistory.found).toBe(positionHistory.expected);
    expect(positionHistory.readTo.blockNumber).toBe(positionHistory.headBlock);
  }
  const { body: ready } = await service.get('/ready');
  expect(ready.chains.map(({ positionHistory }: Json) => positionHistory)).toEqual(['following', 'following']);
});
