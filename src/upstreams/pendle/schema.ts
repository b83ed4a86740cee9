import { z } from 'zod';
import { raw } from '../raw.ts';

const rows = z.array(z.unknown());

/**
 * `GET /v2/markets/all`: one page. The provider's own documents name its list in two ways. Rows are parsed one by one, so that a
 * malformed row does not affect the others.
 */
export const marketsSchema = z
  .object({ total: z.int().min(0).optional().catch(undefined) })
  .and(
    z.union([
      z.object({ results: rows }).transform(({ results }) => ({ markets: results })),
      z.object({ markets: rows }),
    ]),
  );

export const marketRowSchema = z.object({
  /** `"1-0xaddress"`, lower case. */
  pt: z.string(),
  address: z.string().optional().catch(undefined),
  details: z.object({ impliedApy: raw, liquidity: raw }).optional().catch(undefined),
});
export type MarketRow = z.infer<typeof marketRowSchema>;

/** A refusal: one message, or one for each parameter. */
export const convertRefusalSchema = z.object({ message: raw });

/** `POST /v3/sdk/{chainId}/convert`. */
export const convertSchema = z.object({
  routes: z.array(
    z.object({
      tx: z.object({ to: raw, data: raw, value: raw }),
      outputs: z.array(z.object({ token: raw, amount: raw })).min(1),
      data: z.object({ aggregatorType: raw }).optional().catch(undefined),
    }),
  ),
});
export type Convert = z.infer<typeof convertSchema>;
