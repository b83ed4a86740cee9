import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startAnvil } from '../../devnet/chain/anvil.ts';
import { projectRoot } from '../../devnet/root.ts';

const options = { chainId: 4663, timestamp: 1_800_000_000, history: 16 };

async function chainIdAt(rpcUrl: string): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return ((await answer.json()) as { result: unknown }).result;
}

describe('startAnvil', () => {
  it('default: answers on a free port until it is stopped', async () => {
    const [one, two] = await Promise.all([startAnvil(options), startAnvil({ ...options, chainId: 1 })]);
    expect(one.rpcUrl).not.toBe(two.rpcUrl);
    expect(await chainIdAt(one.rpcUrl)).toBe('0x1237');
    expect(await chainIdAt(two.rpcUrl)).toBe('0x1');
    await Promise.all([one.stop(), two.stop()]);
    await expect(chainIdAt(one.rpcUrl)).rejects.toThrow();
    await one.stop(); // once more does no harm
  });

  it('behavior: ends with its parent process, even when that is killed', async () => {
    const root = projectRoot();
    const script = `
      const { startAnvil } = await import(${JSON.stringify(join(root, 'devnet/chain/anvil.ts'))});
      console.log((await startAnvil(${JSON.stringify(options)})).rpcUrl);
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { cwd: root });
    const [output] = (await once(parent.stdout, 'data')) as [Buffer];
    const rpcUrl = output.toString().trim();
    expect(await chainIdAt(rpcUrl)).toBe('0x1237');
    parent.kill('SIGKILL');
    await vi.waitFor(() => expect(chainIdAt(rpcUrl)).rejects.toThrow(), { timeout: 20_000 });
  });

  it('error: names a taken port', async () => {
    const first = await startAnvil(options);
    const port = Number(new URL(first.rpcUrl).port);
    await expect(startAnvil({ ...options, port })).rejects.toThrow(String(port));
    await first.stop();
  });

  it('error: names a missing binary', async () => {
    await expect(startAnvil({ ...options, anvilBin: '/nowhere/anvil' })).rejects.toThrow('/nowhere/anvil');
  });
});
