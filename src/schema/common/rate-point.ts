import type { Decimal } from '../../shared/decimal.ts';
import { builder } from '../builder.ts';

interface DatedRate {
  readonly atMs: number;
  readonly ratePct: Decimal;
}

export const RatePointRef = builder.objectRef<DatedRate>('RatePoint').implement({
  description: 'One point of a rate history.',
  fields: (t) => ({
    at: t.field({
      type: 'DateTime',
      description: 'Time of the point; the start of a bucket.',
      resolve: ({ atMs }) => atMs,
    }),
    ratePct: t.expose('ratePct', { type: 'Decimal', description: 'Percent per year at full precision. Signed.' }),
  }),
});
