import { z } from 'zod';

/** `GET /v1/markets/all`. Rows are read one by one: a strange row must not take its neighbours down. */
export const marketsSchema = z.object({ markets: z.array(z.unknown()) });

export const marketRowSchema = z.object({
  /** `"1-0xaddress"`, lower case. */
  pt: z.string(),
  address: z.string().optional().catch(undefined),
  details: z.object({ impliedApy: z.unknown(), liquidity: z.unknown() }).optional().catch(undefined),
});
export type MarketRow = z.infer<typeof marketRowSchema>;

/** `POST /v3/sdk/{chainId}/convert`. */
export const convertSchema = z.object({
  routes: z.array(
    z.object({
      tx: z.object({ to: z.unknown(), data: z.unknown(), value: z.unknown() }),
      outputs: z.array(z.object({ token: z.unknown(), amount: z.unknown() })).min(1),
    }),
  ),
});
export type Convert = z.infer<typeof convertSchema>;
