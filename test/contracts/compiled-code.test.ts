import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { committedFiles, compileContracts } from '../../devnet/chain/compile.ts';
import { COMPILED, renderCode } from '../../scripts/compiled-code.ts';

test('default: the committed code of the local world equals the compiler output', async () => {
  for (const { file, text } of await committedFiles()) expect(readFileSync(file, 'utf8') === text, file).toBe(true);
});

test('default: the committed modules equal the compiler output', async () => {
  const artifacts = await compileContracts();
  for (const code of COMPILED) expect(readFileSync(code.file, 'utf8')).toBe(renderCode(code, artifacts));
});
