import { z } from 'zod';

/** `GET /prices/current/{coingecko:id,…}`. */
export const pricesSchema = z.object({
  coins: z.record(
    z.string(),
    z.object({ price: z.unknown(), confidence: z.unknown() }).partial().catch({ price: Number.NaN }),
  ),
});
export type Prices = z.infer<typeof pricesSchema>;
