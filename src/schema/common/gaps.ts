import { z } from 'zod';
import type { Gap, GapReason } from '../../domain/freshness/types.ts';
import type { AppContext } from '../../resolvers/common/context.ts';
import { builder } from '../builder.ts';
import { GapReasonRef, GapRef } from './stamp.ts';

const MAX_FIELDS = 100;

const GAP_ARGS = builder.args((t) => ({
  fields: t.stringList({
    description: 'Only of these fields and of the fields below them, by dotted path; of all when left out.',
    validate: z.array(z.unknown()).max(MAX_FIELDS, `lists more than ${MAX_FIELDS} fields`).nullish(),
  }),
  reasons: t.field({ type: [GapReasonRef], description: 'Only with one of these reasons; with any when left out.' }),
}));

interface GapArgs {
  readonly fields?: readonly string[] | null | undefined;
  readonly reasons?: readonly GapReason[] | null | undefined;
}

/** Pick the requested gaps. */
export function selectGaps(gaps: readonly Gap[], { fields, reasons }: GapArgs): Gap[] {
  return gaps.filter(
    ({ field, reason }) =>
      (fields == null || fields.some((wanted) => field === wanted || field.startsWith(`${wanted}.`))) &&
      (reasons == null || reasons.includes(reason)),
  );
}

/**
 * The one way in which objects report absence: `gaps: t.field(gapsOf((strategy) => strategy.gaps))`.
 * @param of which fields may have gaps, in words, where it is not every one that may be `null`
 */
export function gapsOf<T>(
  read: (object: T, ctx: AppContext) => readonly Gap[] | Promise<readonly Gap[]>,
  of = 'Fields of the object that are `null`, or that carry the conservative value that their description names',
) {
  return {
    type: [GapRef] as [typeof GapRef],
    args: GAP_ARGS,
    complexity: { field: 1, multiplier: 2 },
    description: `${of}, and why; at most one entry per field.`,
    resolve: (object: T, args: GapArgs, ctx: AppContext): Gap[] | Promise<Gap[]> => {
      const gaps = read(object, ctx);
      return gaps instanceof Promise ? gaps.then((found) => selectGaps(found, args)) : selectGaps(gaps, args);
    },
  };
}
