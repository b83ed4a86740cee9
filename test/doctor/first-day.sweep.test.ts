import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { complaints, type DoctorWorld, startDoctorWorld } from './world.ts';

let doctor: DoctorWorld;
beforeAll(async () => {
  doctor = await startDoctorWorld({ isLimited: true });
});
afterAll(() => doctor?.stop());

const providers = async (settings: Record<string, string | undefined> = {}) =>
  doctor.examine(settings, { only: ['providers'] });

it('default: prints the lines of the docs at the limits of the real providers', async () => {
  const [, section = ''] = readFileSync('docs/upstreams.md', 'utf8').split('### The first day with real keys');
  const [, block = ''] = section.split('```');
  const report = await providers();
  const printed = report.lines.map(({ subject, found }) => `${subject}: ${found}`);
  const shown = block.trim().split('\n');
  expect(shown.length).toBeGreaterThan(4);
  for (const line of shown) expect(printed).toContain(line);
  expect(complaints(report)).toEqual([]);
});

it.each([
  ['a key of a smaller tier', { UPSTREAM_LIMITS: 'KYBERSWAP=90/10s' }, 'warning providers KYBERSWAP_URL [tier]'],
  [
    'refreshes that are more than the month',
    { UPSTREAM_LIMITS: 'PENDLE=100/minute,100/week' },
    'warning providers PENDLE_URL [forecast]',
  ],
])('behavior: warns of %s', async (_name, settings, warning) => {
  expect(complaints(await providers(settings))).toContain(warning);
});

it.each([
  [
    'KYBERSWAP=20/10s',
    'its headers permit 30 requests per 10 s with this client id; UPSTREAM_LIMITS keeps it to 20 requests per 10 s',
  ],
  ['KYBERSWAP=30/10s', 'its headers permit 30 requests per 10 s with this client id, as set in UPSTREAM_LIMITS'],
  ['PENDLE=100/minute', 'its headers permit 30 requests per 10 s with this client id: the public tier'],
])('behavior: says that the setting %s is in force', async (UPSTREAM_LIMITS, found) => {
  const { lines } = await providers({ UPSTREAM_LIMITS });
  expect(lines.filter(({ subject }) => subject === 'KYBERSWAP_URL').map((line) => line.found)).toContain(found);
});
