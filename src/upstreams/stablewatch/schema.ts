import { z } from 'zod';
import { raw } from '../raw.ts';

/** `GET /pools`. */
export const indexPoolsSchema = z.object({ data: z.array(z.unknown()) });

export const indexPoolSchema = z.object({
  id: z.union([z.string().min(1), z.number()]).transform(String),
  asset: z.string().min(1),
  metrics: z
    .object({ apy: z.object({ avg7d: raw }).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
export type PoolRow = z.infer<typeof indexPoolSchema>;

/** `GET /history/{id}`: percent. */
export const historySchema = z.object({
  data: z.object({
    data: z.array(z.object({ timestamp: raw, apy: raw }).catch({})),
  }),
});
export type History = z.infer<typeof historySchema>;
