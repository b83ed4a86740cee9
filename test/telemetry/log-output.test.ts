import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createLogOutput } from '../../src/telemetry/log-output.ts';

type Done = (error: NodeJS.ErrnoException | null, bytes: number) => void;

/** An output whose writes end when the test says so. */
function start(maxBytes?: number) {
  const writes: { readonly text: string; readonly done: Done }[] = [];
  const write = (_fd: number, bytes: Buffer, done: Done) => writes.push({ text: bytes.toString(), done });
  return { writes, output: createLogOutput({ fd: 2, write, maxBytes }) };
}

describe(createLogOutput, () => {
  test('default: lines are written in order, also the rest of one that was written in part', () => {
    const { writes, output } = start();
    for (const line of ['one\n', 'two\n', 'three\n']) output.write(line);
    writes[0]?.done(null, 1);
    writes[1]?.done(null, 3);
    expect(writes.map(({ text }) => text)).toEqual(['one\n', 'ne\n', 'two\nthree\n']);
  });

  test('behavior: lines for a full disk are lost, and later ones are written', () => {
    const { writes, output } = start();
    output.write('lost\n');
    writes[0]?.done(Object.assign(new Error('no space left'), { code: 'ENOSPC' }), 0);
    output.write('written\n');
    expect(writes.map(({ text }) => text)).toEqual(['lost\n', 'written\n']);
  });

  test('behavior: a reader that has stopped costs a bounded memory', () => {
    const { writes, output } = start(10);
    for (let i = 0; i < 1_000; i += 1) output.write('four\n');
    writes[0]?.done(null, 5);
    expect(writes.map(({ text }) => text)).toEqual(['four\n', 'four\nfour\n']);
  });

  test.skipIf(!existsSync('/dev/full'))('behavior: a process whose log is on a full disk runs, and ends', async () => {
    const full = openSync('/dev/full', 'w');
    // It logs its start, then the setting that is missing.
    const env = { PATH: process.env.PATH, NODE_ENV: 'production' };
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
      env,
      stdio: ['ignore', 'ignore', full],
    });
    closeSync(full);
    expect(await once(child, 'exit')).toEqual([1, null]);
  });
});
