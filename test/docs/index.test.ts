import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guideFiles } from './blocks.ts';

describe('guides', () => {
  it('default: every relative link leads to a file', () => {
    const broken = guideFiles().flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
        .map((match) => match[1] ?? '')
        .filter((target) => !existsSync(join(dirname(file), target)))
        .map((target) => `${file} links to ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('default: every decision is listed', () => {
    const index = readFileSync('docs/decisions/README.md', 'utf8');
    const files = readdirSync('docs/decisions').filter((name) => name !== 'README.md');
    expect(files.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  });
});
