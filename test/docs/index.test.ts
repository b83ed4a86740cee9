import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guideFiles } from './blocks.ts';

/** Folders that hold no sources: what is made, installed or told. */
const NOT_SOURCES = ['node_modules', 'dist', 'coverage', 'docs', 'src'];

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

  it('default: the table of folders names every folder, and nothing that does not exist', () => {
    const rows = readFileSync('docs/contributing.md', 'utf8').matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm);
    const named = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    const places = named.filter((name) => !name.startsWith('npm '));
    expect(places.filter((name) => !existsSync(name))).toEqual([]);
    const isFolder = (path: string) => statSync(path).isDirectory();
    const folders = [
      ...readdirSync('src').map((name) => `src/${name}`),
      ...readdirSync('.').filter((name) => !name.startsWith('.') && !NOT_SOURCES.includes(name)),
    ].filter(isFolder);
    expect(folders.filter((folder) => !places.includes(folder))).toEqual([]);
  });

  it('default: every decision is listed', () => {
    const index = readFileSync('docs/decisions/README.md', 'utf8');
    const files = readdirSync('docs/decisions').filter((name) => name !== 'README.md');
    expect(files.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  });
});
