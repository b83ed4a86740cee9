import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('behavior: each override of npm has its reason beside it', () => {
  const { overrides, '//overrides': reasons } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(Object.keys(reasons)).toEqual(Object.keys(overrides));
});
