import { z } from 'zod';
import { raw } from '../raw.ts';

/** `GET /v4/{chain}/swap`. Errors come with HTTP status 200 and their own `code`, then without `data`. */
export const swapSchema = z.object({
  code: z.number().optional(),
  data: z
    .object({
      to: raw,
      data: raw,
      inAmount: raw,
      outAmount: raw,
      value: raw,
    })
    .nullish(),
});
export type Swap = z.infer<typeof swapSchema>;
