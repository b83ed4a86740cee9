import { z } from 'zod';

/** `GET /v4/{chain}/swap`. Errors come with HTTP status 200 and their own `code`, then without `data`. */
export const swapSchema = z.object({
  code: z.number().optional(),
  data: z
    .object({
      to: z.unknown(),
      data: z.unknown(),
      inAmount: z.unknown(),
      outAmount: z.unknown(),
      value: z.unknown(),
    })
    .nullish(),
});
export type Swap = z.infer<typeof swapSchema>;
