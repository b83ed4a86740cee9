import { z } from 'zod';

/** `GET /chart/{poolId}`: daily rows, percent, ISO times, oldest first. */
export const chartSchema = z.object({
  data: z.array(z.object({ timestamp: z.unknown(), apy: z.unknown() }).catch({ timestamp: undefined, apy: undefined })),
});
export type Chart = z.infer<typeof chartSchema>;
