import { z } from 'zod';
import type { StaleGroup } from '../domain/stale.ts';
import { ALERT_STALE_GROUPS } from '../domain/stale.ts';
import type { ReportedLiquidations } from '../domain/types.ts';

const block = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);
const stored: z.ZodType<ReportedLiquidations> = z.object({
  sinceBlock: block,
  events: z.array(z.object({ id: z.string(), blockNumber: block })),
  emptied: z.array(z.object({ positionIndex: z.int(), blockNumber: block, isExplained: z.boolean() })),
});

const staleGroups = z.array(z.enum(ALERT_STALE_GROUPS));
const loops = z.array(z.int().min(0));

/** Read the remembered loops of a vault. */
export function decodeLoops(value: unknown): readonly number[] | undefined {
  return loops.safeParse(value).data;
}

/** Read the remembered stale groups; one that another version writes counts for none. */
export function decodeStaleGroups(value: unknown): readonly StaleGroup[] | undefined {
  return staleGroups.safeParse(value).data;
}

/** Write reported liquidations for their column. */
export function encodeReported(reported: ReportedLiquidations): string {
  return JSON.stringify(reported, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** Read reported liquidations; `null` = they have the form of another version, and the alert begins anew. */
export function decodeReported(value: unknown): ReportedLiquidations | null {
  return stored.safeParse(value).data ?? null;
}
