import { randomUUID } from 'node:crypto';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { cached } from '../../devnet/cache.ts';
import { cacheFolder } from '../../devnet/root.ts';

const folder = `test-${randomUUID()}`;
const name = () => join(folder, randomUUID());
afterAll(() => rm(join(cacheFolder(), folder), { recursive: true, force: true }));

describe('cached', () => {
  it('default: computes a text once', async () => {
    const entry = name();
    const make = vi.fn(async () => 'text');
    expect(await cached(entry, make)).toBe('text');
    expect(await cached(entry, make)).toBe('text');
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('behavior: concurrent callers wait for one computation', async () => {
    const entry = name();
    const make = vi.fn(async () => 'text');
    const answers = await Promise.all([cached(entry, make), cached(entry, make), cached(entry, make)]);
    expect(answers).toEqual(['text', 'text', 'text']);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('behavior: does not cache a failure', async () => {
    const entry = name();
    await expect(cached(entry, () => Promise.reject(new Error('no compiler')))).rejects.toThrow('no compiler');
    expect(await cached(entry, async () => 'text')).toBe('text');
  });

  it('behavior: replaces a dead owner of the lock', async () => {
    const entry = name();
    await mkdir(join(cacheFolder(), folder), { recursive: true });
    const beyondAnyPid = 2 ** 30;
    await writeFile(join(cacheFolder(), `${entry}.lock`), String(beyondAnyPid));
    expect(await cached(entry, async () => 'text')).toBe('text');
  });

  it('behavior: replaces a lock that is hours old, even with a live pid', async () => {
    const entry = name();
    await mkdir(join(cacheFolder(), folder), { recursive: true });
    await writeFile(join(cacheFolder(), `${entry}.lock`), String(process.pid));
    await utimes(join(cacheFolder(), `${entry}.lock`), 1_700_000_000, 1_700_000_000);
    expect(await cached(entry, async () => 'text')).toBe('text');
  });

  it('behavior: makes the text anew where its folder cannot be made', async () => {
    const file = name();
    await cached(file, async () => 'a file');
    const make = vi.fn(async () => 'text');
    for (let i = 0; i < 2; i++) expect(await cached(join(file, 'below'), make)).toBe('text');
    expect(make).toHaveBeenCalledTimes(2);
  });
});
