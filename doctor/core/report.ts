import { z } from 'zod';
import { type Redact, safeText } from './safe-text.ts';
import { AREAS, type Line, STATUSES } from './types.ts';

/** The format of `--json`. Fields keep name and meaning; new fields and lines may be added. */
export const reportSchema = z.strictObject({
  version: z.literal(1),
  checkedAt: z.iso.datetime(),
  durationMs: z.int().nonnegative(),
  /** The worst status of a line. */
  status: z.enum(['ok', 'warning', 'failure']),
  exitCode: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  counts: z.strictObject({
    ok: z.int(),
    warning: z.int(),
    failure: z.int(),
    not_applicable: z.int(),
  }),
  lines: z.array(
    z.strictObject({
      area: z.enum(AREAS),
      subject: z.string(),
      check: z.string(),
      status: z.enum(STATUSES),
      found: z.string(),
      todo: z.string().nullable(),
    }),
  ),
});
export type Report = z.infer<typeof reportSchema>;

/** Make the report from lines. Every text in it is safe to print and contains no secret. */
export function createReport(
  lines: readonly Line[],
  { startedMs, tookMs, redact }: { readonly startedMs: number; readonly tookMs: number; readonly redact: Redact },
): Report {
  const clean = (text: string) => safeText(redact(text));
  const count = (status: Line['status']) => lines.filter((line) => line.status === status).length;
  const counts = {
    ok: count('ok'),
    warning: count('warning'),
    failure: count('failure'),
    not_applicable: count('not_applicable'),
  };
  const status = counts.failure > 0 ? 'failure' : counts.warning > 0 ? 'warning' : 'ok';
  return {
    version: 1,
    checkedAt: new Date(startedMs).toISOString(),
    durationMs: Math.max(0, Math.round(tookMs)),
    status,
    exitCode: status === 'failure' ? 1 : status === 'warning' ? 2 : 0,
    counts,
    lines: [...lines]
      .sort((a, b) => AREAS.indexOf(a.area) - AREAS.indexOf(b.area))
      .map(({ area, subject, check, status: state, found, todo }) => ({
        area,
        subject: clean(subject),
        check,
        status: state,
        found: clean(found),
        todo: todo === undefined ? null : clean(todo),
      })),
  };
}
