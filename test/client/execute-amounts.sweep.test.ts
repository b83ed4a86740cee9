import { type Address, type Hex, numberToHex, parseUnits } from 'viem';
import { describe, expect, test } from 'vitest';
import { EVENTS } from '../../packages/client/src/generated/events.ts';
import {
  type Eip1193Provider,
  execute,
  type Plan,
  type PlanProof,
  type Progress,
} from '../../packages/client/src/index.ts';
import { account, failureOf, market, useExecution, user } from '../support/execution.ts';
import type { Json } from '../support/service.ts';
import { injectedWallet, viemWallet } from '../support/wallets.ts';

const world = useExecution();
const { local, options, openPlan, positionOf } = world;
const wallet = () => viemWallet(local(), account);
const run = (plan: Plan, reader?: Eip1193Provider) => execute(plan, wallet(), options({ reader }));
const manage = (action: object) =>
  world.client.manageBuild({ ...action, id: 0, userAddress: user } as Parameters<typeof world.client.manageBuild>[0]);
const { morphoBlue, transfer } = EVENTS;
const [collateral, loan] = [market.collateral, market.loan];
const topicOf = (address: Address) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
const ofUser = topicOf(user);

interface Change {
  readonly event: Hex | string;
  /** The place of the amount among the words of the data. */
  readonly word?: number;
  /** The topic that names the account of the wallet; none = the contract of a position. */
  readonly userAt?: number;
  readonly to: (amount: bigint) => bigint;
}

/** A node whose receipts have one amount changed: that of each event of a kind. */
function nodeWith({ event, word = 0, userAt, to }: Change): Eip1193Provider {
  const changed = (log: Json): Json => {
    if (log.topics[0] !== event || (userAt !== undefined && log.topics[userAt] !== ofUser)) return log;
    const words: string[] = log.data.slice(2).match(/.{64}/g) ?? [];
    const amount = to(BigInt(`0x${words[word]}`));
    return { ...log, data: `0x${words.with(word, numberToHex(amount, { size: 32 }).slice(2)).join('')}` };
  };
  return injectedWallet(local(), {
    eth_getTransactionReceipt: async (params) => {
      const receipt = (await local().client.request({ method: 'eth_getTransactionReceipt', params } as never)) as Json;
      return receipt === null ? null : { ...receipt, logs: receipt.logs.map(changed) };
    },
  });
}

const more = (amount: bigint) => (amount * 11n) / 10n;
const less = (amount: bigint) => (amount * 9n) / 10n;
const paid = { event: transfer, userAt: 1, to: more };
const received = { event: transfer, userAt: 2, to: less };
const borrowed = { event: morphoBlue.Borrow.topic, word: 1 };
const supplied = { event: morphoBlue.SupplyCollateral.topic };
const withdrawn = { event: morphoBlue.WithdrawCollateral.topic, word: 1 };
const repaid = { event: morphoBlue.Repay.topic };
const [ofCollateral, ofLoan] = [collateral.address, loan.address];

describe('an outcome outside of what was proven', () => {
  test.each<[string, object | undefined, Change, string, Address]>([
    ['an opening that takes more', undefined, paid, 'payment', ofCollateral],
    ['an opening that borrows more', undefined, { ...borrowed, to: more }, 'loan of the opened position', ofLoan],
    [
      'an opening with less collateral',
      undefined,
      { ...supplied, to: less },
      'collateral of the opened position',
      ofCollateral,
    ],
    [
      'an increase that borrows more',
      { action: 'increase_leverage', leverage: 6 },
      { ...borrowed, to: more },
      'loan of position 0',
      ofLoan,
    ],
    [
      'an increase with less collateral',
      { action: 'increase_leverage', leverage: 6 },
      { ...supplied, to: less },
      'collateral of position 0',
      ofCollateral,
    ],
    [
      'an addition that adds less',
      { action: 'add_collateral', payToken: ofCollateral, amount: '100' },
      { ...supplied, to: less },
      'collateral of position 0',
      ofCollateral,
    ],
    [
      'an addition that takes more',
      { action: 'add_collateral', payToken: ofLoan, amount: '100' },
      paid,
      'payment',
      ofLoan,
    ],
    [
      'a withdrawal that takes out more',
      { action: 'remove_collateral', amount: '50' },
      { ...withdrawn, to: more },
      'withdrawal of position 0',
      ofCollateral,
    ],
    ['a withdrawal that pays less', { action: 'remove_collateral', amount: '50' }, received, 'receipt', ofCollateral],
    [
      'a loan that is larger',
      { action: 'borrow', amount: '25' },
      { ...borrowed, to: more },
      'loan of position 0',
      ofLoan,
    ],
    ['a loan that pays less', { action: 'borrow', amount: '25' }, received, 'receipt', ofLoan],
    [
      'a repayment of less',
      { action: 'repay', payToken: ofLoan, amount: '300' },
      { ...repaid, to: less },
      'repayment of position 0',
      ofLoan,
    ],
    [
      'a partial sale of more',
      { action: 'close', amount: '200' },
      { ...withdrawn, to: more },
      'withdrawal of position 0',
      ofCollateral,
    ],
    ['a close that pays less', { action: 'close' }, received, 'receipt', ofLoan],
  ])('error: %s', async (_, action, change, what, token) => {
    const open = await openPlan();
    if (action !== undefined) await run(open);
    const error = await failureOf(run(action === undefined ? open : await manage(action), nodeWith(change)));
    expect(error).toMatchObject({
      code: 'unexpected_outcome',
      missing: [],
      sent: [expect.stringMatching(/^0x/), ...error.sent.slice(1)],
    });
    expect(error.excesses).toHaveLength(1);
    const [{ amount, limit, isTooMuch, ...excess }] = error.excesses;
    expect(excess.what).toBe(what);
    expect([amount.token, limit.token]).toEqual([token, token]);
    expect(isTooMuch ? amount.amount > limit.amount : amount.amount < limit.amount).toBe(true);
    expect(error.message).toContain(
      `The ${what} is ${amount.text}, and at ${isTooMuch ? 'most' : 'least'} ${limit.text} was proven.`,
    );
  });

  test('error: a token that the plan has nothing to do with leaves the wallet', async () => {
    const other: Json = { address: `0x${'12'.repeat(20)}`, topics: [transfer, ofUser, topicOf(market.loan.address)] };
    const reader = injectedWallet(local(), {
      eth_getTransactionReceipt: async (params) => {
        const receipt = (await local().client.request({
          method: 'eth_getTransactionReceipt',
          params,
        } as never)) as Json;
        const logs = [...(receipt?.logs ?? []), { ...other, data: numberToHex(5n, { size: 32 }) }];
        return receipt === null ? null : { ...receipt, logs };
      },
    });
    const error = await failureOf(run(await openPlan(), reader));
    expect(error.excesses).toMatchObject([{ what: 'payment', limit: { amount: 0n } }]);
  });

  test('error: an increase of another position', async () => {
    await run(await openPlan());
    const { userProxy } = await positionOf(0n);
    const another = topicOf(`0x${'34'.repeat(20)}`);
    const reader = injectedWallet(local(), {
      eth_getTransactionReceipt: async (params) => {
        const receipt = await local().client.request({ method: 'eth_getTransactionReceipt', params } as never);
        return JSON.parse(JSON.stringify(receipt).replaceAll(topicOf(userProxy), another));
      },
    });
    const error = await failureOf(run(await manage({ action: 'increase_leverage', leverage: 6 }), reader));
    expect(error).toMatchObject({ code: 'unexpected_outcome', missing: ['a loan'] });
    expect(error.excesses).toMatchObject([{ what: 'collateral of position 0', amount: { amount: 0n } }]);
  });
});

test('default: the outcome of an increase says what the lending protocol recorded of its position', async () => {
  await run(await openPlan());
  const { userProxy } = await positionOf(0n);
  const { outcome, proof } = await run(await manage({ action: 'increase_leverage', leverage: 6 }));
  expect(outcome.positions).toEqual([]);
  expect(outcome.lending).toMatchObject([{ marketId: market.id, holder: userProxy.toLowerCase(), repaid: 0n }]);
  const [change] = outcome.lending;
  expect(change?.borrowed).toBe(proof?.changes[0]?.borrowsAtMost.amount);
  expect(change?.collateralIn).toBeGreaterThanOrEqual(proof?.changes[0]?.addsAtLeast.amount ?? 0n);
});

test('behavior: interest that accrues between the proof and the receipt is no loss', async () => {
  await run(await openPlan());
  const plan = await manage({ action: 'close' });
  let isLate = false;
  const late = injectedWallet(local(), {
    eth_sendTransaction: async (params) => {
      if (!isLate) await local().increaseTime(24 * 3_600);
      isLate = true;
      return local().client.request({ method: 'eth_sendTransaction', params } as never);
    },
  });
  const { outcome } = await execute(plan, late, options({ account: user }));
  expect(outcome.lending).toHaveLength(1);
  expect((await positionOf(0n)).open).toBe(false);
});

test('error: a close that pays less than its least output leaves after the debt of its block', async () => {
  await run(await openPlan());
  const plan = await manage({ action: 'close' });
  let proof: PlanProof | undefined;
  const onProgress = (progress: Progress) => {
    if (progress.kind === 'proven') proof = progress.proof;
    if (progress.kind === 'checked') due = true;
  };
  let due = false;
  const late = injectedWallet(local(), {
    eth_sendTransaction: async (params) => {
      if (due) await local().increaseTime(24 * 3_600);
      return local().client.request({ method: 'eth_sendTransaction', params } as never);
    },
  });
  const reader = nodeWith({ ...received, to: () => 1n });
  const error = await failureOf(execute(plan, late, options({ account: user, reader, onProgress })));
  const [{ owes } = {}] = proof?.changes ?? [];
  const grown = error.outcome.lending[0].repaid - (owes?.amount ?? 0n);
  expect(grown).toBeGreaterThan(parseUnits('0.1', market.loan.decimals));
  const limit = (proof?.receivesAtLeast[0]?.amount ?? 0n) - grown;
  expect(error.excesses).toMatchObject([{ what: 'receipt', amount: { amount: 1n }, limit: { amount: limit } }]);
});
