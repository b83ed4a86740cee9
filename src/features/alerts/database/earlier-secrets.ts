import { z } from 'zod';
import type { EarlierSecret } from '../domain/records.ts';

const stored: z.ZodType<readonly EarlierSecret[]> = z.array(
  z.object({ version: z.int().positive(), untilMs: z.int() }),
);

/** Write earlier secrets for their column. */
export function encodeEarlierSecrets(secrets: readonly EarlierSecret[]): string {
  return JSON.stringify(secrets);
}

/** Read earlier secrets; those in the form of another version sign no more. */
export function decodeEarlierSecrets(value: unknown): readonly EarlierSecret[] {
  return stored.safeParse(value).data ?? [];
}
