import { builder } from '../../../schema/builder.ts';
import { gapsOf } from '../../../schema/common/gaps.ts';
import { MIN_WINDOWS, RECORD_DAYS, WINDOW_DAYS } from '../domain/record.ts';
import type { RecordedMove } from '../domain/survival.ts';

const decimal = (description: string) => ({ type: 'Decimal' as const, nullable: true as const, description });
const time = (description: string, read: (move: RecordedMove) => number | null) => ({
  type: 'DateTime' as const,
  nullable: true as const,
  description,
  resolve: read,
});

/** The worst of the record within one window. */
export const RecordedMoveRef = builder.objectRef<RecordedMove>('RecordedMove').implement({
  description: `The worst recorded moves of a market within a window of some days, in the last ${RECORD_DAYS} days of our own hourly samples of oracle price and borrow rate, and whether the position would survive them from today on. Later moves may be larger. Unknown below ${MIN_WINDOWS} whole windows; \`gaps\` explain each \`null\`.`,
  fields: (t) => ({
    windowDays: t.expose('windowDays', {
      type: 'Int',
      description: `Length of the window, ${WINDOW_DAYS.join(', ')} days.`,
      extensions: { jsonSchema: { minimum: 1 } },
    }),
    survived: t.exposeBoolean('survived', {
      nullable: true,
      description:
        'Whether the position could not be liquidated after a rise of its LTV by `worstLtvRisePct`; of several positions all of them, each by its own market. `null` = not known.',
    }),
    ltvPct: t.expose('ltvPct', decimal('LTV after that rise, percent with 2 places; of one position only.')),
    worstFallPct: t.expose(
      'worstFallPct',
      decimal("Largest fall of the oracle's price, percent with 4 places; of several positions the largest of them."),
    ),
    worstInterestPct: t.expose(
      'worstInterestPct',
      decimal('Largest interest of a debt, percent of the debt with 4 places: the cost side of the carry.'),
    ),
    worstLtvRisePct: t.expose(
      'worstLtvRisePct',
      decimal(
        "Largest rise of the LTV by price and interest together, percent of the LTV with 4 places. The oracle's price contains the yield of the collateral.",
      ),
    ),
    maxLeverage: t.expose(
      'maxLeverage',
      decimal(
        'The highest leverage that survives that rise, a multiple of the equity, 2 places, rounded down; may be above the limit of the contracts. Of one position only.',
      ),
    ),
    worstFromAt: t.field(
      time('Sample at which the largest rise of the LTV began; of one position only.', (move) => move.worstFromMs),
    ),
    worstToAt: t.field(time('Sample at which it ended; of one position only.', (move) => move.worstToMs)),
    windowCount: t.exposeInt('windows', {
      description:
        'Number of whole windows in the record: one begins with each sample, they overlap, and at least 90 % of their hours were sampled. Of several positions the least.',
    }),
    sampleCount: t.exposeInt('samples', {
      description: 'Number of hourly samples; of several positions the least.',
    }),
    missingHours: t.exposeInt('missingHours', {
      description: 'Number of hours between the first and the last sample without one; of several positions the most.',
    }),
    doubtedSamples: t.exposeInt('doubtedSamples', {
      description:
        'Number of samples that were left out as implausible, such as a price far from those before and after it; of several positions the most. Values that would be worse if they are right are missing, see `gaps`.',
    }),
    recordedFromAt: t.field(
      time('Time of the first sample; of several positions the latest of them.', (move) => move.recordedFromMs),
    ),
    recordedToAt: t.field(
      time('Time of the last sample; of several positions the earliest of them.', (move) => move.recordedToMs),
    ),
    gaps: t.field(gapsOf<RecordedMove>(({ gaps }) => gaps)),
  }),
});
