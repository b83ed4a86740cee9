import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { accounts } from '../../devnet/seed/accounts.ts';
import { noSleep, PARTNER, startService, type TestService } from '../support/service.ts';

/** Beside the packages, so that it finds those that it imports. */
const FOLDER = join('node_modules/.cache/spiral-gateway', `snippets-${process.pid}`);

let service: TestService;
beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true });
  service = await startService({ sleep: noSleep });
});
afterAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  await service?.stop();
});

/** The JavaScript blocks of a guide, at the addresses of this world. */
function snippetsOf(guide: string): string[] {
  return [...readFileSync(guide, 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = '']) =>
    code
      .replaceAll('http://127.0.0.1:8787', service.url)
      .replaceAll('http://127.0.0.1:8545', service.world.chains.on(1).rpcUrl),
  );
}

describe('docs/partners.md', () => {
  test('default: the example for signing and sending opens the position', async () => {
    const snippets = snippetsOf('docs/partners.md');
    expect(snippets).toHaveLength(1);
    for (const [i, code] of snippets.entries()) {
      const file = join(FOLDER, `${i}.mjs`);
      writeFileSync(file, code);
      await import(/* @vite-ignore */ pathToFileURL(file).href);
    }
    const { body } = await service.get(`/v1/partner/positions/${accounts[9]?.address}`, PARTNER);
    expect(body.positions).toMatchObject([{ id: 0, status: 'open', currentLeverage: '5.0' }]);
  });
});

describe('docs/verify.md', () => {
  test('default: the example proves a plan of the service and prints its sentences', async () => {
    const [code = '', ...others] = snippetsOf('docs/verify.md');
    expect(others).toEqual([]);
    const bundled = join(FOLDER, 'verify-client.mjs');
    await build({
      entryPoints: ['packages/client/src/verify/index.ts'],
      outfile: bundled,
      bundle: true,
      format: 'esm',
      external: ['viem'],
    });
    const file = join(FOLDER, 'verify.mjs');
    writeFileSync(file, code.replaceAll('@spiral-gateway/client/verify', pathToFileURL(bundled).href));
    const printed = vi.spyOn(console, 'log').mockReturnValue(undefined);
    try {
      await import(/* @vite-ignore */ pathToFileURL(file).href);
      const lines = printed.mock.calls.map(([line]) => String(line));
      expect(lines[0]).toMatch(
        /^Opens a position of 0x\w+ with 1000 sUSDe: it borrows [\d.]+ PYUSD and holds at least/,
      );
      expect(lines).toContain('It spends at most 1000 sUSDe.');
    } finally {
      printed.mockRestore();
    }
  });
});
