import { z } from 'zod';
import { raw } from '../raw.ts';

/** `GET /vault/info/{chainId}/{address}`: a fraction. */
export const infoSchema = z.object({ apy7d: raw });
export type Info = z.infer<typeof infoSchema>;

/** `GET /chart/vault/apy/{chainId}/{address}/3m`: unix seconds, fractions. */
export const chartSchema = z.object({
  data: z.array(z.object({ blockTimestamp: raw, value: raw }).catch({})),
});
export type Chart = z.infer<typeof chartSchema>;
