import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { inspectEnv, parseEnv } from '../../src/config/config.ts';
import { envSchema } from '../../src/config/env.ts';
import { SECRET_FILE_NAMES } from '../../src/config/secret-files.ts';
import { unknownSettings } from '../../src/config/unknown.ts';

const folder = mkdtempSync(join(tmpdir(), 'spiral-gateway-secrets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const fileWith = (text: string): string => {
  const path = join(folder, String(Math.random()));
  writeFileSync(path, text);
  return path;
};

test('default: a secret is read from the file that its name with _FILE has, without the final line break', () => {
  const env = parseEnv({
    KEY_PEPPER_FILE: fileWith('a pepper of sixteen \n'),
    DATABASE_URL_FILE: fileWith('postgres://spiral:secret@db/spiral'),
    RPC_URL_1_FILE: fileWith('https://one.example,https://two.example\r\n'),
    COINGECKO_API_KEY_FILE: fileWith('key'),
  });
  expect([env.KEY_PEPPER, env.DATABASE_URL, env.RPC_URL_1, env.COINGECKO_API_KEY]).toEqual([
    'a pepper of sixteen ',
    'postgres://spiral:secret@db/spiral',
    ['https://one.example', 'https://two.example'],
    'key',
  ]);
});

test('error: a file that is missing, empty or beside its setting is named, and no secret is printed', () => {
  const wrongOf = (raw: Record<string, string>) => [...inspectEnv(raw).wrong.values()];
  expect(wrongOf({ KEY_PEPPER_FILE: '/missing' })).toEqual([
    'KEY_PEPPER_FILE: "/missing" cannot be read. Correct the path or the rights of the file.',
  ]);
  expect(wrongOf({ KEY_PEPPER_FILE: fileWith('\n') })).toEqual([expect.stringContaining('is empty')]);
  expect(wrongOf({ KEY_PEPPER_FILE: fileWith('x'), KEY_PEPPER: 'a pepper of sixteen' })).toEqual([
    'KEY_PEPPER_FILE: KEY_PEPPER is set as well. Leave one of them out.',
  ]);
  expect(wrongOf({ DATABASE_URL_FILE: fileWith('hunter2') }).join()).not.toContain('hunter2');
});

test('behavior: every setting with a secret has a file, which is known and is no setting of its own', () => {
  const names = [
    'KEY_PEPPER',
    'DATABASE_URL',
    'DATABASE_READ_URL',
    'REDIS_URL',
    'RPC_URL_1',
    'RPC_URL_4663',
    'ROYCO_API_KEY',
  ];
  for (const name of names) expect(SECRET_FILE_NAMES).toContain(`${name}_FILE`);
  expect(SECRET_FILE_NAMES.filter((name) => name in envSchema.shape)).toEqual([]);
  expect(unknownSettings(Object.fromEntries(SECRET_FILE_NAMES.map((name) => [name, '/run/secrets/x'])))).toEqual([]);
});
