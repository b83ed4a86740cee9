import { describe, expect, it } from 'vitest';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { HeadReading, ReadHead, TransactionState } from '../../src/chain/transactions.ts';
import type { WaitTarget } from '../../src/resolvers/common/read-services.ts';
import { createBlockWaits } from '../../src/services/fresh-reads/block-waits.ts';
import type { Hex } from '../../src/shared/ids.ts';
import { fakeTime, settle } from '../warmers/fake-time.ts';

const HASH: Hex = `0x${'12'.repeat(32)}`;
const TRANSACTION: WaitTarget = { kind: 'transaction', hash: HASH };
const PENDING: TransactionState = { kind: 'pending', from: `0x${'1'.repeat(40)}`, nonce: 7n };
const block = (number: bigint): HeadReading['block'] => {
  return {
    number,
    timestamp: 1_700_000_000n + number,
    hash: `0x${number.toString(16).padStart(64, '0')}`,
    nodeIndex: 1,
  };
};

/** Chains that answer in turn, each answer until the next one is set. */
function world(options: { perClient?: number } = {}) {
  const time = fakeTime();
  const answers = new Map<number, { head: bigint; state?: TransactionState } | ChainReadError>();
  const reads: { chainId: number; asked: number; slot: boolean }[] = [];
  const readerOf =
    (chainId: number): ReadHead =>
    async (asked) => {
      reads.push({ chainId, asked: asked.length, slot: asked.some(({ slot }) => slot !== undefined) });
      const answer = answers.get(chainId) ?? { head: 100n };
      if (answer instanceof ChainReadError) throw answer;
      const state = answer.state ?? { kind: 'unknown' };
      return { block: block(answer.head), transactions: new Map(asked.map(({ hash }) => [hash, state])) };
    };
  const ends: string[] = [];
  const waits = createBlockWaits({
    readers: new Map([1, 4663].map((chainId) => [chainId, readerOf(chainId)])),
    timers: time.timers,
    elapsedMs: time.clock.now,
    maxWaitMs: 10_000,
    perClient: options.perClient ?? 5,
    max: 500,
    onEnd: (outcome) => ends.push(outcome),
  });
  const wait = (target: WaitTarget, chainIds = [1], identity = 'key', signal?: AbortSignal) => {
    const waiting = waits.wait(target, chainIds, { identity, tier: 'partner', signal });
    waiting.catch(() => {});
    return waiting;
  };
  return { time, answers, reads, waits, wait, ends };
}

describe('createBlockWaits', () => {
  it('default: an included transaction ends the wait with the newest block', async () => {
    const { answers, wait, waits } = world();
    answers.set(1, { head: 105n, state: { kind: 'included', blockNumber: 103n, succeeded: true } });
    expect(await wait(TRANSACTION)).toEqual({
      status: 'included',
      chainId: 1,
      targetBlock: 103n,
      block: block(105n),
      waitedMs: 0,
    });
    expect(waits.count).toBe(0);
  });

  it('behavior: waits while it is pending, and until the answering node has reached its block', async () => {
    const { time, answers, wait, reads } = world();
    answers.set(1, { head: 100n, state: PENDING });
    const waiting = wait(TRANSACTION);
    await settle();
    answers.set(1, { head: 100n, state: { kind: 'included', blockNumber: 101n, succeeded: false } });
    await time.advance(250);
    answers.set(1, { head: 101n, state: { kind: 'included', blockNumber: 101n, succeeded: false } });
    await time.advance(250);
    expect(await waiting).toMatchObject({ status: 'reverted', targetBlock: 101n, block: block(101n), waitedMs: 500 });
    // Its sender and nonce are known from the first poll.
    expect(reads.map(({ slot }) => slot)).toEqual([false, true, true]);
  });

  it.each([
    ['pending', PENDING, PENDING],
    ['dropped', PENDING, { kind: 'unknown' }],
    ['unknown', { kind: 'unknown' }, { kind: 'unknown' }],
  ] as const)('behavior: %s when the time is over', async (status, first, then) => {
    const { time, answers, wait, ends } = world();
    answers.set(1, { head: 100n, state: first });
    const waiting = wait(TRANSACTION);
    await settle();
    answers.set(1, { head: 107n, state: then });
    await time.advance(10_000);
    expect(await waiting).toMatchObject({
      status,
      chainId: 1,
      targetBlock: null,
      block: { number: 107n },
      waitedMs: 10_000,
    });
    expect(ends).toEqual([status]);
  });

  it('behavior: a replaced transaction ends the wait at once', async () => {
    const { time, answers, wait } = world();
    answers.set(1, { head: 100n, state: PENDING });
    const waiting = wait(TRANSACTION);
    await settle();
    answers.set(1, { head: 101n, state: { kind: 'replaced' } });
    await time.advance(250);
    expect(await waiting).toMatchObject({ status: 'replaced', targetBlock: null, waitedMs: 250 });
  });

  it('behavior: of two chains, the one that has the transaction decides', async () => {
    const { answers, wait } = world();
    answers.set(4663, { head: 900n, state: { kind: 'included', blockNumber: 900n, succeeded: true } });
    expect(await wait(TRANSACTION, [1, 4663])).toMatchObject({ status: 'included', chainId: 4663 });
  });

  it('behavior: a reorganization that removes the transaction continues the wait', async () => {
    const { time, answers, wait } = world();
    answers.set(1, { head: 99n, state: { kind: 'included', blockNumber: 100n, succeeded: true } });
    const waiting = wait(TRANSACTION);
    await settle();
    answers.set(1, { head: 100n, state: PENDING });
    await time.advance(250);
    answers.set(1, { head: 102n, state: { kind: 'included', blockNumber: 102n, succeeded: true } });
    await time.advance(250);
    expect(await waiting).toMatchObject({ status: 'included', targetBlock: 102n });
  });

  it('behavior: any number of waits shares one poll, and none is sent when nobody waits', async () => {
    const { time, answers, wait, reads } = world({ perClient: 100 });
    const many = Array.from({ length: 50 }, () => wait({ kind: 'block', number: 101n }));
    await settle();
    await time.advance(250);
    expect(reads.length).toBeLessThanOrEqual(2);
    answers.set(1, { head: 101n });
    await time.advance(250);
    for (const one of many) expect(await one).toMatchObject({ status: 'reached', block: { number: 101n } });
    const sent = reads.length;
    await time.advance(10_000);
    expect(reads.length).toBe(sent);
  });

  it('behavior: failures of the node are waited out', async () => {
    const { time, answers, wait } = world();
    answers.set(1, new ChainReadError('timeout'));
    const waiting = wait({ kind: 'block', number: 101n });
    await settle();
    answers.set(1, { head: 101n });
    await time.advance(250);
    expect(await waiting).toMatchObject({ status: 'reached' });
  });

  it('error: ChainReadError when the node never answers, or never reaches the block of the transaction', async () => {
    const { time, answers, wait, ends } = world();
    answers.set(1, new ChainReadError('server_error'));
    const dead = wait({ kind: 'block', number: 101n });
    await time.advance(10_000);
    await expect(dead).rejects.toMatchObject({ code: 'upstream_unavailable', reason: 'server_error' });
    answers.set(1, { head: 100n, state: { kind: 'included', blockNumber: 101n, succeeded: true } });
    const behind = wait(TRANSACTION);
    await time.advance(10_000);
    await expect(behind).rejects.toMatchObject({ reason: 'missing', retryAfterSec: 5 });
    expect(ends).toEqual(['upstream_unavailable', 'upstream_unavailable']);
  });

  it('error: BadRequest for a block too far ahead and for a transaction of a chain that is not asked', async () => {
    const { answers, wait } = world();
    await expect(wait({ kind: 'block', number: 201n })).rejects.toMatchObject({
      details: { field: 'minBlock', limit: { head: '100', max: '200' } },
    });
    answers.set(4663, { head: 900n, state: PENDING });
    await expect(wait(TRANSACTION)).rejects.toMatchObject({ details: { field: 'afterTx', limit: { oneOf: [4663] } } });
  });

  it('error: RateLimited for a wait too many of one client; one that disconnects frees its wait', async () => {
    const { wait, waits, ends } = world({ perClient: 2 });
    const left = new AbortController();
    const first = wait({ kind: 'block', number: 101n }, [1], 'a', left.signal);
    wait({ kind: 'block', number: 101n }, [1], 'a');
    await expect(wait({ kind: 'block', number: 101n }, [1], 'a')).rejects.toMatchObject({
      code: 'rate_limited',
      details: { scope: 'waits', limit: 2 },
    });
    wait({ kind: 'block', number: 101n }, [1], 'b');
    expect(waits.count).toBe(3);
    left.abort();
    await expect(first).rejects.toThrow();
    expect([waits.count, ends]).toEqual([2, ['rate_limited', 'left']]);
    wait({ kind: 'block', number: 101n }, [1], 'a');
    await settle();
    expect(waits.count).toBe(3);
  });

  it('behavior: a stop ends all waits with an error to retry', async () => {
    const { wait, waits } = world();
    const waiting = wait({ kind: 'block', number: 101n });
    await settle();
    waits.stop();
    await expect(waiting).rejects.toMatchObject({ code: 'not_ready', retryable: true });
    expect(waits.count).toBe(0);
  });
});
