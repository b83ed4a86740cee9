import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { tellProgress } from '../../devnet/progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('default: says once a second which parts of the start have not ended', async () => {
  const lines: string[] = [];
  const during = tellProgress((line) => lines.push(line));
  const after = (ms: number) => new Promise<number>((resolve) => setTimeout(() => resolve(ms), ms));
  const works = [during('Postgres', after(1_500)), during('chain 1', after(2_500))];
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await Promise.all(works)).toEqual([1_500, 2_500]);
  expect(lines).toEqual(['1 s: waiting for Postgres, chain 1.', '2 s: waiting for chain 1.']);
});

test('error: work that fails is no longer waited for', async () => {
  const lines: string[] = [];
  const failing = tellProgress((line) => lines.push(line))('chain 1', Promise.reject(new Error('no anvil')));
  await expect(failing).rejects.toThrow('no anvil');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(lines).toEqual([]);
});
