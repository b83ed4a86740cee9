import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERROR_MEANINGS } from '../../src/rest/openapi/errors.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/shared/errors.ts';
import { errorClasses } from '../support/error-classes.ts';

const root = new URL('../..', import.meta.url).pathname;
const playbook = readFileSync(join(root, 'docs/errors.md'), 'utf8');
const codes = Object.keys(ERROR_CODES) as ErrorCode[];

function section(code: string): string {
  return playbook.split(`\n## \`${code}\`\n`)[1]?.split('\n## ')[0] ?? '';
}

describe('docs/errors.md', () => {
  test('default: one section per code, and no others', () => {
    expect([...playbook.matchAll(/^## `(\w+)`$/gm)].map(([, code]) => code)).toEqual(codes);
  });

  test('default: the table equals ERROR_CODES', () => {
    const rows = [...playbook.matchAll(/^\| `(\w+)` \| (\d+) \| (yes|no) \|$/gm)];
    expect(rows.map(([, code, status, retry]) => [code, Number(status), retry === 'yes'])).toEqual(
      codes.map((code) => [code, ERROR_CODES[code].status, ERROR_CODES[code].retryable]),
    );
  });

  test.each(codes)('default: %s has cause, retry, next step, details and classes', (code) => {
    for (const heading of ['Cause', 'Retry', 'Remedy', 'Details', 'Classes']) {
      expect(section(code)).toContain(`- **${heading}:** `);
    }
  });

  test('behavior: every error class is named under its code, and every named class exists', () => {
    const documented = codes.flatMap((code) =>
      [...(/\*\*Classes:\*\* (.*)/.exec(section(code))?.[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => [
        name,
        code,
      ]),
    );
    expect(new Map(documented as [string, string][])).toEqual(errorClasses());
  });

  test('behavior: every code has a class that throws it, except that of unexpected errors', () => {
    expect(new Set([...errorClasses().values(), 'internal'])).toEqual(new Set(codes));
  });

  test('behavior: only the REST adapter builds an error without a class, because a class declares the details', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const direct = sources.filter((name) => readFileSync(join(root, 'src', name), 'utf8').includes('new AppError('));
    expect(direct).toEqual(['rest/refusal.ts']);
  });
});

describe('ERROR_MEANINGS', () => {
  test('default: one per code', () => {
    expect(Object.keys(ERROR_MEANINGS)).toEqual(codes);
  });
});
