import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { differences, examplesOf, guideFiles } from './blocks.ts';

const guides = guideFiles()
  .map((file) => [file, examplesOf(file)] as const)
  .filter(([, examples]) => examples.length > 0);

/** The requests of these guides change the alerts of a key, or the world. */
const CHANGING: readonly string[] = ['docs/alerts.md', 'docs/local-world.md'];
/** Each of them has a separate world; those that only read share one. */
const worlds = [
  guides.filter(([file]) => !CHANGING.includes(file)),
  ...guides.filter(([file]) => CHANGING.includes(file)).map((guide) => [guide]),
];
const named = worlds.map(
  (of) =>
    [
      of.map(([file]) => file).join(', '),
      of.flatMap(([file, examples]) => examples.map((example) => [file, example] as const)),
    ] as const,
);

/** Requests of one guide build on each other: they run in order. */
describe.each(named)('%s', (_files, examples) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it.each(
    examples.map(
      ([file, example]) =>
        [`${file}, line ${example.line}: ${example.method} ${example.path.slice(0, 80)}`, example] as const,
    ),
  )('default: %s answers as printed', async (_name, { method, at, path, headers, body, answer }) => {
    const origin = at === 'service' ? service.url : service.world.control.url;
    const response = await fetch(`${origin}${path}`, { method, headers, body: body ?? null });
    const text = await response.text();
    const expectsError = answer !== null && typeof answer === 'object' && 'error' in answer;
    if (!expectsError) expect(response.status, text.slice(0, 500)).toBeLessThan(300);
    if (answer !== undefined) expect(differences(answer, JSON.parse(text))).toEqual([]);
  });
});

describe(differences, () => {
  it('default: the README shows requests with answers', () => {
    expect(examplesOf('README.md').filter(({ answer }) => answer !== undefined).length).toBeGreaterThanOrEqual(3);
  });

  it('behavior: detects a wrong answer', () => {
    expect(differences({ a: '1.5', b: ['x', '…'] }, { a: '2.25', b: ['x', 'y'] })).toEqual([]);
    expect(differences({ a: 'x' }, { a: 'y' })).toHaveLength(1);
    expect(differences({ a: '1.5' }, { a: null })).toHaveLength(1);
    expect(differences({ a: '1.5' }, { a: '1.5', b: 1 })).toHaveLength(1);
    expect(differences({ a: '1.5', '…': '' }, { a: '1.5', b: 1 })).toEqual([]);
    expect(differences(['x'], ['x', 'y'])).toHaveLength(1);
  });
});
