import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accounts } from '../../devnet/seed/accounts.ts';
import { noSleep, PARTNER, startService, type TestService } from '../support/service.ts';

/** Beside the packages, so that it finds those that it imports. */
const FOLDER = join('node_modules/.cache/spiral-gateway', `snippets-${process.pid}`);

let service: TestService;
beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true });
  service = await startService({ sleep: noSleep });
}, 120_000);
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
