import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseEnv } from '../../src/config/config.ts';
import {
  ADMISSION_POINTS,
  BYTES_PER_POINT,
  COMPUTED_POINTS,
  COST_PER_POINT,
  ON_DEMAND_POINTS,
  SURFACE_POINTS,
} from '../../src/limits/points.ts';
import { createLimits, TIERS, type TierLimits } from '../../src/limits/tier-limits.ts';
import { MAX_BODY_BYTES } from '../../src/rest/input.ts';

const number = new Intl.NumberFormat('en-US');

test('the table of limits has those of the code', async () => {
  const guide = await readFile('docs/partners.md', 'utf8');
  const [, chapter = ''] = /\n## Limits\n([\s\S]*?)\n## /.exec(guide) ?? [];
  const env = parseEnv({});
  const limits = createLimits({
    anonymous: env.RATE_LIMIT_ANONYMOUS,
    partner: env.RATE_LIMIT_PARTNER,
    ops: env.RATE_LIMIT_OPS,
  });
  const line = (title: string, of: (tier: TierLimits) => number) =>
    `| ${[title, ...TIERS.map((tier) => number.format(of(limits[tier])))].join(' | ')} |`;
  for (const text of [
    line('Points a minute, by default', ({ points }) => points),
    line('Charts and candles a minute, each', ({ calls }) => calls['Query.priceChart'] ?? 0),
    line('Charts and candles a minute, each', ({ calls }) => calls['Query.candles'] ?? 0),
    line('Open subscriptions', ({ streams }) => streams),
    line('Operations in a GraphQL request', ({ batch }) => batch),
    line('Cost of a GraphQL operation', ({ cost }) => cost),
    line('Body of a GraphQL request, KiB', ({ bodyBytes }) => bodyBytes / 1_024),
    `| A public read of \`/v1\` | ${SURFACE_POINTS.Public} |`,
    `| A chart or candles | ${ON_DEMAND_POINTS.priceChart} |`,
    `| A chart or candles | ${ON_DEMAND_POINTS.candles} |`,
    `| The best strategies for a payment | ${COMPUTED_POINTS.bestStrategies} |`,
    `| A partner or ops request | ${SURFACE_POINTS.Partner} |`,
    `| A partner or ops request | ${SURFACE_POINTS.Ops} |`,
    `| A request that is refused for its input | ${ADMISSION_POINTS} |`,
    `| A GraphQL operation | 1 for each ${COST_PER_POINT} of its`,
    `| A page or a file | 1, and 1 for each further ${BYTES_PER_POINT === 2 ** 20 ? 'MiB' : BYTES_PER_POINT} |`,
    `| \`/health\`, \`/ready\` | ${SURFACE_POINTS.Status} |`,
    `A body of \`/v1\` has at most ${MAX_BODY_BYTES / 1_024} KiB.`,
  ])
    expect(chapter).toContain(text);
});
