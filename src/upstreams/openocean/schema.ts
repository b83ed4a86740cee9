import { z } from 'zod';
import { raw } from '../raw.ts';

/** A refusal; it may come with HTTP status 200. */
export const swapRefusalSchema = z.object({ code: z.int().optional(), error: raw });

/** `GET /v4/{chain}/swap`. */
export const swapSchema = z.object({
  data: z.object({
    to: raw,
    data: raw,
    inAmount: raw,
    outAmount: raw,
    value: raw,
  }),
});
export type Swap = z.infer<typeof swapSchema>;
