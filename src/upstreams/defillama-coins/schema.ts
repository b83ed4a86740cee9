import { z } from 'zod';
import { raw } from '../raw.ts';

/** `GET /prices/current/{coingecko:id,…}`: prices in USD, their times in seconds. */
export const pricesSchema = z.object({
  coins: z.record(z.string(), z.object({ price: raw, confidence: raw, timestamp: raw }).catch({ price: Number.NaN })),
});
export type Prices = z.infer<typeof pricesSchema>;
