import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededWallets } from '../../../devnet/seed/wallets.ts';
import { Decimal } from '../../../src/shared/decimal.ts';
import { equityChain, passing } from '../../support/equity.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { localCatalog } from './support.ts';

/* Every action is previewed and built at the same block with fresh quotes: what both show is the same text. */

const CHAINS = [1, 4663] as const;
const LIQUIDATION = 'liquidation { liquidationPrice priceDropPct }';
const ESTIMATE =
  'chainId strategyId action effectiveSlippageBps totalSwapCostOfEquityPct oraclePriceAsOf costs { kind tokenAddress symbol amount valueUsd shareOfEquityPct } worstCase { equity paidOut ltvPct yieldLtvPct } readAt { blockNumber blockAt } issues { kind tokenAddress required available askedSlippageBps effectiveSlippageBps costPctOfEquity costUsd toLendersAmount }';
const POSITION = `position { leverage exactLeverage requestedLtvPct ltvPct worstCaseLtvPct collateralAmount debtAmount equity depositBasis leverageApyPct leverageApyBeforePct priceImpactPct swapSource ${LIQUIDATION} }`;
const PLANNED = `path positionIndex ${POSITION} borrowApy { beforePct afterPct } depositBasisBefore amountFlashLoan minTokenOut`;
const DEPOSIT = `deposit { depositAmount netApyPct netApyBeforePct ${LIQUIDATION} fees { stockLegBps yieldLegBps estimatedUsd }
  stock { priceUsd minReceived expectedReceived requestedLtvPct ltvPct borrowAmount borrowApyPct borrowApyBeforePct priceImpactPct swapSource combined { collateralAmount debtAmount ltvPct } }
  yieldLeg { collateralIn minCollateralIn leverage ltvPct amountFlashLoan depositBasis leverageApyPct priceImpactPct } }`;
const EXIT =
  'yieldPositionIds position { yieldLoopMatch netValueUsd netApyPct stock { collateralAmount debtAmount ltvPct } }';
const SIDE = `{ collateralAmount debtAmount equity ltvPct healthFactor apyPct ${LIQUIDATION} }`;
const REFUSED = '... on Refusal { code message retryable }';
const PREVIEW = `query($wallet: Address, $input: PreviewInput!, $age: Int) { preview(wallet: $wallet, input: $input, maxQuoteAgeSec: $age) { __typename ${REFUSED}
  ... on Estimate { ${ESTIMATE} gaps { field reason } } ... on Preview { before ${SIDE} after ${SIDE} amounts { symbol smallest largest } quotesAsOf note }
  ... on LeveragePreview { open: path ${POSITION.replace('position', 'opened: position')} flashLoan: amountFlashLoan minOut: minTokenOut } ... on PlannedLeverage { ${PLANNED} }
  ... on EquityDepositPreview { ${DEPOSIT} } ... on PlannedEquityExit { ${EXIT.replace('position', 'vault: position')} } } }`;
const BUILDS = {
  openLeverage: `mutation($wallet: Address!, $input: OpenLeverageInput!) { plan: openLeveragePlan(wallet: $wallet, input: $input) { ... on Estimate { ${ESTIMATE} } ... on LeveragePlan { open: path ${POSITION.replace('position', 'opened: position')} flashLoan: amountFlashLoan minOut: minTokenOut ltvBeforePct } ${REFUSED} } }`,
  manageLeverage: `mutation($wallet: Address!, $input: ManageLeverageInput!) { plan: manageLeveragePlan(wallet: $wallet, input: $input) { ... on Estimate { ${ESTIMATE} } ... on PlannedLeverage { ${PLANNED} } ... on LeveragePlan { ltvBeforePct liquidationBefore { liquidationPrice priceDropPct } } ${REFUSED} } }`,
  equityDeposit: `mutation($wallet: Address!, $input: EquityDepositInput!) { plan: equityDepositPlan(wallet: $wallet, input: $input) { ... on Estimate { ${ESTIMATE} } ... on EquityDepositPlan { ${DEPOSIT} } ${REFUSED} } }`,
  equityExit: `mutation($wallet: Address!, $input: EquityExitInput!) { plan: equityExitPlan(wallet: $wallet, input: $input) { ... on Estimate { ${ESTIMATE} } ... on PlannedEquityExit { ${EXIT.replace('position', 'vault: position')} } ${REFUSED} } }`,
};
type Case = keyof typeof BUILDS;

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: passing(() => service) });
}, 120_000);
afterAll(() => service?.stop());

async function answered(query: string, variables: Json): Promise<Json> {
  const { body } = await service.graphql(query, variables, PARTNER);
  if (body.errors) throw new Error(`${JSON.stringify(variables)}: ${JSON.stringify(body.errors)}`);
  return Object.values(body.data as Json)[0] as Json;
}
const preview = (name: Case, input: Json, wallet?: string, age = 0) =>
  answered(PREVIEW, { wallet: name === 'openLeverage' ? undefined : wallet, input: { [name]: input }, age });

/** The protocol rounds a new debt up to shares: read back it may be one base unit more than was borrowed, and no other number differs. */
function rounded(built: Json, shown: Json): void {
  const places = Math.max(...[built.debtAmount, shown.debtAmount].map((text) => text.split('.')[1]?.length ?? 0));
  const more = new Decimal(built.debtAmount).minus(shown.debtAmount).shiftedBy(places).toNumber();
  expect(more === 0 || more === 1).toBe(true);
  expect(new Decimal(shown.equity).minus(built.equity).shiftedBy(places).toNumber()).toBe(more);
  expect(Number(built.liquidation.liquidationPrice)).toBeCloseTo(Number(shown.liquidation.liquidationPrice), 6);
  for (const key of ['debtAmount', 'equity', 'liquidation']) delete built[key];
  for (const key of ['debtAmount', 'equity', 'liquidation']) delete shown[key];
}

/** Compare what the preview and the plan both show, and return the preview. */
async function compared(name: Case, input: Json, wallet: string): Promise<Json> {
  const shown = await preview(name, input, wallet);
  const plan = await answered(BUILDS[name], { wallet, input });
  const label = JSON.stringify([name, input]);
  const { ltvBeforePct, liquidationBefore, ...rest } = plan;
  if (name === 'openLeverage' && rest.opened) rounded(rest.opened, shown.opened);
  const common = Object.fromEntries(Object.keys(rest).map((key) => [key, shown[key]]));
  // A preview of an opening or a deposit sees no wallet, so no balances and approvals.
  const ofWallets = ['APPROVAL_NEEDED', 'INSUFFICIENT_BALANCE'];
  const seen = (one: Json) =>
    name === 'openLeverage' || name === 'equityDeposit'
      ? { ...one, issues: one.issues?.filter(({ kind }: Json) => !ofWallets.includes(kind)) }
      : one;
  expect({ label, ...seen(common) }).toEqual({ label, ...seen(rest) });
  if (name === 'manageLeverage' && ltvBeforePct !== undefined) {
    expect([shown.before.ltvPct, shown.before.liquidation]).toEqual([ltvBeforePct, liquidationBefore]);
    const { ltvPct, collateralAmount, debtAmount } = shown.position ?? {};
    if (shown.after) expect(shown.after).toMatchObject({ ltvPct, collateralAmount, debtAmount });
    expect(shown.after === null).toBe(shown.position === null);
  }
  expect(JSON.stringify(shown)).not.toMatch(/0x[0-9a-f]{100,}/i);
  return shown;
}

async function openPositions(chainId: number) {
  const found = [];
  for (const { account } of seededWallets) {
    const { body } = await service.get(`/v1/partner/positions/${account.address}?chainId=${chainId}`, PARTNER);
    for (const position of body.positions ?? []) {
      if (position.status !== 'open') continue;
      const market = localCatalog.chain(chainId)?.markets.find(({ id }) => id === position.strategyId);
      if (market) found.push({ wallet: account.address as string, position, market });
    }
  }
  return found;
}

const share = (amount: unknown, of: string, decimals: number) =>
  new Decimal(String(amount)).times(of).decimalPlaces(decimals, Decimal.ROUND_DOWN).toFixed();

describe.each(CHAINS)('chain %i', (chainId) => {
  it('property: every action on every seeded position previews as it is built, to the unit', async () => {
    const counts: Record<string, number> = {};
    for (const { wallet, position, market } of await openPositions(chainId)) {
      const { loan, collateral } = market;
      const held = position.amountLeveragedCollateral;
      const debt = position.amountLoan;
      const inLoan = (of: string) => share(debt, of, loan.decimals);
      const inCollateral = (of: string) => share(held, of, collateral.decimals);
      const other = localCatalog.chain(chainId)?.tokens.find(({ symbol }) => symbol === 'USDC') ?? loan;
      const actions: Json[] = [
        { increaseLeverage: { ltvPct: new Decimal(position.ltvPct).plus('0.7').toFixed(2) } },
        { addCollateral: { payToken: collateral.address, amount: inCollateral('0.01') } },
        { addCollateral: { payToken: loan.address, amount: inLoan('0.01') } },
        { addCollateral: { payToken: other.address, amount: '100' } },
        { removeCollateral: { amount: inCollateral('0.001') } },
        { borrow: { amount: inLoan('0.001') } },
        { borrow: { amount: inLoan('5') } },
        { repay: { payToken: loan.address, amount: inLoan('0.1') } },
        { repay: { payToken: collateral.address, amount: inCollateral('0.05') } },
        { repayAll: {} },
        { repayAll: { payToken: collateral.address } },
        { close: {} },
        { close: { exact: true } },
        { close: { amount: inCollateral('0.3') } },
      ];
      for (const action of actions) {
        const input = { position: position.positionId, action };
        const shown = await compared('manageLeverage', input, wallet);
        const [kind] = Object.keys(action);
        const key = `${kind} ${shown.code ?? 'same'}`;
        counts[key] = (counts[key] ?? 0) + 1;
      }
    }
    const same = Object.keys(counts).filter((key) => key.endsWith(' same'));
    expect(same.map((key) => key.split(' ')[0]).sort(), JSON.stringify(counts)).toEqual([
      'addCollateral',
      'borrow',
      'close',
      'increaseLeverage',
      'removeCollateral',
      'repay',
      'repayAll',
    ]);
  }, 300_000);

  it('property: an opening previews as it is built', async () => {
    const wallet = seededWallets[0]?.account.address as string;
    const market = localCatalog
      .chain(chainId)
      ?.markets.find(({ kind, collateral }) => kind === 'loop' && ['sUSDe', 'syrupUSDG'].includes(collateral.symbol));
    for (const token of [market?.collateral, market?.loan]) {
      const input = { strategyId: market?.id, payToken: token?.address, amount: '500', target: { leverage: '3' } };
      const shown = await compared('openLeverage', input, wallet);
      expect(shown).toMatchObject({
        __typename: 'LeveragePreview',
        before: null,
        after: { ltvPct: expect.any(String) },
      });
    }
  });

  it('behavior: the ends of a range are built, and beyond them there is a refusal', async () => {
    let checked = 0;
    for (const { wallet, position, market } of await openPositions(chainId)) {
      const { loan, collateral } = market;
      const { amountLeveragedCollateral: held, amountLoan: debt } = position;
      const least = (decimals: number) => new Decimal(1).shiftedBy(-decimals).toFixed();
      const asked: [Json, string, boolean][] = [
        [{ removeCollateral: { amount: least(collateral.decimals) } }, 'removeCollateral', false],
        [{ borrow: { amount: least(loan.decimals) } }, 'borrow', false],
        [{ repay: { payToken: loan.address, amount: least(loan.decimals) } }, 'repay', true],
      ];
      for (const [action, name, isExact] of asked) {
        const input = (amount: string) => ({
          position: position.positionId,
          action: { [name]: { ...action[name], amount } },
        });
        const shown = await preview('manageLeverage', input(action[name].amount), wallet);
        if (shown.code) continue;
        const { largest, smallest } = shown.amounts;
        expect(smallest).toBe(action[name].amount);
        for (const amount of [smallest, largest]) {
          const plan = await answered(BUILDS.manageLeverage, { wallet, input: input(amount) });
          expect([name, amount, plan.code, plan.message]).toEqual([name, amount, undefined, undefined]);
        }
        // Where interest counts, the largest amount leaves room for ten minutes of it.
        const beyond = isExact
          ? new Decimal(largest).plus(least(loan.decimals)).toFixed()
          : new Decimal(largest)
              .plus(name === 'borrow' ? share(debt, '0.001', loan.decimals) : share(held, '0.001', collateral.decimals))
              .toFixed();
        const refused = await preview('manageLeverage', input(beyond), wallet);
        const isRefused = ['LIMIT_EXCEEDED', 'INSUFFICIENT_LIQUIDITY'].includes(refused.code);
        expect([name, largest, beyond, isRefused, refused.message]).toEqual([
          name,
          largest,
          beyond,
          true,
          refused.message,
        ]);
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThan(3);
  }, 120_000);
});

it('property: deposits into and exits from every seeded vault preview as they are built', async () => {
  let exits = 0;
  for (const { account, vaults } of seededWallets) {
    for (const { stock, match, yieldLoopIds } of vaults) {
      const vault = equityChain().equityVaults.find((one) => one.stock.symbol === stock);
      const named = match === 'ambiguous' ? { yieldPositionIds: yieldLoopIds.map(String) } : {};
      const exit = await compared('equityExit', { strategyId: vault?.id, ...named }, account.address);
      if (!exit.code) {
        exits += 1;
        const { collateralAmount, debtAmount } = exit.vault.stock;
        expect(exit.before).toMatchObject({ collateralAmount, debtAmount });
      }
      const deposit = await compared('equityDeposit', { strategyId: vault?.id, amount: '500' }, account.address);
      if (deposit.code) continue;
      expect(deposit.after).toMatchObject({ ltvPct: deposit.deposit.stock.combined.ltvPct });
    }
  }
  expect(exits).toBeGreaterThan(1);
}, 120_000);

describe('quotes', () => {
  const [position] = seededWallets[0]?.entries ?? [];
  const wallet = seededWallets[0]?.account.address as string;
  const input = { position: '1-0', action: { close: {} } };
  const quoted = async (run: () => Promise<unknown>) => {
    const before = service.world.upstreams.requests().length;
    await run();
    return service.world.upstreams.requests().length - before;
  };

  it('behavior: the same swap is quoted once within the age, and its age is shown', async () => {
    expect(position).toBeDefined();
    service.clock.advance(20_000);
    const first = await preview('manageLeverage', input, wallet, 5);
    service.clock.advance(4_000);
    let again: Json = {};
    expect(await quoted(async () => (again = await preview('manageLeverage', input, wallet, 5)))).toBe(0);
    expect(again.quotesAsOf).toBe(first.quotesAsOf);
    service.clock.advance(1_000);
    const later = await preview('manageLeverage', input, wallet, 5);
    expect(Date.parse(later.quotesAsOf) - Date.parse(first.quotesAsOf)).toBe(5_000);
  });

  it('behavior: with an age of 0 and for builds the venues are asked again', async () => {
    await preview('manageLeverage', input, wallet, 5);
    expect(await quoted(() => preview('manageLeverage', input, wallet, 0))).toBeGreaterThan(0);
    expect(await quoted(() => answered(BUILDS.manageLeverage, { wallet, input }))).toBeGreaterThan(0);
  });

  it('behavior: a slider asks each venue once per swap and size', async () => {
    service.clock.advance(20_000);
    const amounts = ['10', '20', '30', '20', '10', '30'].map((amount) => ({
      position: '1-0',
      action: { close: { amount } },
    }));
    const once = await quoted(async () => {
      for (const one of amounts.slice(0, 3)) await preview('manageLeverage', one, wallet, 10);
    });
    const all = await quoted(async () => {
      for (const one of amounts.slice(3)) await preview('manageLeverage', one, wallet, 10);
    });
    expect([once > 0, all]).toEqual([true, 0]);
  });
});

describe('inputs', () => {
  const wallet = seededWallets[0]?.account.address as string;
  const refused = async (variables: Json) => {
    const { body } = await service.graphql(PREVIEW, variables, PARTNER);
    return body.errors?.[0]?.extensions;
  };
  const open = {
    openLeverage: { strategyId: `0x${'1'.repeat(64)}`, payToken: wallet, amount: '1', target: { leverage: '2' } },
  };

  it('error: a wallet for an opening, none for an exit, two chains, an age above the limit', async () => {
    expect(await refused({ wallet, input: open, age: 0 })).toMatchObject({
      code: 'bad_request',
      details: { field: 'wallet' },
    });
    const exit = { equityExit: { strategyId: equityChain().equityVaults[0]?.id } };
    expect(await refused({ input: exit, age: 0 })).toMatchObject({ code: 'bad_request', details: { field: 'wallet' } });
    const manage = { manageLeverage: { position: '1-0', action: { close: {} } } };
    expect(await refused({ input: manage, age: 0 })).toMatchObject({
      code: 'bad_request',
      details: { field: 'wallet' },
    });
    expect(await refused({ wallet, input: manage, age: 11 })).toMatchObject({ code: 'bad_request' });
    const { body } = await service.graphql(
      'query($wallet: Address, $input: PreviewInput!) { preview(chainId: 4663, wallet: $wallet, input: $input) { __typename } }',
      { wallet, input: manage },
      PARTNER,
    );
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'bad_request', details: { field: 'chainId' } });
  });

  it('error: refusals name the field where it is in the input', async () => {
    const input = { position: '1-0', action: { borrow: { amount: '100000000' } } };
    const query = `query($wallet: Address, $input: PreviewInput!) { preview(wallet: $wallet, input: $input) { ... on LimitExceededRefusal { field } } }`;
    const { body } = await service.graphql(query, { wallet, input: { manageLeverage: input } }, PARTNER);
    expect(body.data.preview.field).toBe('input.manageLeverage.action.borrow.amount');
  });
});
