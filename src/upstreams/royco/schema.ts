import { z } from 'zod';

/** `GET /vault/info/{chainId}/{address}`: a fraction. */
export const infoSchema = z.object({ apy7d: z.unknown() });
export type Info = z.infer<typeof infoSchema>;

/** `GET /chart/vault/apy/{chainId}/{address}/3m`: unix seconds, fractions. */
export const chartSchema = z.object({
  data: z.array(
    z
      .object({ blockTimestamp: z.unknown(), value: z.unknown() })
      .catch({ blockTimestamp: undefined, value: undefined }),
  ),
});
export type Chart = z.infer<typeof chartSchema>;
