import { type Address, encodeFunctionData, erc20Abi, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { sendMined } from '../../devnet/chain/receipt.ts';
import { alice, mallory, useWorld } from '../contracts/world.ts';

const world = useWorld(1);

interface Call {
  readonly method: string;
}

/** The time after which an answer is missed in these tests, instead of 5 s. */
const OVERDUE_MS = 50;

/** The client of the chain, whose first sending is lost before the chain has it, or its answer after that. */
function losing(what: 'transaction' | 'answer') {
  const sent: Call[] = [];
  const request = async (call: Call): Promise<unknown> => {
    if (call.method !== 'eth_sendTransactionSync') return world().client.request(call as never);
    sent.push(call);
    if (sent.length > 1) return world().client.request(call as never);
    if (what === 'answer') await world().client.request(call as never);
    return new Promise(() => {});
  };
  return { sent, client: { request } };
}

const approvalOf = (amount: bigint) => ({
  from: alice,
  to: world().chain.token('USDC').address,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [mallory, amount] }),
});
const allowance = (owner: Address) =>
  world().client.readContract({
    address: world().chain.token('USDC').address,
    abi: erc20Abi,
    functionName: 'allowance',
    args: [owner, mallory],
  });

describe('sendMined', () => {
  test('behavior: a transaction that the chain has lost is sent again', async () => {
    await world().client.impersonateAccount({ address: alice });
    const before = await world().client.getTransactionCount({ address: alice });
    const { client, sent } = losing('transaction');
    const receipt = await sendMined(client, approvalOf(7n), OVERDUE_MS);
    expect([receipt.status, sent.length, await allowance(alice)]).toEqual(['success', 2, 7n]);
    expect(await world().client.getTransactionCount({ address: alice })).toBe(before + 1);
  });

  test('behavior: a transaction whose answer is lost is mined once, and its receipt is found', async () => {
    await world().client.impersonateAccount({ address: alice });
    const before = await world().client.getTransactionCount({ address: alice });
    const { client, sent } = losing('answer');
    const receipt = await sendMined(client, approvalOf(9n), 1_000);
    expect([receipt.status, receipt.from, sent.length]).toEqual(['success', alice.toLowerCase(), 1]);
    expect([await allowance(alice), await world().client.getTransactionCount({ address: alice })]).toEqual([
      9n,
      before + 1,
    ]);
  });

  test('behavior: a transaction that waits for its block is not sent again', async () => {
    await world().client.impersonateAccount({ address: alice });
    await world().client.setAutomine(false);
    try {
      const asked: string[] = [];
      const request = async (call: Call): Promise<unknown> => {
        asked.push(call.method);
        const answer = world().client.request(call as never);
        if (call.method !== 'txpool_content') return answer;
        const pool = await answer;
        await world().client.setAutomine(true);
        await world().client.mine({ blocks: 1 });
        return pool;
      };
      const receipt = await sendMined({ request }, approvalOf(11n), OVERDUE_MS);
      expect([receipt.status, await allowance(alice)]).toEqual(['success', 11n]);
      expect(asked.filter((method) => method === 'eth_sendTransactionSync')).toHaveLength(1);
    } finally {
      await world().client.setAutomine(true);
    }
  });

  test('error: a refusal of the chain is thrown', async () => {
    const abi = parseAbi(['function nothing()']);
    const from = '0x00000000000000000000000000000000000000aa';
    const data = encodeFunctionData({ abi });
    await expect(sendMined(world().client, { from, to: alice, data })).rejects.toThrow();
  });
});
