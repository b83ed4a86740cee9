import { execFile } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { REINDEX_USAGE } from '../../src/indexer/cli.ts';
import { BUNDLED_REINDEX } from '../support/bundle.ts';
import { useHistories } from './composed-world.ts';
import { actions, newIndexer, nodeFetch, signal, stored } from './world.ts';

const { world, database, historyOf } = useHistories();

/** Run the command of the bundle. */
function reindex(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((resolve) => {
    const options = { env: { PATH: process.env.PATH ?? '', DATABASE_URL: database().url, ...env } };
    execFile(process.execPath, [BUNDLED_REINDEX, ...argv], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

describe('npm run reindex', () => {
  test('default: a wrong amount deep in the history is said, and gone after the chain was read anew; prices stay', async () => {
    await actions(world()).open();
    const right = await historyOf();
    await world().chain.mine(40);
    await newIndexer(world(), database().db).run(signal);
    const before = await stored(database().db);
    await database()
      .db.updateTable('position_events')
      .set({ collateral: '1' })
      .where('event', '=', 'SupplyCollateral')
      .where('block_number', '=', String(right.history.events[0]?.blockNumber))
      .execute();
    const { history, split } = await historyOf();
    expect(history.incomplete).toMatchObject({ reason: 'IMPLAUSIBLE', message: expect.stringContaining('read anew') });
    expect(split.result).toMatchObject({ reason: 'IMPLAUSIBLE' });

    const head = await world().client.getBlockNumber();
    const requested = await reindex(['--chain', '1']);
    expect(requested).toMatchObject({ code: 0, err: '' });
    expect(requested.out).toMatch(new RegExp(`^Chain 1: the logs of the blocks \\d+ to ${head} will be read anew`));
    const withoutPast = nodeFetch(({ method }) =>
      method === 'eth_call' ? { error: { code: -32000, message: 'missing trie node' } } : undefined,
    );
    await newIndexer(world(), database().db, { fetch: withoutPast })
      .run(signal)
      .catch(() => {});
    await newIndexer(world(), database().db).run(signal);
    expect(await stored(database().db)).toEqual(before);
    expect((await historyOf()).history.incomplete).toBeUndefined();
  });

  test('default: with --prices a wrong price is said, kept by a node alone against another, and replaced when both agree', async () => {
    await actions(world()).open();
    const right = await historyOf();
    const before = await stored(database().db);
    const block = String(right.history.events[0]?.blockNumber);
    const wrong = async () => {
      await database().db.updateTable('market_marks').set({ price: '1' }).where('block_number', '=', block).execute();
    };
    await wrong();
    expect((await historyOf()).history.incomplete).toMatchObject({
      reason: 'IMPLAUSIBLE',
      message: expect.stringContaining(`at block ${block} and the price of the oracle there contradict`),
    });
    const requested = await reindex(['--chain', '1', '--prices']);
    expect(requested).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^Chain 1: \d+ prices at events/) });
    const pruned = nodeFetch(({ method }) =>
      method === 'eth_call' ? { error: { code: -32000, message: 'missing trie node' } } : undefined,
    );
    const honest = nodeFetch(() => undefined);
    const read = (...nodes: readonly (typeof fetch)[]) => newIndexer(world(), database().db, { nodes }).run(signal);
    await read(honest, pruned);
    expect((await stored(database().db)).marks).not.toEqual(before.marks);
    await reindex(['--chain', '1', '--prices']);
    await read(honest, honest);
    expect((await stored(database().db)).marks).toEqual(before.marks);
    expect((await historyOf()).history.incomplete).toBeUndefined();
    // With a single node nothing contradicts it, and one without the state of the block removes no price.
    await wrong();
    await reindex(['--chain', '1', '--prices']);
    await read(honest);
    await reindex(['--chain', '1', '--prices']);
    await read(pruned).catch(() => {});
    expect((await stored(database().db)).marks).toEqual(before.marks);
  });

  test('behavior: a run that goes on meanwhile stores nothing and ends', async () => {
    await actions(world()).open();
    await newIndexer(world(), database().db).run(signal);
    await world().chain.mine(3);
    let isRequested = false;
    const running = newIndexer(world(), database().db, {
      history: (history) => ({
        ...history,
        append: async (...args) => {
          if (!isRequested) await history.requestReindex(1);
          isRequested = true;
          return history.append(...args);
        },
      }),
    });
    expect(await running.run(signal)).toMatchObject({ steps: 0, logs: 0 });
    await newIndexer(world(), database().db).run(signal);
    expect((await historyOf()).history.incomplete).toBeUndefined();
  });

  test('behavior: of a chain that was never read nothing is to be read anew', async () => {
    expect(await reindex(['--chain', '4663'])).toEqual({
      code: 0,
      err: '',
      out: 'Chain 4663: no block has been read yet, so there is nothing to read anew.\n',
    });
  });

  test.each([
    [[], {}, '--chain is missing. Send one of 1, 4663.'],
    [['--chain', '5'], {}, '--chain is "5". Send one of 1, 4663.'],
    [['--block', '5'], {}, "Unknown option '--block'"],
    [['--chain', '1'], { DATABASE_URL: '' }, 'DATABASE_URL'],
    [['--chain', '1'], { DATABASE_URL: 'postgres://x:secret@127.0.0.1:1/x' }, 'no usable answer'],
  ])('error: %j %j', async (argv, env, message) => {
    const { code, out, err } = await reindex(argv, env);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(message);
    expect(err).not.toContain('secret');
  });

  test('behavior: --help has the usage', async () => {
    expect(await reindex(['--help'])).toEqual({ code: 0, out: REINDEX_USAGE, err: '' });
  });
});
