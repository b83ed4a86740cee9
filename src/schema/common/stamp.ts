import type { HealthStatus } from '../../domain/freshness/health.ts';
import type { Gap, Stamp } from '../../domain/freshness/types.ts';
import type { ReadAt } from '../../domain/position/types.ts';
import { ageOf, isStaleIn, secondOf, staleForSecIn } from '../../resolvers/common/age.ts';
import type { AppContext } from '../../resolvers/common/context.ts';
import { builder } from '../builder.ts';

const STATUS_DESCRIPTIONS: Record<HealthStatus, string> = {
  fresh: 'The age is inside the budget.',
  failing: 'The age is inside the budget, and the latest attempt to measure again failed.',
  stale: 'The age is past the budget.',
  never: 'Nothing was measured yet.',
};

const FreshnessStatusRef = builder.enumType('FreshnessStatus', {
  description: 'Whether a value is inside its freshness budget.',
  values: {
    FRESH: { value: 'fresh', description: STATUS_DESCRIPTIONS.fresh },
    FAILING: { value: 'failing', description: STATUS_DESCRIPTIONS.failing },
    STALE: { value: 'stale', description: STATUS_DESCRIPTIONS.stale },
    NEVER: { value: 'never', description: STATUS_DESCRIPTIONS.never },
  } as const,
});

/** A stamp as the schema shows it. */
export interface StampView {
  /** `null`, or the beginning of time = never measured. */
  readonly asOfMs: number | null;
  readonly staleAfterSec: number;
  /** The status, if it does not follow from the age alone; absent: the age decides. */
  readonly status?: HealthStatus | undefined;
}

export const FreshnessRef = builder.objectRef<StampView>('Freshness').implement({
  description:
    'Age of a value, and the budget within which it counts as fresh. A failing source never changes `asOf`: the age grows.',
  fields: (t) => ({
    status: t.field({
      type: FreshnessStatusRef,
      description: 'Whether the value is inside its freshness budget.',
      resolve: (stamp, _args, ctx) => statusIn(stamp, ctx),
    }),
    asOf: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Time of the measurement: of on-chain values the time of the block, of several values the time of the oldest. `null` = never measured.',
      resolve: (stamp) => (isMeasured(stamp) ? stamp.asOfMs : null),
    }),
    staleAfterSec: t.exposeInt('staleAfterSec', {
      description: 'Freshness budget in seconds.',
      extensions: { jsonSchema: { minimum: 1 } },
    }),
    ageSec: t.int({
      nullable: true,
      description: 'Whole seconds since `asOf`; `null` = never measured, with the status `NEVER`.',
      resolve: (stamp, _args, ctx) => (isMeasured(stamp) ? ageOf(stamp, secondOf(ctx)).ageSec : null),
    }),
    staleForSec: t.int({
      nullable: true,
      description:
        'Whole seconds past the budget; `null` = the age is inside it. Of what was never measured counted from 1970, so that it is past every limit.',
      resolve: ({ asOfMs, staleAfterSec }, _args, ctx) => staleForSecIn({ asOfMs: asOfMs ?? 0, staleAfterSec }, ctx),
    }),
  }),
});

function isMeasured(stamp: StampView): stamp is StampView & Stamp {
  return stamp.asOfMs !== null && stamp.asOfMs > 0;
}

function statusIn(stamp: StampView, ctx: AppContext): HealthStatus {
  if (stamp.status !== undefined) return stamp.status;
  if (!isMeasured(stamp)) return 'never';
  return isStaleIn(stamp, ctx) ? 'stale' : 'fresh';
}

export const ReadAtRef = builder.objectRef<ReadAt>('ReadAt').implement({
  description: 'The block at which something was read from the chain.',
  fields: (t) => ({
    blockNumber: t.expose('blockNumber', { type: 'BigInteger', description: 'Number of the block.' }),
    blockAt: t.field({
      type: 'DateTime',
      description: 'Time of the block.',
      resolve: ({ blockTimeMs }) => blockTimeMs,
    }),
  }),
});

export const ORACLE_PRICE_AS_OF = "Last update of the feeds behind the oracle's price, of the oldest of them";

export const GapReasonRef = builder.enumType('GapReason', {
  description:
    'What the `null` of a field means. `NOT_APPLICABLE` and `NONE` are known facts; all others mean: unknown, not zero.',
  values: {
    NOT_APPLICABLE: {
      description: 'The field has no meaning for this object, e.g. the maturity of a token without one.',
    },
    NONE: { description: 'Measured: there is none, e.g. no running incentive.' },
    NOT_MEASURED: { description: 'Nothing measures the field yet, or its source is not configured.' },
    SOURCE_FAILED: { description: 'The request to the source of the field failed, and there is no last good value.' },
    IMPLAUSIBLE: { description: 'A value was received and not believed.' },
    TOO_SHORT: { description: 'The history is shorter than the window.' },
  } as const,
});

export const GapRef = builder.objectRef<Gap>('Gap').implement({
  description: 'One field that is `null`, or that carries the conservative value that its description names, and why.',
  fields: (t) => ({
    field: t.exposeString('field', {
      description: 'Dotted path of the field inside the object, e.g. `fees.yieldFeePct`.',
    }),
    reason: t.expose('reason', { type: GapReasonRef, description: 'The kind of absence.' }),
    message: t.exposeString('message', { description: 'One plain sentence for people.' }),
    since: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the failing began or the absence was established; `null` = no attempt was made.',
      resolve: (gap) => gap.sinceMs ?? null,
    }),
  }),
});
