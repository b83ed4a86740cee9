import type { Decimal } from '../../shared/decimal.ts';
import { builder } from '../builder.ts';

export interface DatedRate {
  readonly atMs: number;
  readonly ratePct: Decimal;
}

export const RatePointRef = builder.objectRef<DatedRate>('RatePoint').implement({
  description: 'One point of a rate history.',
  fields: (t) => ({
    at: t.field({
      type: 'DateTime',
      description: 'Time of the point; of a bucket its start.',
      resolve: ({ atMs }) => atMs,
    }),
    atMs: t.expose('atMs', { type: 'SafeInt', description: 'The same in unix milliseconds.' }),
    atSec: t.field({
      type: 'SafeInt',
      description: 'The same in unix seconds.',
      resolve: ({ atMs }) => Math.floor(atMs / 1000),
    }),
    ratePct: t.expose('ratePct', { type: 'Decimal', description: 'Percent per year at full precision.' }),
    fraction: t.field({
      type: 'Decimal',
      description: 'The same as a fraction per year: percent / 100.',
      resolve: ({ ratePct }) => ratePct.shiftedBy(-2),
    }),
  }),
});
