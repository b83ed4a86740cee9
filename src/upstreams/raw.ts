import { z } from 'zod';

/**
 * A value of any type, or absent. `readings.ts` validates it separately, so that a malformed value does not affect its row.
 */
export const raw = z.unknown().optional();
