import { hexToBigInt } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labelAddress, untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { Decimal, toUnits } from '../../../src/shared/decimal.ts';
import { encodeGlobalId } from '../../../src/shared/ids.ts';
import { manageVariables, openVariables } from '../../support/partner-inputs.ts';
import { type Json, noSleep, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf, type Partner, partnerOn, tokenOf } from './support.ts';

const REFUSAL = `... on Refusal { code message retryable retryAfterSec }
  ... on LimitExceededRefusal { field value limits { name value } }
  ... on NotEligibleRefusal { ineligibility pointer }`;
const POSITION = `leverage exactLeverage requestedLtvPct ltvPct worstCaseLtvPct collateralAmount debtAmount equity
  leverageApyPct leverageApyBeforePct priceImpactPct swapSource liquidation { liquidationPrice priceDropPct }
  exitNow { lossLoan lossUsd swapSource breakEvenDays gaps { field reason } }`;
const ESTIMATE = `chainId strategyId action effectiveSlippageBps totalSwapCostOfEquityPct worstCase { equity ltvPct }
  costs { kind tokenAddress symbol amount valueUsd shareOfEquityPct } issues { kind message tokenAddress required available }
  gaps { field reason }`;
const PREVIEW = `query($input: OpenLeverageInput!) { preview(input: { openLeverage: $input }) { __typename
  ... on LeveragePreview { ${ESTIMATE} path isDirect isReallocate amountFlashLoan minTokenOut reallocationFeeWei note
    borrowApy { beforePct afterPct } position { ${POSITION} } } ${REFUSAL} } }`;
const CALL =
  'to data value isApproval intent { functionName spender recipient minOutputUnits arguments { name value } }';
const PLAN = `... on LeveragePlan { ${ESTIMATE} path positionIndex expiresAt quotesExpireAt simulatedGas amountFlashLoan minTokenOut
  instructions calls { ${CALL} } sendCalls position { ${POSITION} } } ${REFUSAL}`;
const OPEN = `mutation($wallet: Address!, $input: OpenLeverageInput!) {
  openLeveragePlan(wallet: $wallet, input: $input) { __typename ${PLAN} } }`;
const MANAGE = `mutation($wallet: Address!, $input: ManageLeverageInput!) {
  manageLeveragePlan(wallet: $wallet, input: $input) { __typename ${PLAN} } }`;

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
});
afterAll(() => service?.stop());

async function ask(query: string, body: Json): Promise<Json> {
  const variables = query.includes('ManageLeverageInput') ? manageVariables(body) : openVariables(body);
  const answer = await service.graphql(query, { ...variables }, PARTNER);
  expect(answer.body.errors, JSON.stringify(answer.body.errors)).toBeUndefined();
  return Object.values(answer.body.data)[0];
}

describe('preview of an opening', () => {
  it('default: shows rates, liquidation, costs, exit and break-even', async () => {
    const preview = await ask(PREVIEW, input);
    expect(preview).toMatchObject({
      __typename: 'LeveragePreview',
      path: 'SWAP_AND_LEVERAGE',
      isDirect: false,
      isReallocate: false,
    });
    const { position, borrowApy, costs } = preview;
    expect(Number(borrowApy.afterPct)).toBeGreaterThan(Number(borrowApy.beforePct));
    expect(costs.map(({ kind }: Json) => kind)).toEqual([
      'ENTRY_SWAP',
      'REFERRAL_FEE',
      'LEVERAGE_SWAP',
      'REFERRAL_FEE',
    ]);
    // 5 basis points of the input of each swap, on a correlated market.
    expect(costs[1]).toMatchObject({ symbol: 'USDC', amount: '2.5' });
    const referral = new Decimal(preview.amountFlashLoan).times('0.0005');
    expect(costs[3].amount).toBe(referral.decimalPlaces(market.loan.decimals, Decimal.ROUND_DOWN).toFixed());
    expect(Number(position.exitNow.lossUsd)).toBeGreaterThan(0);
    expect(Number(position.exitNow.breakEvenDays)).toBeGreaterThan(0);
    expect(position.exitNow.gaps).toEqual([]);
    expect(Number(position.leverageApyBeforePct)).toBeGreaterThan(Number(position.leverageApyPct));
    expect(preview.worstCase.ltvPct).toBe(position.worstCaseLtvPct);
    const summed = costs.reduce((sum: number, { shareOfEquityPct }: Json) => sum + Number(shareOfEquityPct), 0);
    expect(Math.abs(summed - Number(preview.totalSwapCostOfEquityPct))).toBeLessThan(0.03);
    const drop = new Decimal(position.liquidation.priceDropPct);
    const expected = new Decimal(100).minus(new Decimal(position.ltvPct).div('0.915'));
    expect(drop.minus(expected).abs().lte('0.02')).toBe(true);
    expect(Number(position.worstCaseLtvPct)).toBeGreaterThan(Number(position.ltvPct));
  });

  it('behavior: an exceeded limit is a refusal type', async () => {
    expect(await ask(PREVIEW, { ...input, leverage: '50' })).toMatchObject({
      __typename: 'LimitExceededRefusal',
      code: 'LIMIT_EXCEEDED',
      retryable: false,
      retryAfterSec: null,
      field: 'input.openLeverage.target.leverage',
      value: '50',
      limits: [
        { name: 'maxLeverage', value: '10.5' },
        { name: 'maxLtvPct', value: '90.50' },
      ],
    });
  });

  it('error: Unauthorized without a key', async () => {
    const { body } = await service.graphql(PREVIEW, { ...openVariables(input) });
    expect(body.errors?.[0].extensions.code).toBe('unauthorized');
  });

  it('error: BadRequest for more decimals than the token has, for any digits', async () => {
    const { body } = await service.graphql(PREVIEW, { ...openVariables({ ...input, amount: '1.0000001' }) }, PARTNER);
    expect(body.errors?.[0].extensions).toMatchObject({
      code: 'bad_request',
      details: { field: 'input.openLeverage.amount' },
    });
  });
});

describe('openLeveragePlan', () => {
  it('default: the calls, their intent, and the batch agree', async () => {
    const plan = await ask(OPEN, { ...input, userAddress: user });
    const { contracts } = service.world.chains.on(1).chain;
    expect(plan).toMatchObject({
      __typename: 'LeveragePlan',
      action: 'OPEN_LEVERAGE',
      chainId: 1,
      effectiveSlippageBps: '50',
      positionIndex: null,
    });
    expect(plan.calls.map(({ isApproval }: Json) => isApproval)).toEqual([true, false]);
    expect(plan.calls[0].intent).toMatchObject({
      functionName: 'approve',
      spender: contracts.flashLeverageRouter,
      recipient: user,
      arguments: [
        { name: 'spender', value: contracts.flashLeverageRouter },
        { name: 'amount', value: '5000000000' },
      ],
    });
    const { intent } = plan.calls[1];
    const argument = (name: string) => intent.arguments.find((entry: Json) => entry.name === name)?.value;
    expect(intent).toMatchObject({ functionName: 'swapAndLeverage', spender: null, recipient: user });
    expect(argument('leverageParams.marketId')).toBe(market.id);
    expect(argument('tokenIn')).toBe(usdc.address);
    expect(argument('amountIn')).toBe('5000000000');
    expect(intent.minOutputUnits).toBe(argument('leverageParams.minTokenOut'));
    expect(new Decimal(plan.minTokenOut).shiftedBy(18).toFixed()).toBe(intent.minOutputUnits);
    expect(plan.sendCalls).toMatchObject({ version: '2.0.0', chainId: '0x1', from: user, atomicRequired: false });
    expect(plan.sendCalls.calls).toEqual(plan.calls.map(({ to, data }: Json) => ({ to, data, value: '0x0' })));
    expect(plan.instructions).toContain(
      `From ${user}: sign and send the one approval in "calls" and wait until it is mined, then sign and send the last of "calls".`,
    );
    expect(plan.expiresAt).toBe(plan.quotesExpireAt);
    expect(hexToBigInt(plan.sendCalls.calls[1].value)).toBe(0n);
    expect(plan.issues).toMatchObject([
      { kind: 'APPROVAL_NEEDED', tokenAddress: usdc.address, required: '5000', available: '0' },
    ]);
    expect(Number(plan.simulatedGas)).toBeGreaterThan(100_000);
  });

  it('behavior: missing funds are an issue beside the plan', async () => {
    const plan = await ask(OPEN, { ...input, userAddress: labelAddress('empty') });
    expect(plan.issues).toMatchObject([
      { kind: 'INSUFFICIENT_BALANCE', tokenAddress: usdc.address, required: '5000', available: '0' },
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
    const reported = meta.positionPreview.costs.filter(
      ({ kind, token }: Json) => kind === 'REFERRAL_FEE' && token === market.loan.address,
    );
    expect(reported).toHaveLength(1);
    const before = await held();
    await partner.send(plan);
    expect((await held()) - before).toBe(toUnits(new Decimal(reported[0].amount), market.loan.decimals));
    const flashLoan = new Decimal(plan.amountFlashLoan).shiftedBy(market.loan.decimals);
    expect((await held()) - before).toBe(BigInt(flashLoan.times('0.0005').integerValue(Decimal.ROUND_DOWN).toFixed(0)));
  });
});

describe('manageLeveragePlan', () => {
  it('behavior: shows its effect on the borrow rate and the position before', async () => {
    const id = (await partner.nextId()) - 1;
    const requested = (body: Json) =>
      ask(
        `mutation($wallet: Address!, $input: ManageLeverageInput!) { manageLeveragePlan(wallet: $wallet, input: $input) {
          __typename ... on LeveragePlan { borrowApy { beforePct afterPct } ltvBeforePct liquidationBefore { liquidationPrice priceDropPct }
          expiresAt quotesExpireAt position { ltvPct liquidation { liquidationPrice priceDropPct } } } ${REFUSAL} } }`,
        { userAddress: user, id, ...body },
      );
    const [repaid, closed, added, borrowed] = [
      await requested({ action: 'repay', full: true }),
      await requested({ action: 'close' }),
      await requested({ action: 'add_collateral', amount: '10', payToken: market.collateral.address }),
      await requested({ action: 'borrow', amount: '100' }),
    ];
    const moved = ({ borrowApy: { beforePct, afterPct } }: Json) => new Decimal(afterPct).comparedTo(beforePct);
    expect([repaid, closed, added, borrowed].map(moved)).toEqual([-1, -1, 0, 1]);
    expect(repaid.borrowApy.afterPct).toBe(closed.borrowApy.afterPct);
    expect(repaid.position.liquidation).toBeNull();
    for (const { ltvBeforePct, liquidationBefore } of [repaid, closed]) {
      const drop = new Decimal(100).minus(new Decimal(ltvBeforePct).div('0.915'));
      expect(drop.minus(liquidationBefore.priceDropPct).abs().lte('0.02')).toBe(true);
    }
    expect(Number(added.position.liquidation.liquidationPrice)).toBeLessThan(
      Number(added.liquidationBefore.liquidationPrice),
    );
    // Nothing is swapped for a borrow: it expires all the same.
    expect([borrowed.quotesExpireAt, Date.parse(borrowed.expiresAt) - service.clock.now()]).toEqual([null, 60_000]);
  });

  it('behavior: a position is managed by its global id, and its id by another wallet is refused', async () => {
    const index = (await partner.nextId()) - 1;
    const { body: read } = await service.graphql(
      'query($a: Address!) { wallet(address: $a) { positions(first: 50) { nodes { id positionIndex } } } }',
      { a: user },
      PARTNER,
    );
    const { id } = read.data.wallet.positions.nodes.find(({ positionIndex }: Json) => positionIndex === index);
    const planned = (wallet: string, position: string) =>
      service.graphql(MANAGE, { wallet, input: { position, action: { borrow: { amount: '1' } } } }, PARTNER);
    const { body } = await planned(user, id);
    expect(body.data.manageLeveragePlan).toMatchObject({ __typename: 'LeveragePlan', positionIndex: index });
    const refused = async (wallet: string, position: string) => {
      const { body: answer } = await planned(wallet, position);
      expect(answer.data?.manageLeveragePlan ?? null).toBeNull();
      const error = answer.errors?.[0];
      return [error?.extensions.details, error?.message];
    };
    const stranger = labelAddress('stranger');
    expect(await refused(stranger, id)).toEqual([
      { field: 'wallet', value: stranger, limit: { oneOf: [user] } },
      `wallet ${stranger} contradicts input.position, which is a position of ${user}. Send wallet ${user}.`,
    ]);
    expect(await refused(user, encodeGlobalId('Market', `1:${market.id}`))).toMatchObject([
      { field: 'variables.input.position', limit: { oneOf: ['Position'] } },
      expect.stringContaining('is the `id` of a Market. Send the positionId or the `id` of a Position.'),
    ]);
    expect(await refused(user, encodeGlobalId('Position', `5:${user}:${index}`))).toMatchObject([
      { field: 'input.position', value: '5', limit: { oneOf: [1, 4663] } },
      'input.position 5 is not served. Send one of 1, 4663.',
    ]);
    const otherSpelling = encodeGlobalId('Position', `1:${user.toLowerCase()}:${index}`);
    expect(await refused(user, otherSpelling)).toMatchObject([
      { field: 'variables.input.position', value: expect.stringMatching(/^UG9/) },
      expect.stringContaining('is not a global id'),
    ]);
    expect((await refused(user, String(index)))[1]).toMatch(/names no chain/);
  });

  it('behavior: a repayment of the whole debt takes an amount, and refuses one that does not cover it', async () => {
    const id = (await partner.nextId()) - 1;
    const repayAll = (amount: string) =>
      ask(
        `mutation($wallet: Address!, $input: ManageLeverageInput!) { manageLeveragePlan(wallet: $wallet, input: $input) {
          __typename ... on LeveragePlan { position { debtAmount } calls { intent { arguments { name value } } } } ${REFUSAL} } }`,
        { userAddress: user, id, action: 'repay', full: true, amount, payToken: market.loan.address },
      );
    const refused = await repayAll('0.01');
    expect(refused).toMatchObject({
      __typename: 'LimitExceededRefusal',
      field: 'input.action.repayAll.amount',
      value: '0.01',
      limits: [{ name: 'sufficientAmount', value: expect.any(String) }],
    });
    const [{ value }] = refused.limits;
    expect(refused.message).toContain(
      `does not cover the whole debt with the interest of half an hour. Send ${value}, which is enough`,
    );
    const plan = await repayAll(value);
    expect(plan).toMatchObject({ __typename: 'LeveragePlan', position: { debtAmount: '0' } });
  });

  it('default: a close has no position after it, and no referral fee', async () => {
    const id = (await partner.nextId()) - 1;
    const plan = await ask(MANAGE, { userAddress: user, id, action: 'close' });
    expect(plan).toMatchObject({ action: 'CLOSE', path: 'DELEVERAGE', position: null });
    expect(plan.calls).toHaveLength(1);
    expect(plan.calls[0].intent).toMatchObject({ functionName: 'deleverage', recipient: user });
    await partner.send(plan);
    expect(await partner.position(market, id)).toMatchObject({ open: false, debt: 0n });
    expect(await ask(MANAGE, { userAddress: user, id, action: 'close' })).toMatchObject({
      __typename: 'NotEligibleRefusal',
      ineligibility: 'POSITION_CLOSED',
      pointer: `wallet(address: "${user}", chainIds: [1])`,
    });
  });
});
