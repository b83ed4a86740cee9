import { z } from 'zod';
import type { ReportedLiquidations } from '../../domain/alerts/types.ts';

const block = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);
const stored: z.ZodType<ReportedLiquidations> = z.object({
  sinceBlock: block,
  events: z.array(z.object({ id: z.string(), blockNumber: block })),
  emptied: z.array(z.object({ positionIndex: z.int(), blockNumber: block, isExplained: z.boolean() })),
});

const loops = z.array(z.int().min(0));

/** Read the remembered loops of a vault. */
export function decodeLoops(value: unknown): readonly number[] | undefined {
  return loops.safeParse(value).data;
}

/** Write reported liquidations for their column. */
export function encodeReported(reported: ReportedLiquidations): string {
  return JSON.stringify(reported, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** Read reported liquidations; `null` = they have the form of another version, and the alert begins anew. */
export function decodeReported(value: unknown): ReportedLiquidations | null {
  return stored.safeParse(value).data ?? null;
}
