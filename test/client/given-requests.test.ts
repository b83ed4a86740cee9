import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Eip1193Provider,
  type ExecuteOptions,
  execute,
  InputError,
  InvalidPlanError,
  type Plan,
  proposeToSafe,
  prove,
  UnprovenError,
} from '../../packages/client/src/index.ts';
import { account as ACCOUNT, failureOf } from '../support/execution.ts';
import type { Json } from '../support/service.ts';

const account = ACCOUNT.address;
const other = `0x${'9'.repeat(40)}`;
const MARKET = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
const VAULT = 'equity-0x50bc39b5722fb5634c436d74c6787f3c125b879e7b73cf9e9ecc01bbb57b8e55';
const SUSDE = '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497';
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const open = { strategyId: MARKET, payToken: SUSDE, amount: '1000', leverage: 5, userAddress: account };
const manage = { userAddress: account, positionId: `1-${MARKET}-0` };
const plan = {
  chainId: 1,
  action: 'open_leverage',
  approvals: [],
  tx: { to: `0x${'1'.repeat(40)}`, data: '0x12345678' },
} as unknown as Plan;

let asked: string[] = [];
beforeEach(() => {
  asked = [];
});
/** A wallet that is asked, and answers every call with ones. */
const wallet: Eip1193Provider = {
  request: async ({ method }) => {
    asked.push(method);
    return method === 'eth_chainId' ? '0x1' : method === 'eth_accounts' ? [account] : `0x${'0'.repeat(63)}1`;
  },
};
/** All ways to give a request for a plan. */
const ways = {
  execute: (proof: unknown) => execute(plan, wallet, { account, proof } as ExecuteOptions),
  prove: (proof: unknown) => prove(plan, wallet, { account, ...(proof as object) } as never),
  proposeToSafe: (proof: unknown) => proposeToSafe(plan, wallet, { safe: account, proof } as never),
};

describe.each(Object.entries(ways))('%s', (_name, run) => {
  test.each([
    ['proof.request', null],
    ['proof.request', 'leverageBuild'],
    ['proof.request', [open]],
    ['proof.request.row', { input: open }],
    ['proof.request.row', { row: 'leverageSimulate', input: open }],
    ['proof.request.row', { row: 'toString', input: open }],
    ['proof.request.input', { row: 'leverageBuild' }],
    ['proof.request.input', { row: 'leverageBuild', input: null }],
    ['proof.request.input', { row: 'leverageBuild', input: [open] }],
    ['proof.request.input.strategyId', { row: 'leverageBuild', input: { ...open, strategyId: 1 } }],
    ['proof.request.input.amount', { row: 'leverageBuild', input: { ...open, amount: 1_000 } }],
    ['proof.request.input.leverage', { row: 'leverageBuild', input: { ...open, leverage: true } }],
    ['proof.request.input.leverage', { row: 'leverageBuild', input: { ...open, leverage: Number.NaN } }],
    ['proof.request.input.slippage', { row: 'leverageBuild', input: { ...open, slippage: '0.005' } }],
    ['proof.request.input.slippage', { row: 'leverageBuild', input: { ...open, slippage: -1 } }],
    ['proof.request.input.leverage', { row: 'leverageBuild', input: { ...open, leverage: 'abc' } }],
    ['proof.request.input.leverage', { row: 'leverageBuild', input: { ...open, leverage: 0 } }],
    ['proof.request.input.desiredLtv', { row: 'leverageBuild', input: { ...open, leverage: null, desiredLtv: 'x' } }],
    ['proof.request.input.amount', { row: 'leverageBuild', input: { ...open, amount: '0' } }],
    ['proof.request.input.amount', { row: 'leverageBuild', input: { ...open, amount: '-5' } }],
    ['proof.request.input.minAmountOut', { row: 'leverageBuild', input: { ...open, minAmountOut: 'x' } }],
    ['proof.request.input.maxSwapLossPct', { row: 'leverageBuild', input: { ...open, maxSwapLossPct: -1 } }],
    ['proof.request.input.amount', { row: 'manageBuild', input: { ...manage, action: 'borrow', amount: 'abc' } }],
    ['proof.request.input.amount', { row: 'manageBuild', input: { ...manage, action: 'close', amount: 'abc' } }],
    ['proof.request.input.userAddress', { row: 'leverageBuild', input: { ...open, userAddress: {} } }],
    ['proof.request.input.positionId', { row: 'manageBuild', input: { ...manage, action: 'close', positionId: 1 } }],
    ['proof.request.input.full', { row: 'manageBuild', input: { ...manage, action: 'repay', full: 'true' } }],
    ['proof.request.input.action', { row: 'manageBuild', input: { ...manage, action: 5 } }],
    [
      'proof.request.input.yieldPositionIds',
      { row: 'equityExitBuild', input: { strategyId: VAULT, yieldPositionIds: 1 } },
    ],
    [
      'proof.request.input.yieldPositionIds',
      { row: 'equityExitBuild', input: { strategyId: VAULT, yieldPositionIds: ['1'] } },
    ],
  ])('error: InputError names %s before anything is asked: %o', async (name, request) => {
    const error = await failureOf(run({ request }));
    expect(error).toBeInstanceOf(InputError);
    expect(error.message).toMatch(new RegExp(`^${name.replaceAll('.', '\\.')} is .*\\. Give `));
    expect(asked).toEqual([]);
  });

  test.each([
    ['intent', 'none'],
    ['worth', 5],
    ['chains', {}],
    ['reallocation', 'all'],
  ])('error: InputError names proof.%s before anything is asked', async (name, value) => {
    const error = await failureOf(run({ [name]: value }));
    expect(error).toBeInstanceOf(InputError);
    expect(error.message).toMatch(new RegExp(`^proof\\.${name} is .*\\. Give `));
    expect(asked).toEqual([]);
  });

  test.each([
    ['no strategy', 'leverageBuild', { ...open, strategyId: undefined }, 'intent'],
    ['no target', 'leverageBuild', { ...open, leverage: null, desiredLtv: null }, 'intent'],
    ['two targets', 'leverageBuild', { ...open, desiredLtv: '80' }, 'intent'],
    ['no amount', 'leverageBuild', { ...open, amount: null }, 'intent'],
    ['another chain', 'leverageBuild', { ...open, chainId: 4663 }, 'chain'],
    [
      'a position of another chain',
      'manageBuild',
      { ...manage, positionId: `4663-${MARKET}-0`, action: 'close' },
      'chain',
    ],
    ['no position', 'manageBuild', { action: 'close', id: null, positionId: null }, 'intent'],
    ['no action', 'manageBuild', manage, 'intent'],
    ['an unknown action', 'manageBuild', { ...manage, action: 'burn' }, 'intent'],
    ['a payment without an amount', 'manageBuild', { ...manage, action: 'repay', payToken: USDT }, 'intent'],
    ['a loan without an amount', 'manageBuild', { ...manage, action: 'borrow' }, 'intent'],
    ['an increase without a target', 'manageBuild', { ...manage, action: 'increase_leverage' }, 'intent'],
    ['a vault of another chain', 'equityExitBuild', { strategyId: VAULT }, undefined],
    ['a deposit without a vault', 'equityDepositBuild', { amount: '5' }, 'intent'],
  ])('error: UnprovenError of a request with %s before anything is asked', async (_what, row, input, code) => {
    const error = await failureOf(run({ request: { row, input } }));
    expect(error).toBeInstanceOf(UnprovenError);
    if (code !== undefined) expect(error.cause).toMatchObject({ code });
    expect(asked).toEqual([]);
  });

  test('error: a field that no row takes, before anything is asked', async () => {
    const error = await failureOf(run({ request: { row: 'leverageBuild', input: { ...open, foo: 1 } } }));
    expect([error.constructor, error.message]).toEqual([InputError, expect.stringContaining('has the field foo')]);
    expect(asked).toEqual([]);
  });

  test('error: a request for another action, before anything is asked', async () => {
    const error = await failureOf(run({ request: { row: 'manageBuild', input: { ...manage, action: 'close' } } }));
    expect([error.constructor, error.message]).toEqual([
      InvalidPlanError,
      'The request is for close, and the plan is for open_leverage.',
    ]);
    expect(asked).toEqual([]);
  });

  test('error: a request of another wallet before anything is asked', async () => {
    const error = await failureOf(run({ request: { row: 'leverageBuild', input: { ...open, userAddress: other } } }));
    expect(error).toBeInstanceOf(InvalidPlanError);
    expect(error.message).toContain(other);
    expect(asked).toEqual([]);
  });

  test('behavior: an error of the code of the caller stays what it is', async () => {
    const mine = new TypeError("Cannot read properties of undefined (reading 'usd')");
    const worth = () => {
      throw mine;
    };
    const request = { row: 'leverageBuild', input: { ...open, payToken: USDT } };
    const how: Json = { request, worth };
    const run_ = run === ways.proposeToSafe ? ways.prove : run;
    expect(await failureOf(run_(how))).toBe(mine);
    const later = { request, worth: () => Promise.reject(mine) };
    expect(await failureOf(run_(later))).toBe(mine);
  });
});

test('error: the account of the wallet is compared before anything else is asked', async () => {
  const request = { row: 'leverageBuild', input: { ...open, userAddress: other } };
  const error = await failureOf(execute(plan, wallet, { proof: { request } } as unknown as ExecuteOptions));
  expect(error).toBeInstanceOf(InvalidPlanError);
  expect(asked).toEqual(['eth_accounts']);
});

describe('a node that answers nothing that can be read', () => {
  const answering = (answer: unknown): Eip1193Provider => ({
    request: async ({ method }) => (method === 'eth_call' ? answer : '0x1'),
  });
  test.each([
    ['no text', 5],
    ['no words', '0x12'],
    ['nothing', '0x'],
    ['null', null],
    ['a price of zero', `0x${'0'.repeat(64)}`],
  ])('error: WalletError for %s', async (_what, answer) => {
    const request = { row: 'leverageBuild', input: open } as const;
    const error = await failureOf(prove(plan, answering(answer), { account, request }));
    expect(error).toMatchObject({ code: 'wallet_failed', message: expect.stringMatching(/^The node answered /) });
  });
});
