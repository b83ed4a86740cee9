import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileContracts } from '../../devnet/chain/compile.ts';
import { COMPILED, renderCode } from '../../scripts/compiled-code.ts';

test('default: the committed modules equal the compiler output', async () => {
  const artifacts = await compileContracts();
  for (const code of COMPILED) expect(readFileSync(code.file, 'utf8')).toBe(renderCode(code, artifacts));
});
