import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const MOST_BYTES = 200_000;

test('default: the screenshot of the README is small, wide enough, and told to those who do not see it', async () => {
  const readme = await readFile('README.md', 'utf8');
  const [, alt = ''] = /!\[([^\]]+)\]\(docs\/images\/app\.png\)/.exec(readme) ?? [];
  expect(alt.split(' ').length).toBeGreaterThan(10);
  const picture = await readFile('docs/images/app.png');
  expect(picture.length).toBeLessThan(MOST_BYTES);
  // The width in the header of a PNG.
  expect([picture.toString('latin1', 1, 4), picture.readUInt32BE(16)]).toEqual(['PNG', 1280]);
});
