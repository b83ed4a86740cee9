import { hexToBigInt } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labelAddress, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { Decimal, toUnits } from '../../../src/shared/decimal.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf, type Partner, partnerOn, tokenOf } from './support.ts';

const REFUSAL = `... on Refusal { code message retryable status }
  ... on LimitExceededRefusal { field value limits { name value } }
  ... on NotEligibleRefusal { ineligibility pointer }`;
const POSITION = `leverage exactLeverage requestedLtv effectiveLtv worstCaseLtv amountLeveragedCollateral amountDebt equity
  expectedLeverageApy priceImpactPct swapSource borrowApyPct { before after } liquidation { price dropPct }
  leverageApyBefore totalSwapCostPctOfEquity
  worstCase { equity ltv } costs { kind token symbol amount usd pctOfEquity } exitNow { lossLoan lossUsd source reason breakEvenState breakEvenDays }`;
const PREVIEW = `query($input: LeveragePreviewInput!) { leveragePreview(input: $input) { __typename
  ... on LeveragePreview { path isDirect isReallocate amountFlashLoan minTokenOut reallocationFeeWei slippage note
    issues { kind message } position { ${POSITION} } } ${REFUSAL} } }`;
const PLAN = `... on TransactionPlan { chainId action path slippage expiresAt simulatedGas amountFlashLoan minTokenOut instructions
  approvals { to data value intent { method spender recipient minimumOut arguments { name value } } }
  tx { to data value intent { method spender recipient minimumOut arguments { name value } } }
  sendCalls { version chainId from atomicRequired calls { to data value } }
  issues { kind message token required available } position { ${POSITION} } } ${REFUSAL}`;
const OPEN = `query($input: OpenLeverageInput!) { openLeverage(input: $input) { __typename ${PLAN} } }`;
const MANAGE = `query($input: ManagePositionInput!) { managePosition(input: $input) { __typename ${PLAN} } }`;

let service: TestService;
let partner: Partner;
const [account] = untouchedAccounts;
if (!account) throw new Error('the local world has untouched accounts');
const user = account.address;
const market = marketOf(1, 'sUSDe/PYUSD 91.5');
const usdc = tokenOf(1, 'USDC');
const input = { strategyId: market.id, payToken: usdc.address, amount: '5000', leverage: 5 };

beforeAll(async () => {
  service = await startService({ sleep: noSleep, env: { FEE_RECEIVER: labelAddress('fees') } });
  partner = partnerOn(service, 1, account);
}, 120_000);
afterAll(() => service?.stop());

async function ask(query: string, variables: Json): Promise<Json> {
  const answer = await service.graphql(query, { input: variables }, PARTNER);
  expect(answer.body.errors, JSON.stringify(answer.body.errors)).toBeUndefined();
  return Object.values(answer.body.data)[0];
}

describe('leveragePreview', () => {
  it('default: tells rates, liquidation, costs, exit and break-even', async () => {
    const preview = await ask(PREVIEW, input);
    expect(preview).toMatchObject({
      __typename: 'LeveragePreview',
      path: 'swapAndLeverage',
      isDirect: false,
      isReallocate: false,
    });
    const { position } = preview;
    expect(Number(position.borrowApyPct.after)).toBeGreaterThan(Number(position.borrowApyPct.before));
    expect(position.costs.map(({ kind }: Json) => kind)).toEqual([
      'ENTRY_SWAP',
      'REFERRAL_FEE',
      'LEVERAGE_SWAP',
      'REFERRAL_FEE',
    ]);
    // 5 basis points of what each swap spends, on a correlated market.
    expect(position.costs[1]).toMatchObject({ symbol: 'USDC', amount: '2.5' });
    const referral = new Decimal(preview.amountFlashLoan).times('0.0005');
    expect(position.costs[3].amount).toBe(referral.decimalPlaces(market.loan.decimals, Decimal.ROUND_DOWN).toFixed());
    expect(Number(position.exitNow.lossUsd)).toBeGreaterThan(0);
    expect(Number(position.exitNow.breakEvenDays)).toBeGreaterThan(0);
    expect(position.exitNow.breakEvenState).toBe('DAYS');
    expect(Number(position.leverageApyBefore)).toBeGreaterThan(Number(position.expectedLeverageApy));
    expect(position.worstCase.ltv).toBe(position.worstCaseLtv);
    const summed = position.costs.reduce((sum: number, { pctOfEquity }: Json) => sum + Number(pctOfEquity), 0);
    expect(Math.abs(summed - Number(position.totalSwapCostPctOfEquity))).toBeLessThan(0.03);
    const drop = new Decimal(position.liquidation.dropPct);
    const expected = new Decimal(100).minus(new Decimal(position.effectiveLtv).div('0.915'));
    expect(drop.minus(expected).abs().lte('0.02')).toBe(true);
    expect(Number(position.worstCaseLtv)).toBeGreaterThan(Number(position.effectiveLtv));
  });

  it('behavior: a limit is refused as data', async () => {
    expect(await ask(PREVIEW, { ...input, leverage: '50' })).toMatchObject({
      __typename: 'LimitExceededRefusal',
      code: 'bad_request',
      status: 400,
      retryable: false,
      field: 'leverage',
      value: '50',
      limits: [
        { name: 'maxLeverage', value: '10.5' },
        { name: 'maxLtvPct', value: '90.50' },
      ],
    });
  });

  it('error: Unauthorized without a key', async () => {
    const { body } = await service.graphql(PREVIEW, { input });
    expect(body.errors?.[0].extensions.code).toBe('unauthorized');
  });

  it('error: BadRequest for more decimals than the token has, whatever digits are sent', async () => {
    const { body } = await service.graphql(PREVIEW, { input: { ...input, amount: '1.0000001' } }, PARTNER);
    expect(body.errors?.[0].extensions).toMatchObject({ code: 'bad_request', details: { field: 'amount' } });
  });
});

describe('openLeverage', () => {
  it('default: the calls, their intent, and the batch say the same', async () => {
    const plan = await ask(OPEN, { ...input, userAddress: user });
    const { contracts } = service.world.chains.on(1).chain;
    expect(plan).toMatchObject({
      __typename: 'TransactionPlan',
      action: 'open_leverage',
      chainId: 1,
      slippage: '0.005',
    });
    expect(plan.approvals).toHaveLength(1);
    expect(plan.approvals[0].intent).toMatchObject({
      method: 'approve',
      spender: contracts.flashLeverageRouter,
      recipient: user,
      arguments: [
        { name: 'spender', value: contracts.flashLeverageRouter },
        { name: 'amount', value: '5000000000' },
      ],
    });
    const { intent } = plan.tx;
    const argument = (name: string) => intent.arguments.find((entry: Json) => entry.name === name)?.value;
    expect(intent).toMatchObject({ method: 'swapAndLeverage', spender: null, recipient: user });
    expect(argument('leverageParams.marketId')).toBe(market.id);
    expect(argument('tokenIn')).toBe(usdc.address);
    expect(argument('amountIn')).toBe('5000000000');
    expect(intent.minimumOut).toBe(argument('leverageParams.minTokenOut'));
    expect(new Decimal(plan.minTokenOut).shiftedBy(18).toFixed()).toBe(intent.minimumOut);
    expect(plan.sendCalls).toMatchObject({ version: '2.0.0', chainId: '0x1', from: user, atomicRequired: false });
    const calls = [...plan.approvals, plan.tx].map(({ to, data }: Json) => ({ to, data, value: '0x0' }));
    expect(plan.sendCalls.calls).toEqual(calls);
    expect(hexToBigInt(plan.sendCalls.calls[1].value)).toBe(0n);
    expect(plan.issues).toMatchObject([
      { kind: 'APPROVAL_NEEDED', token: usdc.address, required: '5000', available: '0' },
    ]);
    expect(Number(plan.simulatedGas)).toBeGreaterThan(100_000);
  });

  it('behavior: missing funds are an issue beside the plan', async () => {
    const plan = await ask(OPEN, { ...input, userAddress: labelAddress('empty') });
    expect(plan.issues).toMatchObject([
      { kind: 'INSUFFICIENT_BALANCE', token: usdc.address, required: '5000', available: '0' },
      { kind: 'APPROVAL_NEEDED' },
    ]);
  });

  it('behavior: the referral fee reaches its receiver', async () => {
    const fees = labelAddress('fees');
    const plan = await ask(OPEN, { ...input, userAddress: user });
    const held = () =>
      service.world.chains.on(1).client.readContract({
        address: market.loan.address,
        abi: [
          {
            type: 'function',
            name: 'balanceOf',
            stateMutability: 'view',
            inputs: [{ type: 'address' }],
            outputs: [{ type: 'uint256' }],
          },
        ],
        functionName: 'balanceOf',
        args: [fees],
      });
    const { meta } = await partner.build('/v1/partner/leverage/build', { ...input, userAddress: user });
    const told = meta.costs.filter(({ kind, token }: Json) => kind === 'REFERRAL_FEE' && token === market.loan.address);
    expect(told).toHaveLength(1);
    expect(meta.positionPreview.costs).toEqual(meta.costs);
    const before = await held();
    await partner.send(plan);
    expect((await held()) - before).toBe(toUnits(new Decimal(told[0].amount), market.loan.decimals));
    const flashLoan = new Decimal(plan.amountFlashLoan).shiftedBy(market.loan.decimals);
    expect((await held()) - before).toBe(BigInt(flashLoan.times('0.0005').integerValue(Decimal.ROUND_DOWN).toFixed(0)));
  });
});

describe('managePosition', () => {
  it('behavior: tells what it does to the borrow rate and where the position stood', async () => {
    const id = (await partner.nextId()) - 1;
    const asked = (body: Json) =>
      ask(
        `query($input: ManagePositionInput!) { managePosition(input: $input) { __typename ... on TransactionPlan {
          borrowApyPct { before after } ltvBefore liquidationBefore { price dropPct }
          position { effectiveLtv borrowApyPct { before after } liquidation { price dropPct } } } ${REFUSAL} } }`,
        { userAddress: user, id, ...body },
      );
    const [repaid, closed, added, borrowed] = [
      await asked({ action: 'repay', full: true }),
      await asked({ action: 'close' }),
      await asked({ action: 'add_collateral', amount: '10', payToken: market.collateral.address }),
      await asked({ action: 'borrow', amount: '100' }),
    ];
    const moved = ({ borrowApyPct: { before, after } }: Json) => new Decimal(after).comparedTo(before);
    expect([repaid, closed, added, borrowed].map(moved)).toEqual([-1, -1, 0, 1]);
    expect(repaid.borrowApyPct.after).toBe(closed.borrowApyPct.after);
    expect(repaid.position.borrowApyPct).toEqual(repaid.borrowApyPct);
    expect(repaid.position.liquidation).toBeNull();
    for (const { ltvBefore, liquidationBefore } of [repaid, closed]) {
      const drop = new Decimal(100).minus(new Decimal(ltvBefore).div('0.915'));
      expect(drop.minus(liquidationBefore.dropPct).abs().lte('0.02')).toBe(true);
    }
    expect(Number(added.position.liquidation.price)).toBeLessThan(Number(added.liquidationBefore.price));
  });

  it('default: a close has no position after it, and no referral fee', async () => {
    const id = (await partner.nextId()) - 1;
    const plan = await ask(MANAGE, { userAddress: user, id, action: 'close' });
    expect(plan).toMatchObject({ action: 'close', path: 'deleverage', position: null, approvals: [] });
    expect(plan.tx.intent).toMatchObject({ method: 'deleverage', recipient: user });
    await partner.send(plan);
    expect(await partner.position(market, id)).toMatchObject({ open: false, debt: 0n });
    expect(await ask(MANAGE, { userAddress: user, id, action: 'close' })).toMatchObject({
      __typename: 'NotEligibleRefusal',
      ineligibility: 'position_closed',
      pointer: `/v1/partner/positions/${user}?chainId=1`,
    });
  });
});
