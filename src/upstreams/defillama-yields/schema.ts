import { z } from 'zod';
import { raw } from '../raw.ts';

/** `GET /chart/{poolId}`: daily rows, percent, ISO times, oldest first. */
export const chartSchema = z.object({
  data: z.array(z.object({ timestamp: raw, apy: raw }).catch({})),
});
export type Chart = z.infer<typeof chartSchema>;
