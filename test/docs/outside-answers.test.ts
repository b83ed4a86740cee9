import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FAILURE_REASONS } from '../../src/domain/facts.ts';
import { meaningOf } from '../../src/domain/outside-answer.ts';

test('default: the table of meanings has every reason, with its meaning', () => {
  const guide = readFileSync('docs/upstreams.md', 'utf8');
  const rows = guide.matchAll(/^\| `(no_such_thing|not_now|our_mistake|unreadable)` \| (.*?) \|/gm);
  const documented = [...rows].flatMap(([, meaning, reasons = '']) =>
    [...reasons.matchAll(/`(\w+)`/g)].map(([, reason]) => [reason, meaning]),
  );
  const actual = FAILURE_REASONS.map((reason) => [reason, meaningOf(reason)]);
  expect(documented.toSorted()).toEqual(actual.toSorted());
});
