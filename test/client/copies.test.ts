import { describe, expect, test } from 'vitest';
import type { Rpc } from '../../packages/client/src/execute/wallet.ts';
import { createClient, type Plan, planOfGraphql } from '../../packages/client/src/index.ts';
import { createChainState } from '../../packages/client/src/intent/chain-state.ts';
import { originOf } from '../../packages/client/src/plan-origin.ts';
import { trustedChains } from '../../packages/client/src/verify/index.ts';

const json = (status: number, body: object) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
const BUNDLE = { chainId: 1, action: 'open_leverage', path: 'leverage', approvals: [], tx: {}, meta: {} };
const account = `0x${'11'.repeat(20)}`;
const inputOf = () => ({ strategyId: '0x1', payToken: '0x2', amount: '1000', leverage: 3, userAddress: account });

/** A client of a service that gives these answers, and the bodies that it was sent. `onSent` runs before each answer. */
function clientOf(answers: readonly (() => Response)[], onSent: () => void) {
  const bodies: object[] = [];
  const client = createClient({
    baseUrl: 'http://service.test',
    fetch: async (_url, { body }) => {
      bodies.push(JSON.parse(String(body)));
      await Promise.resolve();
      onSent();
      return answers[Math.min(bodies.length, answers.length) - 1]?.() ?? json(500, {});
    },
    wait: async () => {},
  });
  return { client, bodies };
}

describe('an input that the caller changes while it is answered', () => {
  test('behavior: a plan is proven against, and built again with, what was sent', async () => {
    const input = inputOf();
    const { client, bodies } = clientOf([() => json(200, BUNDLE)], () => {
      input.amount = '2000';
    });
    const plan = await client.leverageBuild(input);
    expect(originOf(plan)).toMatchObject({ row: 'leverageBuild', input: inputOf() });
    await client.rebuild(plan);
    expect(bodies).toEqual([inputOf(), inputOf()]);
  });

  test('behavior: a repeated request is the same request', async () => {
    const { userAddress: _, ...input } = inputOf();
    const first = { ...input };
    const refusal = () => json(503, { error: { code: 'not_ready', message: 'why' } });
    const { client, bodies } = clientOf([refusal], () => {
      input.leverage += 1;
    });
    await expect(client.leverageSimulate(input)).rejects.toMatchObject({ code: 'not_ready' });
    expect(bodies).toEqual([first, first, first]);
  });

  test('behavior: a plan of GraphQL is proven against the variables as they were', () => {
    const yieldPositionIds = [0];
    const plan: Plan = planOfGraphql(
      {
        __typename: 'EquityExitPlan',
        chainId: 4663,
        atomic: true,
        sendCalls: {},
        expiresAt: '2026-11-25T12:00:00Z',
        calls: [{ to: account, data: '0x', value: '0' }],
      },
      { field: 'equityExitPlan', wallet: account, input: { strategyId: 'equity-0x1', yieldPositionIds } },
    );
    yieldPositionIds.push(1);
    expect(originOf(plan)?.input).toMatchObject({ yieldPositionIds: [0] });
  });
});

test('error: a list of positions that is not as long as the node says, which may be without an end', async () => {
  const [chain] = trustedChains;
  if (chain === undefined) throw new Error('the package trusts a chain');
  const word = (value: bigint) => value.toString(16).padStart(64, '0');
  const positionsOf = (count: bigint, words: number) => {
    const answer = `0x${word(32n)}${word(count)}${word(1n).repeat(words)}`;
    return createChainState({ read: async () => answer } as unknown as Rpc, chain).positions(account);
  };
  expect(await positionsOf(2n, 10)).toHaveLength(2);
  for (const count of [1n, 3n, 2n ** 32n - 1n, 2n ** 255n])
    await expect(positionsOf(count, 10)).rejects.toThrow('positions');
});
